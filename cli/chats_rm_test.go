package cli

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/testenv"
	"lifehub/store"
)

func TestServerFilesAreDeletedWithTheConversation(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	p := settings.Paths{Data: t.TempDir()}
	s, err := store.Open(p.Database())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.MkdirAll(p.ServerFiles(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"gone", "kept"} {
		turn, err := s.Begin(t.Context(), id, "a picture, please")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(p.ServerFiles(), "draw-"+id+"7.png")
		if err := os.WriteFile(file, []byte("picture"), 0o600); err != nil {
			t.Fatal(err)
		}
		trace := s.Traces.Begin(turn, store.Limits{Turn: 1 << 20, Total: 1 << 20})
		if _, err := trace.Write([]byte(`{"type":"tool_end","output":"the picture is kept in ` + file +
			`"}` + "\n")); err != nil {
			t.Fatal(err)
		}
		if err := trace.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), turn, agent.Answer{Text: "Here it is."}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil { // writes the traces
		t.Fatal(err)
	}
	if s, err = store.Open(p.Database()); err != nil {
		t.Fatal(err)
	}
	if err := app.RemoveConversations(t.Context(), p, s, []string{"gone"}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(p.ServerFiles())
	if err != nil || len(left) != 1 || left[0].Name() != "draw-kept7.png" {
		t.Errorf("left are %v, %v", left, err)
	}
}
