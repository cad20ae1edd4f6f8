package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// What is saved can be read where nothing can be written.
func TestReadingNeedsNoWritableDisk(t *testing.T) {
	testenv.WithoutRace(t)
	home, vault := t.TempDir(), apptest.Vault(t)
	data := filepath.Join(home, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
	run := func(command ...string) (string, error) {
		cmd := offScreen(t, command...)
		cmd.Env = append(cmd.Env, "LIFEHUB_HOME="+home, "LIFEHUB_PROVIDER=offline")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	if out, err := run("ask", "--notes", vault, "how often do I run?"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"chats list": "how often", "stats --by turn": "how often", "trace list": "how often", "trace show": "how often",
		"artifacts list": "no documents yet", "note --notes " + vault + " running.md": "run",
	} {
		if out, err := run(strings.Fields(command)...); err != nil || !strings.Contains(out, want) {
			t.Errorf("lifehub %s: %v\n%s", command, err, out)
		}
	}
}
