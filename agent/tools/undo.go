package tools

import (
	"bytes"
	"fmt"

	"github.com/aymanbagabas/go-udiff"

	"lifehub/agent"
	"lifehub/notes"
)

// Undone is the result of undoing a turn's changes of one note.
type Undone struct {
	Vault, Path string
	What        UndoResult
	Trash       string // where in the vault the removed content is now; "" if nothing was removed
	Diff        string // from the note before the turn to the current one, if it was not restored
	Err         error  // why it failed
}

// UndoResult is what was done to a note.
type UndoResult int

const (
	UndoNothing  UndoResult = iota // the note already was as before the turn
	UndoRestored                   // restored as before the turn
	UndoTrashed                    // created by the turn, and moved to the trash
	UndoChanged                    // changed since, and therefore left unchanged
	UndoFailed
)

// Undo restores each note to its content before a turn, unless it was changed
// since. It is idempotent.
func Undo(folders []*notes.Folder, changes []agent.NoteChange) []Undone {
	return takeBack(folders, changes, false)
}

// Restore restores notes to their content before a turn, whatever they contain
// now. The current content is saved in the trash first.
func Restore(folders []*notes.Folder, changes []agent.NoteChange) []Undone {
	return takeBack(folders, changes, true)
}

func takeBack(folders []*notes.Folder, changes []agent.NoteChange, whatever bool) (list []Undone) {
	for _, b := range planUndo(folders, changes, whatever) {
		list = append(list, b.write(whatever))
	}
	return list
}

// undoing is how one note is restored.
type undoing struct {
	note   Undone // as far as it is known before
	change change // without a folder if the note stays as it is
}

// write restores the note, unless its content is no longer that of the plan. With
// save, what is replaced is copied to the trash.
func (b undoing) write(save bool) Undone {
	u, c := b.note, b.change
	var err error
	switch {
	case c.folder == nil:
		return u
	case c.now == nil:
		u.Trash, err = c.folder.Trash(c.path, c.was)
	case c.was != nil && save:
		if u.Trash, err = c.folder.CopyToTrash(c.path, c.was); err == nil {
			err = c.write()
		}
	default:
		err = c.write()
	}
	if err != nil {
		u.What, u.Err = UndoFailed, err
	}
	return u
}

// planUndo computes how the notes of a turn are restored: to their content before
// the turn, unless they were changed since; with whatever, even then.
func planUndo(folders []*notes.Folder, changes []agent.NoteChange, whatever bool) []undoing {
	type place struct{ vault, path string }
	var order []place
	of := map[place][]agent.NoteChange{}
	for _, c := range changes {
		at := place{c.Vault, c.Path}
		if of[at] == nil {
			order = append(order, at)
		}
		of[at] = append(of[at], c)
	}
	var list []undoing
	for _, at := range order {
		u := Undone{Vault: at.vault, Path: at.path}
		folder, now, err := present(folders, &u)
		before, unchanged := of[at][0].Before, true
		if err == nil && !whatever {
			before, unchanged = walkBack(now, of[at])
		}
		switch {
		case err != nil:
			u.What, u.Err, folder = UndoFailed, err, nil
		case !unchanged:
			u.What, u.Diff, folder = UndoChanged, udiff.Unified(u.Path, u.Path, string(of[at][0].Before), string(now)),
				nil
		case same(before, now):
			u.What, folder = UndoNothing, nil
		case before == nil:
			u.What = UndoTrashed
		default:
			u.What = UndoRestored
		}
		list = append(list, undoing{u, change{folder: folder, path: u.Path, was: now, now: before}})
	}
	return list
}

// present returns the vault and the content of a note; nil if the note does not
// exist.
func present(folders []*notes.Folder, u *Undone) (*notes.Folder, []byte, error) {
	for _, folder := range folders {
		if folder.Dir() != u.Vault {
			continue
		}
		now, err := change{folder: folder, path: u.Path}.onDisk()
		return folder, now, err
	}
	return nil, nil, fmt.Errorf("the notes in %s are not open now", u.Vault)
}

// walkBack undoes the changes of a turn to a note with content now, last first.
// A change that was never made, because the turn was killed, is skipped. ok is
// false if the note was changed by someone else.
func walkBack(now []byte, changes []agent.NoteChange) (before []byte, ok bool) {
	if same(now, changes[0].Before) {
		return now, true // undone already, or never done
	}
	before = now
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		switch {
		case sumOf(before) == c.After:
			before = c.Before
		case same(before, c.Before):
		default:
			return nil, false
		}
	}
	return before, true
}

// same reports whether two notes have the same content. A missing note (nil) is
// not an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
