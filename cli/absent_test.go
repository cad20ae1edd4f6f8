package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// A folder of notes that is not there now, as after an unmount, keeps its index and is not written to.
// If the user says so, it is taken as it is.
func TestAMissingFolderIsNotAnEmptyOne(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, leave := range map[string]func(vault string) error{
		"another, empty folder is in its place": func(vault string) error {
			return os.Mkdir(vault, 0o700)
		},
		"only Obsidian's settings and a folder are left": func(vault string) error {
			return errors.Join(os.MkdirAll(filepath.Join(vault, ".obsidian"), 0o700),
				os.Mkdir(filepath.Join(vault, "attachments"), 0o700))
		},
		"Obsidian's settings are gone, other notes are there": func(vault string) error {
			return os.MkdirAll(filepath.Join(vault, "lost+found"), 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			vault, other := filepath.Join(home, "vault"), filepath.Join(home, "other")
			apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
			apptest.Write(t, filepath.Join(vault, "tasks.md"), "- [ ] a\n")
			apptest.Write(t, filepath.Join(vault, ".obsidian", "app.json"), "{}\n")
			apptest.Write(t, filepath.Join(other, "hens.md"), "# Hens\n\nThe hens have a new fence.\n")
			run := func(want int, args ...string) string {
				t.Helper()
				out, stderr, code := capturing(t, home, "", args...)
				if code != want {
					t.Errorf("%q: exit %d, want %d\n%s\n%s", args, code, want, out, stderr)
				}
				return out + stderr
			}
			run(0, "index", vault, other)
			if err := os.Rename(vault, vault+" away"); err != nil {
				t.Fatal(err)
			}
			if err := leave(vault); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "other notes") {
				apptest.Write(t, filepath.Join(vault, "lost+found", "x.md"), "x\n")
			}
			run(1, "add", "b", "--yes", "--notes", vault)
			run(1, "log", "b", "--yes", "--notes", vault)
			run(1, "index")
			if got := run(0, "search", "running three times"); !strings.Contains(got, "three times a week") {
				t.Errorf("the index lost its notes: %s", got)
			}
			for _, of := range []struct {
				args []string
				exit int
			}{{[]string{"note", "hens"}, 0}, {[]string{"tasks"}, 5}, {[]string{"related", "hens"}, 5}} {
				if got := run(of.exit, of.args...); !strings.Contains(got, "not there now") {
					t.Errorf("%q does not say what is missing: %s", of.args, got)
				}
			}
			if got := run(0, "search", "hens fence"); !strings.Contains(got, "new fence") {
				t.Errorf("the other folder is not searched: %s", got)
			}
			if got := run(1, "index", "--status"); !strings.Contains(got, "hens.md") &&
				!strings.Contains(got, "1 of 1 indexed") {
				t.Errorf("the status of the other folder: %s", got)
			}
			if left, _ := filepath.Glob(filepath.Join(vault, "*.md")); len(left) > 0 {
				t.Errorf("written where the folder should be: %q", left)
			}
			// It is back.
			for _, err := range []error{os.RemoveAll(vault), os.Rename(vault+" away", vault)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			run(0, "add", "b", "--yes", "--notes", vault)
			run(0, "index")
			if got := apptest.Read(t, filepath.Join(vault, "tasks.md")); got != "- [ ] a\n- [ ] b\n" {
				t.Errorf("the note holds %q", got)
			}
			// The user deleted everything.
			for _, err := range []error{os.RemoveAll(vault), leave(vault)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			run(2, "index", vault)
			run(0, "index", vault, "--yes")
			if got := run(0, "search", "running three times"); strings.Contains(got, "three times a week") {
				t.Errorf("it is still indexed: %s", got)
			}
			run(0, "add", "b", "--yes", "--notes", vault)
		})
	}
}

// A folder that is a link to another one now is not that one.
func TestAFolderReplacedByALinkIsMissing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault, other := filepath.Join(home, "vault"), filepath.Join(home, "other")
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n")
	if _, stderr, code := capturing(t, home, "", "index", vault); code != 0 {
		t.Fatal(stderr)
	}
	for _, err := range []error{os.Rename(vault, vault+" away"), os.Mkdir(other, 0o700), os.Symlink(other, vault)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"index"}, {"add", "b", "--yes"}, {"tasks"}} {
		if _, stderr, code := capturing(t, home, "", args...); code == 0 || !strings.Contains(stderr, "link") {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(other, "*")); len(left) > 0 {
		t.Errorf("written into the other folder: %q", left)
	}
}

// A missing folder does not keep the others from being indexed.
func TestAMissingFolderKeepsNoOtherFromBeingIndexed(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault, other := filepath.Join(home, "vault"), filepath.Join(home, "other")
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n")
	apptest.Write(t, filepath.Join(other, "hens.md"), "# Hens\n")
	if _, stderr, code := capturing(t, home, "", "index", vault, other); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.RemoveAll(vault); err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(other, "geese.md"), "# Geese\n")
	for _, args := range [][]string{{"index", "--dry-run"}, {"index"}, {"index", "--status"}} {
		out, stderr, code := capturing(t, home, "", args...)
		if code != 1 || !strings.Contains(out, "other") || !strings.Contains(stderr, "vault") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out, stderr)
		}
	}
}
