package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/aymanbagabas/go-udiff"

	"lifehub/agent"
	"lifehub/notes"
)

// Undone is what became of taking back what a turn did to one note.
type Undone struct {
	Vault, Path string
	What        UndoResult
	Trash       string // where in the vault what was taken away is now; "": nowhere
	Diff        string // from the note as it is to what it was before the turn, where that was not done
	Err         error  // why it could not be done
}

// UndoResult says what was done to a note.
type UndoResult int

// What became of a note.
const (
	UndoNothing  UndoResult = iota // it is as it was before the turn already
	UndoRestored                   // it is again as it was
	UndoTrashed                    // the turn made it, and it is in the trash now
	UndoChanged                    // it was changed since, and was left alone
	UndoFailed
)

// Undo takes back what a turn did to notes, each as a whole. A note that was
// changed since is left alone. Doing it again does no harm.
func Undo(folders []*notes.Folder, changes []agent.NoteChange) []Undone {
	return takeBack(folders, changes, false)
}

// Restore gives notes back what they held before a turn, whatever they hold
// now. That goes to the trash first.
func Restore(folders []*notes.Folder, changes []agent.NoteChange) []Undone {
	return takeBack(folders, changes, true)
}

func takeBack(folders []*notes.Folder, changes []agent.NoteChange, whatever bool) []Undone {
	return eachNote(changes, func(u *Undone, of []agent.NoteChange) error {
		folder, now, err := present(folders, u)
		if err != nil {
			return err
		}
		before, unchanged := of[0].Before, true
		if !whatever {
			before, unchanged = walkBack(now, of)
		}
		switch {
		case !unchanged:
			u.What, u.Diff = UndoChanged, udiff.Unified(u.Path, u.Path, string(now), string(of[0].Before))
			return nil
		case same(before, now):
			u.What = UndoNothing
			return nil
		case before == nil:
			u.What = UndoTrashed
			u.Trash, err = folder.Trash(u.Path, now)
			return err
		}
		u.What = UndoRestored
		if now == nil {
			return folder.Create(u.Path, string(before))
		}
		if whatever {
			if u.Trash, err = folder.CopyToTrash(u.Path, now); err != nil {
				return err
			}
		}
		return folder.Replace(u.Path, now, before)
	})
}

// eachNote collects the changes of each note and has them undone.
func eachNote(changes []agent.NoteChange, undo func(*Undone, []agent.NoteChange) error) []Undone {
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
	var list []Undone
	for _, at := range order {
		u := Undone{Vault: at.vault, Path: at.path}
		if err := undo(&u, of[at]); err != nil {
			u.What, u.Err = UndoFailed, err
		}
		list = append(list, u)
	}
	return list
}

// present finds the vault of a note and reads it; nil: there is no such note.
func present(folders []*notes.Folder, u *Undone) (*notes.Folder, []byte, error) {
	for _, folder := range folders {
		if folder.Dir() != u.Vault {
			continue
		}
		now, _, err := folder.Raw(u.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return folder, nil, nil
		}
		if err == nil && now == nil {
			now = []byte{}
		}
		return folder, now, err
	}
	return nil, nil, fmt.Errorf("the notes in %s are not open now", u.Vault)
}

// walkBack goes from what a note holds now back through the changes of a turn,
// the last first. A change that was never made, because the turn was killed,
// is passed over. ok is false where the note was changed by someone else.
func walkBack(now []byte, changes []agent.NoteChange) (before []byte, ok bool) {
	if same(now, changes[0].Before) {
		return now, true // it was taken back already, or never done
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

// same reports whether two notes hold the same; no note is not an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
