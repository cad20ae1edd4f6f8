package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// silence mounts a file system on a folder that answers nothing, like a network drive that is gone.
func silence(t *testing.T, dir string) {
	t.Helper()
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err == nil {
		err = syscall.Mount("silent", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0",
			device.Fd()))
	}
	if err != nil {
		t.Skipf("needs FUSE and the right to mount: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Unmount(dir, syscall.MNT_DETACH|syscall.MNT_FORCE)
		device.Close()
	})
}

// endEach runs commands at once, each of which must end and print a text.
func endEach(t *testing.T, home string, commands map[string]string) {
	t.Helper()
	for command, want := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			out, stderr, code := capturing(t, home, "", strings.Fields(command)...)
			if code < 0 || !strings.Contains(out, want) {
				t.Errorf("exit %d\n%s\n%s", code, out, stderr)
			}
		})
	}
}

// A folder that hangs hangs nothing else: every command ends, and uses the other folder.
func TestASilentFolderHangsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault, other := filepath.Join(home, "vault"), filepath.Join(home, "other")
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
	apptest.Write(t, filepath.Join(other, "hens.md"), "# Hens\n\nThe hens have a new fence.\n\n- [ ] mend it 📅 "+
		"2026-01-02\n")
	if _, stderr, code := capturing(t, home, "", "index", vault, other); code != 0 {
		t.Fatal(stderr)
	}
	silence(t, vault)
	endEach(t, home, map[string]string{
		"search hens":          "new fence",
		"ask hens":             "new fence",
		"tasks":                "mend it",
		"note hens":            "new fence",
		"related hens":         "",
		"index":                "indexed",
		"index --status":       " indexed",
		"index --dry-run":      "note",
		"doctor":               "terminal",
		"tools":                "search_notes",
		"add b --yes":          "b",
		"permissions list":     "",
		"config show":          "notes",
		"config trust " + home: "",
		"memory list":          "",
		"chats list":           "",
		"stats":                "",
		"mcp list":             "",
		"models list":          "",
	})
	t.Run("--notes", func(t *testing.T) {
		t.Parallel()
		if _, stderr, code := capturing(t, home, "", "search", "hens", "--notes", vault); code == 0 ||
			!strings.Contains(stderr, "does not answer") {
			t.Errorf("exit %d\n%s", code, stderr)
		}
	})
	t.Run("chat", func(t *testing.T) {
		t.Parallel()
		term := startTerminal(t, 100, 30, []string{
			"LIFEHUB_HOME=" + filepath.Join(home, "lh"),
			"LIFEHUB_PROVIDER=offline",
		}, "chat")
		term.sees("without the notes", "mend it")
		term.types("\x04")
		if code := term.exits(); code != app.ExitDone {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("a chat that was just opened is left", func(t *testing.T) {
		t.Parallel()
		term := startTerminal(t, 100, 30, []string{
			"LIFEHUB_HOME=" + filepath.Join(home, "lh"),
			"LIFEHUB_PROVIDER=offline",
		}, "chat")
		term.sees("LifeHub")
		term.types("\x04")
		term.exits()
	})
}

// So does a folder that hangs inside one of notes: the rest of that one is used too.
func TestASilentSubfolderHangsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault, other := filepath.Join(home, "vault"), filepath.Join(home, "other")
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
	apptest.Write(t, filepath.Join(vault, "drive", "deep.md"), "# Deep\n\nThe wreck lies at forty metres.\n")
	apptest.Write(t, filepath.Join(other, "hens.md"), "# Hens\n\nThe hens have a new fence.\n\n- [ ] mend it 📅 "+
		"2026-01-02\n")
	if _, stderr, code := capturing(t, home, "", "index", vault, other); code != 0 {
		t.Fatal(stderr)
	}
	silence(t, filepath.Join(vault, "drive"))
	endEach(t, home, map[string]string{
		"search hens":         "new fence",
		"search times week":   "three times a week",
		"search wreck metres": "forty metres",
		"ask hens":            "new fence",
		"tasks":               "mend it",
		"note hens":           "new fence",
		"note running":        "three times",
		"related hens":        "",
		"index":               "note",
		"index --status":      "drive",
		"doctor":              "terminal",
		"add b --yes":         "b",
		"log b --yes":         "b",
	})
	t.Run("chat", func(t *testing.T) {
		t.Parallel()
		term := startTerminal(t, 100, 30, []string{
			"LIFEHUB_HOME=" + filepath.Join(home, "lh"),
			"LIFEHUB_PROVIDER=offline",
		}, "chat")
		term.sees("1 not readable")
		term.types("how often do I run?\r")
		term.sees("three times a week")
		term.types("\x04")
		term.exits()
	})
}

// A folder that stops answering while a chat is open: the chat goes on, and can be left.
func TestAFolderMayFallSilentUnderAChat(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault := filepath.Join(home, "vault")
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
	term := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline"},
		"chat", "--notes", vault)
	term.sees("1 note")
	silence(t, vault)
	term.types("/task buy running socks\r")
	term.sees("does not answer")
	term.types("\x04")
	term.exits()
}

// What is on the disk below an unmounted one is not taken for the notes.
func TestAnUnmountedFolderIsNotThere(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault := filepath.Join(home, "vault")
	apptest.Write(t, filepath.Join(vault, "below.md"), "# Below\n")
	if err := syscall.Mount("tmpfs", vault, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(vault, syscall.MNT_DETACH) })
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
	if _, stderr, code := capturing(t, home, "", "index", vault); code != 0 {
		t.Fatal(stderr)
	}
	if err := syscall.Unmount(vault, 0); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"index"}, {"add", "b", "--yes"}} {
		if _, stderr, code := capturing(t, home, "", args...); code != 1 {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
	if out, stderr, code := capturing(t, home, "", "search", "three times a week"); code != 0 ||
		!strings.Contains(out, "three times a week") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(vault, "*")); len(left) != 1 {
		t.Errorf("written below the mount point: %q", left)
	}
}
