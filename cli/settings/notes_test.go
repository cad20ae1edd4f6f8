package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Paths that are not UTF-8 survive each rewrite of the file, which stays at the target of a
// symbolic link.
func TestNotesOfAnyNameAreRemembered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, file := filepath.Join(dir, "dotfiles.yaml"), filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(real, []byte("\ufeff# mine: \xe9\nmode: loop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dotfiles.yaml", file); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{
		"/plain", "/latin-\xe9\xff", "/half \xe2\x82", "/grüße \U0010FFFD",
		`/a"b\c: [d]`, "/latin-\xe9\xff",
	} {
		if err := RememberNotes(file, name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(want, name) {
			want = append(want, name)
		}
		if err := (Paths{Config: dir}).Save("mode", "team"); err != nil {
			t.Fatal(err)
		}
		c, err := Load(file, func(string) (string, bool) { return "", false })
		if err != nil || !slices.Equal(c.Notes, want) || c.Mode != "team" {
			t.Fatalf("%q: got %q, %v", name, c.Notes, err)
		}
	}
	text, err := os.ReadFile(real)
	if info, _ := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 ||
		!strings.Contains(string(text), "# mine: \xe9\n") {
		t.Errorf("%v: %q", err, text)
	}
}

// A file that is invalid, or cannot be changed textually, is not written.
func TestDamagedFileIsNotRewritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"notes: [", "\"theme\": dark\n\"notes\": [/a]\n", "{notes: [/a]}\n", "--- {}\n",
		"a\x00b", strings.Repeat("[", 20_000),
	} {
		paths := Paths{Config: t.TempDir()}
		file := paths.ConfigFile()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{RememberNotes(file, "/b"), paths.Save("theme", "dark")} {
			if err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%.20q: got %v", text, err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%.20q became %.40q, %v", text, got, err)
		}
	}
}
