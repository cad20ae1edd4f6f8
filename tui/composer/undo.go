package composer

import "lifehub/tui/draw"

// Written is the state of the input: text, cursor and pastes.
type Written struct {
	Text         string
	Line, Column int // of the cursor; column counts letters
	Pastes       []Paste
}

// undo has the earlier states of the input, and those that were undone.
type undo struct {
	now         Written
	past, ahead []Written // newest last
	run         string    // what the last change was one of several of: they go back together; "": it stands alone
	blank       bool      // the last letter of a run was a blank
}

// maxUndo bounds the number of states.
const maxUndo = 500

// typing is the kind of change of letters that are typed one after the other.
const typing = "typing"

// note records the state after a change or a move. Changes of one run are one step; letters
// are a run until the end of their word.
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

// step moves one state from one list to the input, and the current one to the other list. It
// reports false if the list is empty.
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
	for c.Area.Line() > line { // by rows as they are broken: from the first one
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

// Changed redraws after a change or a move, which can be undone. run is the kind of change;
// letter is what was typed.
func (c *Model) Changed(run, letter string) {
	c.Edits++
	c.changes.note(c.Written(), run, letter)
	c.Draw()
}

// ForgetUndo clears the earlier states, for another message.
func (c *Model) ForgetUndo() { c.changes = undo{now: c.Written()} }

// Stashed is a draft that was set aside, with its earlier states.
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
