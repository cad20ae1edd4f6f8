package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"lifehub/agent"
)

func TestAllArtifactVersionsAreSaved(t *testing.T) {
	t.Parallel()
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
		a := agent.Artifact{
			Conversation: chat, Name: "plan", Version: n + 1, Text: text, By: "general",
			Why: "why " + text, Turn: "t", Call: "t/" + text,
		}
		if err := s.SaveArtifact(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	late := agent.Artifact{Conversation: chat, Name: "plan", Version: 2, Text: "late", Call: "t/late"}
	if err := s.SaveArtifact(ctx, late); !errors.Is(err, agent.ErrArtifactExists) {
		t.Errorf("a second version 2: %v", err)
	}
	for version, want := range map[int]string{0: "two", 1: "one", 2: "two"} {
		if a, err := s.Artifact(ctx, chat, "plan", version); err != nil || a.Text != want ||
			a.By != "general" || a.Why != "why "+want {
			t.Errorf("version %d: %+v, %v", version, a, err)
		}
	}
	if _, err := s.Artifact(ctx, chat, "plan", 3); !errors.Is(err, agent.ErrNoArtifact) {
		t.Errorf("version 3: %v", err)
	}
	if versions, err := s.ArtifactVersions(ctx, chat, "plan"); err != nil || len(versions) != 2 ||
		versions[0].Text != "one" {
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

// A fork has the documents as of its path, each with its whole history, and later
// changes do not affect the original.
func TestForkCopiesTheDocumentsOfItsPath(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	ctx := t.Context()
	version := func(conversation, turn, name, text string, n int) {
		t.Helper()
		must(t, s.SaveArtifact(ctx, agent.Artifact{
			Conversation: conversation, Name: name, Version: n, Text: text,
			By: "general", Turn: turn, Call: turn + "/1",
		}))
	}
	texts := func(conversation, name string) (all string) {
		t.Helper()
		list, err := s.ArtifactVersions(ctx, conversation, name)
		must(t, err)
		for _, a := range list {
			all += fmt.Sprintf("%d %s; ", a.Version, a.Text)
		}
		return all
	}
	first := say(t, s, "c", "a", "A")
	version("c", first, "plan", "one", 1)
	sibling := say(t, s, "c", "b", "B")
	version("c", sibling, "plan", "two", 2)
	version("c", sibling, "list", "beside", 1)
	must(t, s.GoOn(ctx, "c", first))
	second := say(t, s, "c", "b again", "B2")
	version("c", second, "plan", "three", 3)
	must(t, s.SaveSummary(ctx, agent.Summary{Turn: second, Text: "they made a plan"}))
	version("c", say(t, s, "c", "c", "C"), "plan", "later", 4)

	fork, err := s.Fork(ctx, "c", second)
	must(t, err)
	if got, want := texts(fork.ID, "plan"), "1 one; 2 two; 3 three; "; got != want {
		t.Errorf("plan has %q, want %q", got, want)
	}
	if got := texts(fork.ID, "list"); got != "" {
		t.Errorf("a document of another branch came along: %q", got)
	}
	if made, ok, err := s.MadeBy(ctx, fork.ID+".2/1"); !ok || err != nil || made.Conversation != fork.ID ||
		made.Version != 3 || made.Turn != fork.ID+".2" {
		t.Errorf("made by the copied call: %+v, %t, %v", made, ok, err)
	}
	if made, _, _ := s.MadeBy(ctx, sibling+"/1"); made.Conversation != "c" {
		t.Errorf("the call of the other branch made %+v", made)
	}
	if w, err := s.Window(ctx, fork.ID, 99); err != nil || w.Summary.Text != "they made a plan" ||
		w.Summary.Turn != fork.ID+".2" {
		t.Errorf("the summary is %+v, %v", w.Summary, err)
	}
	version(fork.ID, fork.ID+".2", "plan", "of the fork", 4)
	if got, want := texts("c", "plan"), "1 one; 2 two; 3 three; 4 later; "; got != want {
		t.Errorf("the original has %q, want %q", got, want)
	}
	must(t, s.Remove(ctx, "c"))
	if got, want := texts(fork.ID, "plan"), "1 one; 2 two; 3 three; 4 of the fork; "; got != want {
		t.Errorf("after the original was deleted: %q, want %q", got, want)
	}
}
