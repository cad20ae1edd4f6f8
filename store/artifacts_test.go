package store

import (
	"errors"
	"path/filepath"
	"testing"

	"lifehub/agent"
)

func TestEveryVersionOfAnArtifactIsKept(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	const chat = "c1"
	if _, err := s.Begin(ctx, chat, "write a plan"); err != nil {
		t.Fatal(err)
	}
	for n, text := range []string{"one", "two"} {
		a := agent.Artifact{Conversation: chat, Name: "plan", Version: n + 1, Text: text, By: "general", Why: "why " + text, Turn: "t", Call: "t/" + text}
		if err := s.KeepArtifact(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	late := agent.Artifact{Conversation: chat, Name: "plan", Version: 2, Text: "late", Call: "t/late"}
	if err := s.KeepArtifact(ctx, late); !errors.Is(err, agent.ErrArtifactExists) {
		t.Errorf("a second version 2: %v", err)
	}
	for version, want := range map[int]string{0: "two", 1: "one", 2: "two"} {
		if a, err := s.Artifact(ctx, chat, "plan", version); err != nil || a.Text != want || a.By != "general" || a.Why != "why "+want {
			t.Errorf("version %d: %+v, %v", version, a, err)
		}
	}
	if _, err := s.Artifact(ctx, chat, "plan", 3); !errors.Is(err, agent.ErrNoArtifact) {
		t.Errorf("version 3: %v", err)
	}
	if versions, err := s.ArtifactVersions(ctx, chat, "plan"); err != nil || len(versions) != 2 || versions[0].Text != "one" {
		t.Errorf("versions %+v, %v", versions, err)
	}
	if _, made, err := s.MadeBy(ctx, "t/one"); !made || err != nil {
		t.Errorf("made by its call: %t, %v", made, err)
	}
	if _, made, _ := s.MadeBy(ctx, "t/late"); made {
		t.Error("what was refused counts as made")
	}
	if err := s.Remove(ctx, chat); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Artifacts(ctx, ""); err != nil || len(all) != 0 {
		t.Errorf("after the conversation was deleted: %+v, %v", all, err)
	}
}
