package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

// turnChanges stores the changes of a conversation's turns in memory.
type turnChanges struct {
	turns []string
	by    map[string][]agent.NoteChange
}

func (c *turnChanges) Changing(_ context.Context, turn string, change agent.NoteChange) error {
	if !slices.Contains(c.turns, turn) {
		c.turns = append(c.turns, turn)
	}
	if c.by == nil {
		c.by = map[string][]agent.NoteChange{}
	}
	c.by[turn] = append(c.by[turn], change)
	return nil
}

func (c *turnChanges) NoteChanges(_ context.Context, turn string) ([]agent.NoteChange, error) {
	return c.by[turn], nil
}

func (c *turnChanges) Exchanges(context.Context, string) (list []agent.Exchange, err error) {
	for _, turn := range append(slices.Clone(c.turns), "only talk") {
		list = append(list, agent.Exchange{Turn: turn})
	}
	return list, nil
}

// undoingBench returns a bench that records changes, with a memory file.
func undoingBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := work(t, files)
	memory := b.vault(map[string]string{"memory.md": "# Memory\n\n- I like tea (2026-01-01, you)\n"})
	b.folders, b.deps.Changes = b.folders[:1], &turnChanges{}
	b.deps.Facts = Facts{Place: only{memory}, Path: "memory.md"}
	return b
}

// inTurn calls a writing tool in a turn, and returns its preview and its result.
func (b *bench) inTurn(turn, tool, args string) (agent.Preview, string) {
	b.t.Helper()
	ctx := agent.WithCaller(b.t.Context(), agent.Caller{Conversation: "c", Turn: turn})
	change, err := b.tool(tool).(agent.Preparer).Prepare(ctx, json.RawMessage(args))
	if err != nil {
		return agent.Preview{}, "error: " + err.Error()
	}
	shown := change.Preview()
	result, err := change.Apply(ctx)
	if err != nil {
		return shown, "error: " + err.Error()
	}
	return shown, result.Text
}

func TestUndoReversesTheLastChangingTurn(t *testing.T) {
	const list = "- [ ] a\n"
	b := undoingBench(t, map[string]string{"tasks.md": list, "plan.md": "old words\n"})
	b.inTurn("1", "edit_note", `{"path":"plan.md","old_text":"old","new_text":"new"}`)
	b.inTurn("2", "add_task", `{"text":"b"}`)
	b.inTurn("2", "create_note", `{"path":"made.md","content":"mine"}`)
	shown, result := b.inTurn("3", "undo", `{}`)
	holds(t, "the dialog", shown.Diff, "-- [ ] b", "-mine")
	if b.text("tasks.md") != list || b.text("made.md") != "" || b.text("plan.md") != "new words\n" {
		t.Errorf("it says %s; the notes hold %q, %q, %q", result, b.text("tasks.md"),
			b.text("made.md"), b.text("plan.md"))
	}
	holds(t, "the result", result, "Taken back: tasks.md is as it was before",
		"made.md had been created and is removed; what it held is in .trash/made.md")
	if _, result := b.inTurn("4", "undo", `{}`); b.text("made.md") != "mine\n" ||
		!strings.Contains(b.text("tasks.md"), "- [ ] b") {
		t.Errorf("undoing the undoing says %s; the notes hold %q, %q", result, b.text("tasks.md"), b.text("made.md"))
	}
}

func TestLaterChangesAreNotUndone(t *testing.T) {
	b := undoingBench(t, map[string]string{"tasks.md": "- [ ] a\n", "plan.md": "old words\n"})
	if _, result := b.inTurn("1", "undo", `{}`); result != "error: there is nothing to take back: no message of this "+
		"conversation changed a note" {
		t.Error(result)
	}
	b.inTurn("1", "add_task", `{"text":"b"}`)
	b.inTurn("1", "edit_note", `{"path":"plan.md","old_text":"old","new_text":"new"}`)
	put(b, "tasks.md", "mine\n")
	shown, result := b.inTurn("2", "undo", `{}`)
	holds(t, "the dialog", shown.Text, "tasks.md was changed since, and stays as it is")
	if b.text("tasks.md") != "mine\n" || b.text("plan.md") != "old words\n" {
		t.Errorf("it says %s; the notes hold %q and %q", result, b.text("tasks.md"), b.text("plan.md"))
	}
}

func TestUndoKnowsAfterAKillWhetherItRan(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(b *bench, change agent.Change)
		want agent.Happened
	}{
		"not run": {func(*bench, agent.Change) {}, agent.HasNotHappened},
		"run":     {func(b *bench, change agent.Change) { mustApply(b, change) }, agent.HasHappened},
		"one of two was changed": {
			func(b *bench, _ agent.Change) { put(b, "tasks.md", "- [ ] a\n") },
			agent.MayHaveHappened,
		},
		"changed by the user": {
			func(b *bench, _ agent.Change) { put(b, "tasks.md", "my own words\n") },
			agent.MayHaveHappened,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := undoingBench(t, map[string]string{"tasks.md": "- [ ] a\n"})
			b.inTurn("1", "add_task", `{"text":"b"}`)
			b.inTurn("1", "create_note", `{"path":"made.md","content":"mine"}`)
			change, err := b.tool("undo").(agent.Preparer).Prepare(agent.WithCaller(t.Context(),
				agent.Caller{Conversation: "c", Turn: "2"}), json.RawMessage(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			mark, err := change.Mark(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tc.do(b, change)
			if got, _, err := b.tool("undo").(agent.Checker).Check(t.Context(), mark); err != nil || got != tc.want {
				t.Errorf("got %d, %v; want %d", got, err, tc.want)
			}
		})
	}
}

func TestUndoReversesMemoryToo(t *testing.T) {
	b := undoingBench(t, map[string]string{})
	b.inTurn("1", "forget", `{"text":"tea"}`)
	shown, result := b.inTurn("2", "undo", `{}`)
	holds(t, "the dialog", shown.Diff, "+- I like tea")
	holds(t, "the result", result, "memory.md is as it was before")
}

// What the dialog showed is what is done: a note that stays as it is stays, even if it could be restored
// by then, and nothing is done if a note that changes is no longer as shown.
func TestUndoDoesWhatItsDialogShowed(t *testing.T) {
	b := undoingBench(t, map[string]string{"tasks.md": "- [ ] a\n", "plan.md": "old words\n"})
	b.inTurn("1", "add_task", `{"text":"b"}`)
	b.inTurn("1", "edit_note", `{"path":"plan.md","old_text":"old","new_text":"new"}`)
	written := b.text("tasks.md")
	put(b, "tasks.md", "mine\n")
	ctx := agent.WithCaller(t.Context(), agent.Caller{Conversation: "c", Turn: "2"})
	change, err := b.tool("undo").(agent.Preparer).Prepare(ctx, json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	put(b, "tasks.md", written) // while the dialog is open
	if _, err := change.Apply(ctx); err != nil || b.text("tasks.md") != written || b.text("plan.md") != "old words\n" {
		t.Errorf("%v; the notes hold %q and %q", err, b.text("tasks.md"), b.text("plan.md"))
	}

	if change, err = b.tool("undo").(agent.Preparer).Prepare(agent.WithCaller(t.Context(),
		agent.Caller{Conversation: "c", Turn: "3"}), json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	put(b, "plan.md", "mine\n")
	if _, err := change.Apply(ctx); err == nil || b.text("plan.md") != "mine\n" || b.text("tasks.md") != written {
		t.Errorf("%v; the notes hold %q and %q", err, b.text("tasks.md"), b.text("plan.md"))
	}
}
