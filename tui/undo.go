package tui

import "lifehub/tui/draw"

// written is what stands in the composer: the text, where the cursor is in it,
// and what its names of pastes stand for.
type written struct {
	text         string
	line, column int // of the cursor; column counts letters
	pastes       []paste
}

// undo is the way back through what was written, and forth again.
type undo struct {
	now         written
	past, ahead []written // newest last
	run         string    // what the last change was one of several of: they go back together; "": it stands alone
	blank       bool      // the last letter of a run was a blank
}

// maxUndo bounds the steps back.
const maxUndo = 500

// typing is the run of letters that are written one after the other.
const typing = "typing"

// note takes in what is written now, after a change or a move. Changes of one
// run are one step; letters are a run to the end of their word, in vi until
// one stops to write.
func (u *undo) note(now written, run, letter string, words bool) {
	begins := words && u.blank && !draw.Blank(letter)
	switch {
	case now.text == u.now.text:
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

// step goes a step along one of the ways and leaves what is there now on the
// other. It reports false at the end of the way.
func (u *undo) step(from, to *[]written) bool {
	if len(*from) == 0 {
		return false
	}
	last := len(*from) - 1
	*to = append(*to, u.now)
	u.now, u.run = (*from)[last], ""
	*from = (*from)[:last]
	return true
}

// undo takes the last n changes back, redo makes them again. They report false
// when there was none.
func (c *composer) undo(n int) bool {
	return c.steps(n, &c.changes.past, &c.changes.ahead)
}

func (c *composer) redo(n int) bool {
	return c.steps(n, &c.changes.ahead, &c.changes.past)
}

func (c *composer) steps(n int, from, to *[]written) bool {
	done := 0
	for done < n && c.changes.step(from, to) {
		done++
	}
	if done > 0 {
		c.edits++
		c.put(c.changes.now)
		c.draw()
	}
	return done > 0
}

// written is what stands here now.
func (c *composer) written() written {
	return written{c.text(), c.area.Line(), c.area.Column(), c.pastes}
}

// put lets this stand here, with the cursor where it was.
func (c *composer) put(w written) {
	c.pastes = w.pastes[:len(w.pastes):len(w.pastes)]
	if w.text != c.text() {
		c.area.SetValue(w.text)
	}
	line := min(w.line, c.area.LineCount()-1)
	for c.area.Line() > line { // by rows as they are broken: from the first one
		c.area.CursorStart()
		c.area.CursorUp()
	}
	for c.area.Line() < line {
		c.area.CursorEnd()
		c.area.CursorDown()
	}
	c.area.SetCursorColumn(w.column)
	c.area, _ = c.area.Update(nil)
}

// changed draws the picture after a change or a move, which can be taken back.
// run is what it is one of several of; letter is what was typed.
func (c *composer) changed(run, letter string) {
	c.edits++
	c.changes.note(c.written(), run, letter, c.vi == viOff)
	c.draw()
}

// afresh begins with another message: what was written before is no way back.
func (c *composer) afresh() { c.changes = undo{now: c.written()} }

// aside is a draft that makes room for something else, with its way back.
type aside struct {
	written
	changes undo
	place   int
	wasHeld bool
}

func (c *composer) setAside() aside { return aside{c.written(), c.changes, c.place, c.wasHeld} }

// takeUp goes on with a draft that was set aside.
func (c *composer) takeUp(a aside) {
	c.clear()
	c.put(a.written)
	c.changes, c.place, c.wasHeld = a.changes, a.place, a.wasHeld
	c.edits++
	c.draw()
}
