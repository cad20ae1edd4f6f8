package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// aVault is a folder of notes to write into.
func aVault(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "running.md"), "# Running\n\nI run three times a week: Tuesday, Thursday and Sunday.\n")
	write(t, filepath.Join(dir, "tasks.md"), "# Tasks\n\n- [ ] call the plumber\n")
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
