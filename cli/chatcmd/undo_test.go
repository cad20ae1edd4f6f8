package chatcmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/store"
)

func TestUndoNamesWhatItCannotReverse(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bg := &background{
		App: &app.App{
			Settings: settings.Defaults(), Store: s,
			Builtin: tools.All(tools.Deps{Vaults: &app.App{}, Mail: tools.MailAccount{Host: "localhost"}}),
		},
		wake: make(chan struct{}, 1),
	}
	bg.App.Paths.Data = t.TempDir()
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
	called("1", "send_email", `{"to":"ana@example.org","subject":"a | b"}`, agent.Decided,
		agent.CallStarted, agent.CallEnded)
	called("2", "hotel_book", `{"nights":3}`, agent.Decided, agent.CallStarted)
	called("3", "hotel_cancel", `{}`, agent.CallAsked, agent.Decided, agent.CallEnded) // denied
	called("4", "search_notes", `{"query":"Ana"}`, agent.Decided, agent.CallStarted, agent.CallEnded)
	called("5", "add_task", `{"text":"pack"}`, agent.Decided, agent.CallStarted, agent.CallEnded)
	if err := s.Finish(t.Context(), turn, agent.Answer{Text: "Done."}); err != nil {
		t.Fatal(err)
	}
	output, err := bg.slashUndo(t.Context(), "c", "")
	if err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, output)
}

// The first line of an undo promises no more than what became of the notes.
func TestUndoSaysWhetherNotesWereRestored(t *testing.T) {
	var said strings.Builder
	for _, all := range [][]tools.UndoResult{
		nil,
		{tools.UndoRestored, tools.UndoTrashed, tools.UndoNothing},
		{tools.UndoChanged, tools.UndoRestored},
		{tools.UndoTrashed, tools.UndoFailed},
		{tools.UndoChanged},
		{tools.UndoChanged, tools.UndoFailed},
	} {
		var done []tools.Undone
		for _, what := range all {
			done = append(done, tools.Undone{Path: "a.md", What: what, Err: errors.New("no disk left")})
		}
		fmt.Fprintf(&said, "%v\n%s\n", all, undone("add it", done))
	}
	golden.RequireEqual(t, said.String())
}

func TestUndoLeavesARunningTurnAlone(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Begin(t.Context(), "c", "a long one"); err != nil {
		t.Fatal(err)
	}
	bg := &background{App: &app.App{Settings: settings.Defaults(), Store: s}, wake: make(chan struct{}, 1)}
	if output, err := bg.slashUndo(t.Context(), "c", ""); err == nil ||
		!strings.Contains(err.Error(), "another LifeHub") {
		t.Errorf("got %q, %v", output, err)
	}
}

// All branches of a conversation share the notes: a turn can be undone from each path that contains
// it, but never over changes that a turn of another path made since.
func TestUndoOnBranchesPreservesLaterChanges(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bg := &background{App: &app.App{Settings: settings.Defaults(), Store: s}, wake: make(chan struct{}, 1)}
	bg.App.Paths.Data = t.TempDir()
	folder, err := bg.App.FactsFolder()
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(folder.Dir(), "plan.md")
	apptest.Write(t, note, "one\n")
	turn := func(conversation, text string) string {
		t.Helper()
		id, err := s.Begin(t.Context(), conversation, "append "+text)
		if err != nil {
			t.Fatal(err)
		}
		was := apptest.Read(t, note)
		after := sha256.Sum256([]byte(was + text))
		if err := s.Changing(t.Context(), id, agent.NoteChange{
			Vault: folder.Dir(), Path: "plan.md",
			Before: []byte(was), After: hex.EncodeToString(after[:]),
		}); err != nil {
			t.Fatal(err)
		}
		apptest.Write(t, note, was+text)
		if err := s.Finish(t.Context(), id, agent.Answer{Text: "Done."}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	undo := func(conversation, says, want string) {
		t.Helper()
		output, err := bg.slashUndo(t.Context(), conversation, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := apptest.Read(t, note); got != want || !strings.Contains(output, says) {
			t.Errorf("%s: the note holds %q, want %q; said %q, want %q", conversation, got, want, output, says)
		}
	}
	const asBefore, left = "`plan.md` is as it was", "`plan.md` was changed since, so it is left as it is"

	first := turn("c", "two\n")
	second := turn("c", "three\n")
	fork, err := s.Fork(t.Context(), "c", first)
	if err != nil {
		t.Fatal(err)
	}
	undo(fork.ID, left, "one\ntwo\nthree\n") // the other path continued from it
	undo("c", asBefore, "one\ntwo\n")        // the second turn
	if err := s.GoOn(t.Context(), "c", first); err != nil {
		t.Fatal(err)
	}
	turn("c", "drei\n") // a branch next to the second turn
	if err := s.Show(t.Context(), "c", second); err != nil {
		t.Fatal(err)
	}
	undo("c", left, "one\ntwo\ndrei\n") // again, from its own branch
	undo("c", left, "one\ntwo\ndrei\n") // the turn that both branches share
	if output, err := bg.slashUndo(t.Context(), "c", "restore"); err != nil || !strings.Contains(output, "trash") ||
		apptest.Read(t, note) != "one\n" {
		t.Errorf("said %q, %v; the note holds %q", output, err, apptest.Read(t, note))
	}

	third := turn("c", "vier\n")
	if fork, err = s.Fork(t.Context(), "c", third); err != nil {
		t.Fatal(err)
	}
	undo(fork.ID, asBefore, "one\n") // what the copied turn did
	undo("c", asBefore, "one\n")     // already undone
}
