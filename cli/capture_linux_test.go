package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/tui/dialog"
)

func TestCaptureOnAFullDiskChangesNothing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, full := range []string{"the notes", "the conversations"} {
		t.Run(full, func(t *testing.T) {
			home := t.TempDir()
			vault, disk := filepath.Join(home, "vault"), filepath.Join(home, "vault")
			if full == "the conversations" {
				disk = filepath.Join(home, "lh")
			}
			if err := os.MkdirAll(disk, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
				t.Skipf("needs the right to mount a small tmpfs: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			tasks := filepath.Join(vault, "tasks.md")
			apptest.Write(t, tasks, "- [ ] a\n")
			if _, stderr, code := capturing(t, home, "", "add", "--yes", "--notes", vault, "b"); code != 0 {
				t.Fatalf("while there is space: exit %d, %s", code, stderr)
			}
			ballast := filepath.Join(disk, "ballast")
			_ = os.WriteFile(ballast, make([]byte, 8<<20), 0o600) // until the disk is full
			out, stderr, code := capturing(t, home, "", "add", "--yes", "--json", "--notes", vault, "c")
			if code != 1 || out != "" || !strings.Contains(stderr, "the disk is full") && !strings.Contains(stderr, "no space left on device") {
				t.Errorf("exit %d, stdout %q, stderr %q", code, out, stderr)
			}
			if got := apptest.Read(t, tasks); got != "- [ ] a\n- [ ] b\n" {
				t.Errorf("the note holds %q", got)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			if _, stderr, code := capturing(t, home, "", "add", "--yes", "--notes", vault, "c"); code != 0 {
				t.Errorf("once there is space again: exit %d, %s", code, stderr)
			}
			if got := apptest.Read(t, tasks); got != "- [ ] a\n- [ ] b\n- [ ] c\n" {
				t.Errorf("the note holds %q", got)
			}
		})
	}
}

func TestCaptureAsksOnATerminal(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	tasks := filepath.Join(vault, "tasks.md")
	before := apptest.Read(t, tasks)
	for _, want := range []struct {
		answer string
		code   int
		task   string
	}{{"n", 1, ""}, {"y", 0, "- [ ] water the hens\n"}} {
		term := startTerminal(t, 90, 24, nil, "add", "water the hens", "--notes", vault)
		term.sees("Add 1 line to tasks.md", "+ - [ ] water the hens", "y allow once · a always allow", "n deny")
		term.types("so be it\r") // no answer
		term.waits(func(screen string) bool {
			return strings.Contains(screen, "press y or n, then Enter") && strings.Count(screen, "y allow once") == 2
		}, "asks again")
		if strings.Contains(term.text(), "in this chat") {
			t.Errorf("it offers what only a chat has:\n%s", term.text())
		}
		<-time.After(dialog.QuietPeriod) // a line that came earlier is no answer
		term.types(want.answer + "\r")
		if code := term.exits(); code != want.code {
			t.Errorf("%s: exit %d, want %d\n%s", want.answer, code, want.code, term.text())
		}
		if got := apptest.Read(t, tasks); want.task == "" && got != before || !strings.HasSuffix(got, want.task) {
			t.Errorf("%s: the note holds %q", want.answer, got)
		}
	}
}
