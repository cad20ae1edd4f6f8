//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReplayRunsInARealTerminal(t *testing.T) {
	vault, home := aVault(t), filepath.Join(t.TempDir(), "home")
	env := []string{"LIFEHUB_PROVIDER=offline", "LIFEHUB_HOME=" + home}
	ask := exec.Command(os.Args[0], "ask", "-q", "--notes", vault, "how often do I run?")
	ask.Env = append([]string{runAsProgram, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	if out, err := ask.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	list := exec.Command(os.Args[0], "trace", "list")
	list.Env = ask.Env
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(string(out), " ")
	term := startTerminal(t, 100, 30, env, "trace", "replay", "--speed", "0", id)
	term.sees("how often do I run?", "search_notes", "at once", "q quit")
	term.types("q")
	if code := term.exits(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
