package composer

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
)

// Lists are those above the composer: of commands after a slash, of names after an
// @. One of them is open at a time.
type Lists struct {
	Palette  Palette
	Mentions Mentions
}

// Open reports whether one of them is.
func (l *Lists) Open() bool { return l.Palette.Open() || l.Mentions.Open() }

// Close closes them until something else is typed.
func (l *Lists) Close() { l.Palette.Rows, l.Mentions.Rows = nil, nil }

// Follow brings them in line with what is typed, and loads what they show.
func (l *Lists) Follow(c *Model, commands []backend.Command) tea.Cmd {
	l.Palette.Follow(c.Text(), commands)
	return l.Mentions.Follow(c.Before())
}

// Press gives a key to the open one; false: the key is the composer's.
func (l *Lists) Press(pressed tea.KeyPressMsg, k *keys.Map, c *Model, commands []backend.Command) bool {
	return l.Palette.Open() && l.Palette.Press(pressed, k, c, commands) || l.Mentions.Open() && l.Mentions.Press(pressed, k, c)
}

const (
	mostRows = 10
	most     = 90 // cells of a frame
)

// View shows the open one in its frame, in at most so many lines.
func (l *Lists) View(width, height int, k *keys.Map, theme *draw.Theme) []string {
	if !l.Open() {
		return nil
	}
	outer, rows := min(width, most), min(mostRows, height-2)
	framed := rows > 2 && outer > 20
	if !framed {
		outer, rows = width+draw.BoxSides, max(1, height)
	}
	box := draw.Box{Border: theme.Dim, Title: "Commands"}
	hints := []string{k.Up.Help().Key + k.Down.Help().Key + " move", k.Complete.Help().Key + " complete", k.Send.Help().Key + " run", k.Stop.Help().Key + " close"}
	var lines []string
	chosen, n, asks := l.Palette.Chosen, len(l.Palette.Rows), outer
	if l.Palette.Open() {
		lines, asks = l.Palette.view(outer-draw.BoxSides, rows, k, theme)
	} else {
		box.Title, hints[1], hints[2] = "Notes and files", k.Complete.Help().Key+" insert", ""
		hints = append(hints[:2], hints[3])
		chosen, n = l.Mentions.Chosen, len(l.Mentions.Rows)
		lines = l.Mentions.view(outer-draw.BoxSides, rows, theme)
	}
	if !framed {
		return lines
	}
	box.Title, box.Count = theme.Strong.Render(box.Title), theme.Dim.Render(draw.Nth(chosen, n))
	box.Keys = theme.Dim.Render(draw.Hints(hints, outer-draw.BoxSides))
	return box.View(lines, min(outer, max(60, asks+draw.BoxSides)))
}
