//go:build unix

package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/testenv"
)

// TestNewUserGetsAnAnswerWithTwoKeys begins in an empty home without a model server: Enter takes
// the starter notes, Enter asks the suggested question.
func TestNewUserGetsAnAnswerWithTwoKeys(t *testing.T) {
	t.Parallel()
	term := startTerminal(t, 100, 30, []string{"PATH=/nonexistent"})
	term.sees("Welcome to LifeHub", "No model", "ollama pull", "▌ Starter notes")
	term.types("\r")
	term.sees("▌ What do my", "25 notes")
	term.types("\r")
	term.sees("three times a week", "running/plan.md:8", "✓")
	term.types("\x04")
	if code := term.exits(); code != app.ExitDone {
		t.Errorf("exit code %d, want %d", code, app.ExitDone)
	}
	again := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + filepath.Join(term.home, ".lifehub")})
	again.sees("▌ Ask", "25 notes") // they were remembered
}

func TestFirstRunExplainsHowToGetAModel(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/version":
			fmt.Fprint(w, `{"version":"0.12.0"}`)
		case "/api/tags":
			fmt.Fprint(w, `{"models":[]}`)
		}
	}))
	t.Cleanup(empty.Close)
	installed := t.TempDir()
	if err := os.WriteFile(filepath.Join(installed, "ollama"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		env  []string
		want []string
	}{
		"nothing is installed":  {[]string{"PATH=/nonexistent"}, []string{"No model", "ollama.com"}},
		"Ollama is not running": {[]string{"PATH=" + installed}, []string{"does not run", "`ollama serve`"}},
		"Ollama has no model": {
			[]string{"OLLAMA_HOST=" + empty.URL},
			[]string{"Ollama runs here", "Fetch qwen3:", "▌ Starter notes"},
		},
		"offline by the settings": {[]string{"LIFEHUB_PROVIDER=offline"}, []string{"Your settings"}},
		"a server that is not there": {
			[]string{"LIFEHUB_PROVIDER=openai", "OPENAI_BASE_URL=http://127.0.0.1:1/v1"},
			[]string{"does not answer", "lifehub doctor"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := startTerminal(t, 100, 30, test.env)
			term.sees(append(test.want, "Starter notes", "Skip for now")...)
		})
	}
}

func TestFirstRunCompletesTheTypedFolder(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	term := startTerminal(t, 100, 30, []string{"PATH=/nonexistent"})
	term.sees("▌ Starter notes")
	dir := filepath.Join(term.home, "Texts", "garden")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "roses.md"), []byte("# Roses\n\nThe roses are cut in November, when "+
		"the first frost has been.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term.types("~/none")
	term.sees("✗ no such folder")
	term.types("\x15~/T")
	term.sees("~/Texts/", "1 note")
	term.types("\t")
	term.sees("~/Texts/garden/") // its contents
	term.types("\t")
	term.sees("~/Texts/garden/▏ 1 note")
	term.types("\r")
	term.sees("garden added", "1 note")
}
