package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A link is preserved; its target is replaced, or created if it is missing.
func TestWriteFollowsLinks(t *testing.T) {
	t.Parallel()
	home, dots := t.TempDir(), t.TempDir()
	link := func(name, to string) string {
		file := filepath.Join(home, name)
		if err := os.Symlink(to, file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if err := os.Mkdir(filepath.Join(home, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	link("folder", dots)
	for _, file := range []string{
		filepath.Join(home, "plain"),
		filepath.Join(home, "new", "plain"),
		link("absolute", filepath.Join(dots, "a")),
		link("relative", "sub/b"),
		link("chain", "absolute"),
		link("sub/up", "../folder/c"),
		link("missing", filepath.Join(dots, "later", "d")),
	} {
		before, _ := os.Readlink(file)
		for _, text := range []string{"first", "second"} {
			if err := Write(file, []byte(text)); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if after, _ := os.Readlink(file); err != nil || string(got) != text || after != before {
				t.Errorf("%s: %q, %v, a link to %q, was to %q", file, got, err, after, before)
			}
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	for _, file := range []string{link("loop", "loop"), link("device", os.DevNull), dots} {
		if err := Write(file, []byte("x")); err == nil {
			t.Errorf("%s was written", file)
		}
		if _, err := os.Lstat(file); err != nil {
			t.Errorf("%s is gone: %v", file, err)
		}
	}
	for _, dir := range []string{home, dots} {
		if left, _ := filepath.Glob(filepath.Join(dir, "*.new-*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	}
}

func TestProtectedFileIsNotReplaced(t *testing.T) {
	for mode, protected := range map[os.FileMode]bool{0o444: true, 0o400: true, 0o600: false, 0o644: false} {
		file := filepath.Join(t.TempDir(), "a")
		if err := errors.Join(os.WriteFile(file, []byte("was"), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		err := Write(file, []byte("now"))
		text, _ := os.ReadFile(file)
		if errors.Is(err, fs.ErrPermission) != protected || (string(text) == "was") != protected {
			t.Errorf("%v: %q, %v", mode, text, err)
		}
	}
}
