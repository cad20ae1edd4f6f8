package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/notes"
)

// newUndo returns the tool that undoes the changes of notes by the last turn of
// the conversation that made any. The undo is itself such a change, so undoing
// it restores the notes.
func newUndo(own, memory noteWriter) agent.Tool {
	return agent.NewEraser(spec[struct{}]("undo"), undoer{own, memory})
}

// undoer restores notes and the memory file.
type undoer struct{ own, memory noteWriter }

// Prepare computes the content that the notes of the turn will be restored to.
func (u undoer) Prepare(ctx context.Context, _ struct{}) (agent.Change, error) {
	done, err := u.lastChanges(ctx)
	if err != nil {
		return nil, err
	}
	back := backward{undoer: u}
	for _, note := range planUndo(u.folders(), done, false) {
		switch {
		case note.change.folder != nil:
			note.change.memory = slices.Contains(u.memory.vaults(), note.change.folder)
			back.shown = append(back.shown, note)
		case note.note.What != UndoNothing:
			back.left = append(back.left, note.note.String())
		}
	}
	if len(back.shown) == 0 {
		return nil, errors.New(strings.Join(append([]string{"there is nothing to take back"}, back.left...), "; "))
	}
	return back, nil
}

func (u undoer) folders() []*notes.Folder { return slices.Concat(u.own.vaults(), u.memory.vaults()) }

// writer returns the noteWriter for the note of a change.
func (u undoer) writer(c change) noteWriter {
	if c.memory {
		return u.memory
	}
	return u.own
}

// lastChanges returns the changes of the newest earlier turn that changed
// notes.
func (u undoer) lastChanges(ctx context.Context) ([]agent.NoteChange, error) {
	now := agent.CallerOf(ctx)
	turns, err := u.own.changes.Exchanges(ctx, now.Conversation)
	if err != nil {
		return nil, err
	}
	for _, turn := range slices.Backward(turns) {
		if turn.Turn == now.Turn {
			continue
		}
		if done, err := u.own.changes.NoteChanges(ctx, turn.Turn); err != nil || len(done) > 0 {
			return done, err
		}
	}
	return nil, errors.New("there is nothing to take back: no message of this conversation changed a note")
}

// Check reports whether the notes are as expected after the call, or as before
// it.
func (u undoer) Check(_ context.Context, raw json.RawMessage) (agent.Happened, []agent.Effect, error) {
	return noteWriter{vaults: u.folders}.checkAll(raw)
}

// backward is the change of one undo call.
type backward struct {
	undoer
	shown []undoing // of the notes that change
	left  []string  // notes that cannot be restored, and why
}

// Preview shows the notes that change and those that cannot be restored.
func (b backward) Preview() agent.Preview {
	p := agent.Preview{Text: strings.Join(b.left, "\n")}
	for _, note := range b.shown {
		p.Diff += note.change.diff()
	}
	if len(b.shown) == 1 {
		c := b.shown[0].change
		p.Path = PathOf(b.writer(c).vaults, c.folder, c.path)
	}
	return p
}

// Restores says that the notes held before what it writes.
func (backward) Restores() {}

// Mark returns the hashes of the notes before and after the change.
func (b backward) Mark(context.Context) (json.RawMessage, error) {
	var marks []mark
	for _, note := range b.shown {
		marks = append(marks, b.writer(note.change).mark(note.change))
	}
	return json.Marshal(marks)
}

// Apply restores the notes as shown. If one of them was changed since, none is.
func (b backward) Apply(ctx context.Context) (agent.Result, error) {
	for _, note := range b.shown {
		c := note.change
		now, err := c.onDisk()
		if err == nil && !same(now, c.was) {
			err = fmt.Errorf("%s was changed after this was shown; nothing was taken back", c.path)
		}
		if err == nil {
			err = b.writer(c).announce(ctx, c)
		}
		if err != nil {
			return agent.Result{}, agent.NothingDone{Err: err}
		}
	}
	var lines []string
	for _, note := range b.shown {
		done := note.write(false)
		if done.What != UndoFailed {
			agent.HostFrom(ctx).Did(b.writer(note.change).effect(note.change))
		}
		lines = append(lines, done.String())
	}
	return agent.Result{Text: "Taken back: " + strings.Join(append(lines, b.left...), "; ") + "."}, nil
}

// String describes the result.
func (u Undone) String() string {
	where := ""
	if u.Trash != "" {
		where = "; what it held is in " + u.Trash
	}
	switch u.What {
	case UndoTrashed:
		return u.Path + " had been created and is removed" + where
	case UndoChanged:
		return u.Path + " was changed since, and stays as it is"
	case UndoFailed:
		return fmt.Sprintf("%s could not be restored: %v", u.Path, u.Err)
	}
	return u.Path + " is as it was before" + where
}
