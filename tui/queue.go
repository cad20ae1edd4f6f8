package tui

import (
	"fmt"
	"slices"

	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// takeBack takes a message out of the queue, to be changed or cancelled.
func (c *composer) takeBack(at int) {
	text := c.queue[at]
	c.queue = slices.Delete(c.queue, at, at+1)
	held := at < c.held
	if held {
		c.held--
	}
	c.clear()
	c.set(safetext.Text(text))
	c.afresh()
	c.place, c.wasHeld = at, held
}

// putBack puts the message that was taken out of the queue where it was, as it
// stands now. One that was emptied is cancelled. It returns the place of the
// message behind it.
func (c *composer) putBack() int {
	at := c.place
	if at < 0 {
		return len(c.queue)
	}
	held := c.wasHeld
	text := c.take()
	switch {
	case draw.Blank(text):
		return at
	case held:
		c.hold(text, at)
	default:
		c.wait(text, at)
	}
	return at + 1
}

// hold lets a message wait until the user sends it.
func (c *composer) hold(text string, place int) {
	c.queue = slices.Insert(c.queue, min(place, c.held), text)
	c.held++
	c.edits++
}

// due is how many messages are asked when the turn is over.
func (c *composer) due() int { return len(c.queue) - c.held }

// giveBack takes what is due out of the queue, to be written anew.
func (c *composer) giveBack() []string {
	due := slices.Clone(c.queue[c.held:])
	c.queue = c.queue[:c.held]
	c.edits++
	return due
}

// wait lets a message wait its turn, at its place or behind all others.
func (c *composer) wait(text string, place int) {
	if place < 0 || place > len(c.queue) {
		place = len(c.queue)
	}
	c.queue = slices.Insert(c.queue, max(place, c.held), text)
	c.edits++
}

// next takes the message out of the queue whose turn it is.
func (c *composer) next() string {
	text := c.queue[c.held]
	c.queue = slices.Delete(c.queue, c.held, c.held+1)
	if c.place > c.held {
		c.place--
	}
	c.edits++
	return text
}

// waiting shows what is queued, at most two lines of it, and how to change it.
func (c *composer) waiting(keys *keys.Map, width int, look *draw.Theme, running bool) []string {
	var lines []string
	if c.place >= 0 {
		does := "keeps it"
		if !running {
			does = "sends it"
		}
		says := fmt.Sprintf("waiting %d of %d · %s %s · emptied: cancelled", c.place+1, len(c.queue)+1, keys.Send.Help().Key, does)
		lines = append(lines, look.Key.Render(draw.Fit(says, width)))
	}
	for i, text := range c.queue {
		if i == 2 {
			lines = append(lines, look.Dim.Render(draw.Fit(fmt.Sprintf("… and %d more", len(c.queue)-2), width)))
			break
		}
		mark, does := "queued  ", " change or cancel"
		if i < c.held {
			mark, does = "not sent  ", " change, send or cancel"
		}
		line, hint := mark+draw.Gist(text, width), ""
		if i == 0 && c.place < 0 {
			hint = "  " + keys.Up.Help().Key + does
		}
		line = draw.Fit(line, max(1, width-draw.Cells(hint)))
		lines = append(lines, look.Dim.Render(draw.Fit(draw.Spread(line, hint, width), width)))
	}
	return lines
}
