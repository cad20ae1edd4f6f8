package tui

import (
	"fmt"
	"slices"

	"lifehub/tui/safetext"
)

// takeBack takes a message out of the queue, to be changed or cancelled.
func (c *composer) takeBack(at int) {
	text := c.queue[at]
	c.queue = slices.Delete(c.queue, at, at+1)
	c.clear()
	c.set(safetext.Text(text))
	c.afresh()
	c.place = at
}

// putBack puts the message that was taken out of the queue where it was, as it
// stands now. One that was emptied is cancelled. It returns the place of the
// message behind it.
func (c *composer) putBack() int {
	at := c.place
	if at < 0 {
		return len(c.queue)
	}
	text := c.take()
	if blank(text) {
		return at
	}
	c.wait(text, at)
	return at + 1
}

// wait lets a message wait its turn, at its place or behind all others.
func (c *composer) wait(text string, place int) {
	if place < 0 || place > len(c.queue) {
		place = len(c.queue)
	}
	c.queue = slices.Insert(c.queue, place, text)
}

// next takes the message out of the queue whose turn it is.
func (c *composer) next() string {
	text := c.queue[0]
	c.queue = c.queue[1:]
	if c.place > 0 {
		c.place--
	}
	return text
}

// waiting shows what is queued, at most two lines of it, and how to change it.
func (c *composer) waiting(keys *keyMap, width int, look *theme) []string {
	var lines []string
	if c.place >= 0 {
		says := fmt.Sprintf("waiting %d of %d · %s keeps it · emptied: cancelled", c.place+1, len(c.queue)+1, keys.Send.Help().Key)
		lines = append(lines, look.Key.Render(fit(says, width)))
	}
	for i, text := range c.queue {
		if i == 2 {
			lines = append(lines, look.Dim.Render(fit(fmt.Sprintf("… and %d more", len(c.queue)-2), width)))
			break
		}
		line, hint := "queued  "+gist(text, width), ""
		if i == 0 && c.place < 0 {
			hint = "  " + keys.Up.Help().Key + " change or cancel"
		}
		line = fit(line, max(1, width-cells(hint)))
		lines = append(lines, look.Dim.Render(fit(spread(line, hint, width), width)))
	}
	return lines
}
