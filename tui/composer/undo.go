package composer

import "lifehub/tui/draw"

// Written is the state of the input: text, cursor and pastes.
type Written struct {
	Text         string
	Line, Column int // cursor; Column counts characters
	Pastes       []Paste
}

// undo has the earlier states of the input, and the undone ones.
type undo struct {
	now         Written
	past, ahead []Written // newest last
	run         string    // kind of changes that are undone together with the last one; "" if none
	blank       bool      // the last character of the run was a blank
}

// maxUndo bounds the number of states.
const maxUndo = 500

// typing is the run of characters typed one after the other.
const typing = "typing"

// note records the state after a change or a move. Changes of the same run are undone
// together; a run of typing ends at the end of a word.
func (u *undo) note(now Written, run, letter string) {
	begins := u.blank && !draw.Blank(letter)
	switch {
	case now.Text == u.now.Text:
		run = ""
	case run != "" && run == u.run && !begins:
		u.ahead = nil
	default:
		u.past, u.ahead = append(u.past, u.now), nil
		if len(u.past) > maxUndo {
			u.past = u.past[1:]
		}
	}
	u.now, u.run, u.blank = now, run, draw.Blank(letter)
}

// step moves a state from one list to the input, and the current one to the other
// list. It reports false if the list is empty.
func (u *undo) step(from, to *[]Written) bool {
	if len(*from) == 0 {
		return false
	}
	last := len(*from) - 1
	*to = append(*to, u.now)
	u.now, u.run = (*from)[last], ""
	*from = (*from)[:last]
	return true
}

// Undo undoes the last change. It reports false if there is none.
func (c *Model) Undo() bool { return c.step(&c.changes.past, &c.changes.ahead) }

// Redo redoes the last undone change.
func (c *Model) Redo() bool { return c.step(&c.changes.ahead, &c.changes.past) }

func (c *Model) step(from, to *[]Written) bool {
	if !c.changes.step(from, to) {
		return false
	}
	c.Edits++
	c.Put(c.changes.now)
	c.Draw()
	return true
}

// Written returns the current state.
func (c *Model) Written() Written {
	return Written{Text: c.Text(), Line: c.Area.Line(), Column: c.Area.Column(), Pastes: c.Pastes}
}

// Put restores a state.
func (c *Model) Put(w Written) {
	c.Pastes = w.Pastes[:len(w.Pastes):len(w.Pastes)]
	if w.Text != c.Text() {
		c.Area.SetValue(w.Text)
	}
	line := min(w.Line, c.Area.LineCount()-1)
	for c.Area.Line() > line { // go through wrapped rows from the first one
		c.Area.CursorStart()
		c.Area.CursorUp()
	}
	for c.Area.Line() < line {
		c.Area.CursorEnd()
		c.Area.CursorDown()
	}
	c.Area.SetCursorColumn(w.Column)
	c.Area, _ = c.Area.Update(nil)
}

// Changed redraws after a change or a move, and records it for undo. run is the kind of
// change; letter is the typed text.
func (c *Model) Changed(run, letter string) {
	c.Edits++
	c.changes.note(c.Written(), run, letter)
	c.Draw()
}

// ForgetUndo clears the history of changes.
func (c *Model) ForgetUndo() { c.changes = undo{now: c.Written()} }

// Stashed is a draft set aside, with its history of changes.
type Stashed struct {
	Written
	changes     undo
	place       int
	wasRestored bool
}

func (c *Model) Stash() Stashed {
	return Stashed{Written: c.Written(), changes: c.changes, place: c.Place, wasRestored: c.wasRestored}
}

// Unstash restores a draft.
func (c *Model) Unstash(a Stashed) {
	c.Clear()
	c.Put(a.Written)
	c.changes, c.Place, c.wasRestored = a.changes, a.place, a.wasRestored
	c.Edits++
	c.Draw()
}
