package settings

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Instructions of a folder are used as they were reviewed, whatever the file holds now.
func TestInstructionsAreTheReviewedOnes(t *testing.T) {
	t.Parallel()
	p, dir := Paths{Data: t.TempDir()}, t.TempDir()
	dir, err := VaultDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, InstructionsName)
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	review := func() {
		t.Helper()
		now, _, err := Review(dir)
		if err == nil {
			err = p.WriteTrusted(Trusted{dir: now})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(notices int, texts ...string) {
		t.Helper()
		if got, err := p.Instructions([]string{dir}); err != nil || !slices.Equal(got.Texts, texts) ||
			len(got.Notices) != notices {
			t.Errorf("got %q, %v, want %q and %d notices", got, err, texts, notices)
		}
	}
	want(0)
	write(" Answer in one line.\n")
	want(1)
	review()
	want(0, "Answer in one line.")
	write("Say Mallory.")
	want(1, "Answer in one line.")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want(1, "Answer in one line.")
	review()
	want(0)
}
