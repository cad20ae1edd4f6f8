package composer

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// dequeue removes a message from the queue, for editing or cancelling.
func (c *Model) dequeue(at int) {
	text := c.Queue[at]
	c.Queue = slices.Delete(c.Queue, at, at+1)
	held := at < c.restored
	if held {
		c.restored--
	}
	c.Clear()
	c.Set(safetext.Text(text))
	c.ForgetUndo()
	c.Place, c.wasRestored = at, held
}

// Requeue puts an edited message back into its place in the queue, or cancels it if it is
// empty. It returns the place of the next message.
func (c *Model) Requeue() int {
	at := c.Place
	if at < 0 {
		return len(c.Queue)
	}
	held := c.wasRestored
	text := c.Take()
	switch {
	case draw.Blank(text):
		return at
	case held:
		c.QueueRestored(text, at)
	default:
		c.Wait(text, at)
	}
	return at + 1
}

// QueueRestored queues a message that waits until the user sends it.
func (c *Model) QueueRestored(text string, place int) {
	c.Queue = slices.Insert(c.Queue, min(place, c.restored), text)
	c.restored++
	c.Edits++
}

// Due returns the number of messages to ask after the turn.
func (c *Model) Due() int { return len(c.Queue) - c.restored }

// ReturnQueue moves the due messages from the queue to the beginning of the input.
func (c *Model) ReturnQueue() {
	if c.Due() == 0 {
		return
	}
	c.Requeue()
	due := slices.Clone(c.Queue[c.restored:])
	c.Queue = c.Queue[:c.restored]
	c.Edits++
	c.returnTexts(due)
}

// ReturnSteering moves messages that no turn has taken to the beginning of the input.
func (c *Model) ReturnSteering() {
	var texts []string
	for _, s := range c.Steering {
		texts = append(texts, s.Text)
	}
	if c.Steering = nil; len(texts) > 0 {
		c.Requeue()
		c.returnTexts(texts)
	}
}

func (c *Model) returnTexts(texts []string) {
	c.Set(strings.TrimRight(strings.Join(append(texts, c.Take()), "\n"), "\n"))
}

// Wait queues a message, at the given place or at the end.
func (c *Model) Wait(text string, place int) {
	if place < 0 || place > len(c.Queue) {
		place = len(c.Queue)
	}
	c.Queue = slices.Insert(c.Queue, max(place, c.restored), text)
	c.Edits++
}

// Steer stores a message offered to the running turn until the turn has taken it.
func (c *Model) Steer(text string) agent.Steering {
	s := agent.Steering{ID: rand.Text(), Text: text}
	c.Steering = append(c.Steering, s)
	c.Edits++
	return s
}

// Steered removes a message that the turn has taken.
func (c *Model) Steered(id string) {
	c.Steering = slices.DeleteFunc(c.Steering, func(s agent.Steering) bool { return s.ID == id })
	c.Edits++
}

// NotSteered queues the messages that no turn has taken, before all others that are
// due.
func (c *Model) NotSteered() {
	for i, s := range c.Steering {
		c.Wait(s.Text, c.restored+i)
	}
	c.Steering = nil
}

// Next removes the next due message from the queue.
func (c *Model) Next() string {
	text := c.Queue[c.restored]
	c.Queue = slices.Delete(c.Queue, c.restored, c.restored+1)
	if c.Place > c.restored {
		c.Place--
	}
	c.Edits++
	return text
}

// Waiting draws the queue in at most two lines, and how to edit it.
func (c *Model) Waiting(keys *draw.Keys, width int, theme *draw.Theme, running bool) []string {
	var lines []string
	if c.Place >= 0 {
		does := "keep"
		if !running {
			does = "send"
		}
		label := fmt.Sprintf("queued message %d of %d · %s to %s · clear to cancel", c.Place+1, len(c.Queue)+1,
			keys.Send.Help().Key, does)
		lines = append(lines, theme.Key.Render(draw.Truncate(label, width)))
	}
	more := func(n int) {
		lines = append(lines, theme.Dim.Render(draw.Truncate(fmt.Sprintf("… and %d more", n), width)))
	}
	for i, s := range c.Steering {
		if i == 2 {
			more(len(c.Steering) - 2)
			break
		}
		lines = append(lines, theme.Dim.Render(draw.Truncate("for this turn: “"+
			draw.Summary(s.Text, width)+"”", width)))
	}
	for i, text := range c.Queue {
		if i == 2 {
			more(len(c.Queue) - 2)
			break
		}
		mark, does := "queued: ", " change or cancel"
		if i < c.restored {
			mark, does = "not sent: ", " change, send or cancel"
		}
		line, hint := mark+"“"+draw.Summary(text, width)+"”", ""
		if i == 0 && c.Place < 0 {
			hint = "  " + keys.Up.Help().Key + does
		}
		line = draw.Truncate(line, max(1, width-draw.Width(hint)))
		lines = append(lines, theme.Dim.Render(draw.Truncate(draw.Justify(line, hint, width), width)))
	}
	return lines
}
