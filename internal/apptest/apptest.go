// Package apptest assembles LifeHub in a temporary folder, for tests.
package apptest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/testenv"
)

// Open returns LifeHub on folders of notes, without a model; it saves nothing.
func Open(t *testing.T, vaults ...string) *app.App {
	t.Helper()
	a, err := app.Open(t.Context(), Process(t.TempDir()), app.RunFlags{Notes: vaults, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// Process returns a LifeHub process with the given home folder and additional
// environment variables; without a model server and in plan mode, unless they
// name others.
func Process(home string, more ...string) *app.Process {
	env := slices.Concat(more, []string{"LIFEHUB_HOME=" + home, "LIFEHUB_PROVIDER=offline", "LIFEHUB_MODE=plan"})
	return &app.Process{Environment: Environment(env)}
}

// Environment has variables as NAME=value. Programs that are started do not get them.
type Environment []string

func (e Environment) Getenv(name string) (string, bool) {
	for _, pair := range e {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func (Environment) Environ() []string { return nil }

// SharePDFium gives the LifeHub of a home folder the compiled code of PDFium that tests share.
func SharePDFium(t *testing.T, home string) {
	t.Helper()
	paths, err := settings.FindPaths(Process(home).Getenv)
	if err == nil {
		err = os.MkdirAll(paths.State, 0o700)
	}
	if err == nil {
		err = os.Symlink(testenv.CompiledPDFium(t), paths.Compiled())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Vault creates a folder of notes for tests that write.
func Vault(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	Write(t, filepath.Join(dir, "running.md"), "# Running\n\nI run three times a week: Tuesday, Thursday and Sunday.\n")
	Write(t, filepath.Join(dir, "tasks.md"), "# Tasks\n\n- [ ] call the plumber\n")
	return dir
}

// Write writes a file, creating the folders above it.
func Write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file.
func Read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
