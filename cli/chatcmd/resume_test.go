package chatcmd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResumeLineNamesTheNotes(t *testing.T) {
	for want, notes := range map[string][]string{
		"lifehub -r 0123456789": nil,
		"lifehub -r 0123456789 --notes examples/notes --notes /srv/w.a": {"examples/notes", "/srv/w.a"},
		`lifehub -r 0123456789 --notes 'my notes' --notes 'Ada'\''s'`:   {"my notes", "Ada's"},
		`lifehub -r 0123456789 --notes '$(rm)' --notes 'a;b'`:           {"$(rm)", "a;b"},
		`lifehub -r 0123456789 --notes Öl/学中文 --notes ''`:               {"Öl/学中文", ""},
	} {
		if got := resumeCommand("lifehub", "0123456789abcdef", notes); got != want {
			t.Errorf("%q\n got %s\nwant %s", notes, got, want)
		}
	}
}

func TestTheResumeLineNamesTheProgramAsItWasStarted(t *testing.T) {
	dir := t.TempDir()
	own, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	own = filepath.Join(own, "lifehub")
	if err := os.WriteFile(own, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	found := func(string) (string, error) { return own, nil }
	missing := func(string) (string, error) { return "", os.ErrNotExist }
	for _, c := range []struct {
		name, own string
		lookPath  func(string) (string, error)
		want      string
	}{
		{"lifehub", own, found, "lifehub"},
		{"./bin/lifehub", "/src/bin/lifehub", found, "./bin/lifehub"}, // another one is on the PATH
		{"./bin/lifehub", "/src/bin/lifehub", missing, "./bin/lifehub"},
		{"/tmp/go-build12/b001/exe/lifehub", "/tmp/go-build12/b001/exe/lifehub", missing, "go run ."},
	} {
		if got := programFor(c.name, c.own, c.lookPath); got != c.want {
			t.Errorf("started as %s: %q, want %q", c.name, got, c.want)
		}
	}
}
