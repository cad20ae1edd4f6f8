package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/store"
)

func TestUndoNamesWhatItCannotTakeBack(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := &life{app: &app{config: defaults(), store: s, builtin: tools.All(tools.Deps{Mail: tools.Mail{Host: "localhost"}})}, wake: make(chan struct{}, 1)}
	l.paths.data = t.TempDir()
	turn, err := s.Begin(t.Context(), "c", "tell Ana, and book it")
	if err != nil {
		t.Fatal(err)
	}
	called := func(step, tool, input string, moments ...agent.Moment) {
		t.Helper()
		entries := []agent.Entry{{Moment: agent.Intended, Step: step, Tool: tool, Input: json.RawMessage(input)}}
		for _, m := range moments {
			entries = append(entries, agent.Entry{Moment: m, Step: step})
		}
		if err := s.Record(t.Context(), turn, entries...); err != nil {
			t.Fatal(err)
		}
	}
	called("1", "send_email", `{"to":"ana@example.org","subject":"a | b"}`, agent.Decided, agent.Began, agent.Over)
	called("2", "hotel_book", `{"nights":3}`, agent.Decided, agent.Began)
	called("3", "hotel_cancel", `{}`, agent.Inquired, agent.Decided, agent.Over) // refused
	called("4", "search_notes", `{"query":"Ana"}`, agent.Decided, agent.Began, agent.Over)
	called("5", "add_task", `{"text":"pack"}`, agent.Decided, agent.Began, agent.Over)
	if err := s.Finish(t.Context(), turn, agent.Answer{Text: "Done."}); err != nil {
		t.Fatal(err)
	}
	said, err := l.slashUndo(t.Context(), "c", "")
	if err != nil {
		t.Fatal(err)
	}
	want := "Taken back: “tell Ana, and book it”. `/tree` still has it.\n" +
		"- `send_email` was called, and what it did stays done: `{\"to\":\"ana@example.org\",\"subject\":\"a | b\"}`\n" +
		"- `hotel_book` was called, and what it did stays done: `{\"nights\":3}`\n"
	if said != want {
		t.Errorf("got\n%s\nwant\n%s", said, want)
	}
}

func TestUndoLeavesATurnAloneThatRuns(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Begin(t.Context(), "c", "a long one"); err != nil {
		t.Fatal(err)
	}
	l := &life{app: &app{config: defaults(), store: s}, wake: make(chan struct{}, 1)}
	if said, err := l.slashUndo(t.Context(), "c", ""); err == nil || !strings.Contains(err.Error(), "right now") {
		t.Errorf("got %q, %v", said, err)
	}
}
