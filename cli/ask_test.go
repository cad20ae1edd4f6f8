package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/store"
)

func TestAskReportsAnInterruptedQuestion(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	q := &askCommand{Process: &app.Process{Err: stderr}}
	whole, err := s.Begin(t.Context(), "whole", "how often do I run?")
	if err == nil {
		err = s.Finish(t.Context(), whole, agent.Answer{Text: "Often."})
	}
	if err == nil {
		_, err = s.Begin(t.Context(), "open", "and in winter?")
	}
	if err != nil {
		t.Fatal(err)
	}
	for conversation, want := range map[string]string{"whole": "", "new": "", "open": "previous question"} {
		q.tellUnfinished(t.Context(), &app.App{Store: s}, conversation)
		got := apptest.Read(t, stderr.Name())
		if err := stderr.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("of %s: told %q, want %q", conversation, got, want)
		}
	}
}
