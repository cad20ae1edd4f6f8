package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
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
			if code != 1 || out != "" || !strings.Contains(stderr, "disk") &&
				!strings.Contains(stderr, "no space left on device") {
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

// However little space the conversations have, what is told of the note is what happened to it.
func TestOutcomeOfACaptureIsToldOnAFullDisk(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault, disk := filepath.Join(home, "vault"), filepath.Join(home, "lh")
	if err := os.MkdirAll(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	note := filepath.Join(vault, "tasks.md")
	apptest.Write(t, note, "- [ ] a\n")
	if _, stderr, code := capturing(t, home, "", "add", "--yes", "--notes", vault, "b"); code != 0 {
		t.Fatalf("while there is space: exit %d, %s", code, stderr)
	}
	ballast := filepath.Join(disk, "ballast")
	text := "" // so long that more space is needed after the note was written
	for range 100 {
		text += rand.Text() + " "
	}
	failed, unsaved := 0, 0
	const runs = 32
	for run := range runs {
		free := 2 * run // blocks of 4 KiB
		var space syscall.Statfs_t
		if err := syscall.Statfs(disk, &space); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ballast, make([]byte, max(0, int64(space.Bfree)-int64(free))*space.Bsize),
			0o600); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(apptest.Read(t, note), "\n")
		args := []string{"add", "--yes", "--notes", vault, fmt.Sprintf("task %d. %s", free, text)}
		if run%2 == 1 {
			args = append(args, "--json")
		}
		out, stderr, code := capturing(t, home, "", args...)
		wrote := strings.Count(apptest.Read(t, note), "\n") > lines
		var object captured
		_ = json.Unmarshal([]byte(out), &object) // empty without --json
		added := fmt.Sprintf("added to tasks.md:%d; ", lines+1)
		switch {
		case code == 0 && wrote:
		case code == 1 && wrote:
			if unsaved++; !strings.Contains(stderr, added) ||
				run%2 == 1 && (object.Line != lines+1 || !strings.HasPrefix(object.Error, added)) {
				t.Errorf("%d blocks free: added, and told is %q and %q", free, out, stderr)
			}
		case code == 1:
			if failed++; out != "" || !strings.Contains(stderr, "nothing was changed") ||
				strings.Contains(stderr, "added") {
				t.Errorf("%d blocks free: nothing was added, and told is %q and %q", free, out, stderr)
			}
		default:
			t.Errorf("%d blocks free: exit %d, written %v: %q and %q", free, code, wrote, out, stderr)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 || unsaved == 0 || failed+unsaved == runs {
		t.Errorf("of %d runs %d failed before and %d after the note was written: the disk was not full at both times",
			runs, failed, unsaved)
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
			return strings.Contains(screen, "y or n") && strings.Count(screen, "y allow once") == 2
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
