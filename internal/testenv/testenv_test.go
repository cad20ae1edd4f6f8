package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSharedIsFoundThroughItsVariable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LIFEHUB_SHARED", dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := Shared(t, "notes.md"), filepath.Join(dir, "notes.md"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMissingComponentSkips(t *testing.T) {
	t.Setenv("LIFEHUB_STRICT", "")
	t.Setenv("LIFEHUB_TEST_CACHE", t.TempDir())
	var skipped bool
	t.Run("the part", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Ollama(t)
	})
	if !skipped {
		t.Error("the test ran without the server")
	}
}
