package composer

import (
	"context"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
)

// Lists are the lists of the composer: commands after a slash, and names after an @. At
// most one is open.
type Lists struct {
	Palette  Palette
	Mentions Mentions

	top  int   // the first line of rows
	rows []int // row of each visible line; -1 for none
}

// Open reports whether one of them is open.
func (l *Lists) Open() bool { return l.Palette.Open() || l.Mentions.Open() }

// Close closes them until something else is typed.
func (l *Lists) Close() { l.Palette.Rows, l.Mentions.Rows = nil, nil }

// Follow updates the lists after a change of the text.
func (l *Lists) Follow(ctx context.Context, c *Model, commands []chat.Command) tea.Cmd {
	l.Palette.Follow(c.Text(), commands)
	return l.Mentions.Follow(ctx, c.Before())
}

// Press handles a key in the open list. It reports false if the key goes to the composer.
func (l *Lists) Press(pressed tea.KeyPressMsg, k *draw.Keys, c *Model, commands []chat.Command) bool {
	return l.Palette.Open() && l.Palette.Press(pressed, k, c, commands) ||
		l.Mentions.Open() && l.Mentions.Press(pressed, k, c)
}

const mostRows = 12

// list returns the chosen row and the number of rows of the open list.
func (l *Lists) list() (chosen *int, n int) {
	if l.Palette.Open() {
		return &l.Palette.Chosen, len(l.Palette.Rows)
	}
	return &l.Mentions.Chosen, len(l.Mentions.Rows)
}

// Click chooses the row on a line of the list, if there is one. again reports that it was
// chosen already.
func (l *Lists) Click(line int) (again, ok bool) {
	line -= l.top
	if !l.Open() || line < 0 || line >= len(l.rows) || l.rows[line] < 0 {
		return false, false
	}
	at := l.rows[line]
	chosen, _ := l.list()
	again = *chosen == at
	*chosen = at
	return again, true
}

// View draws the open list in its frame, in at most height lines.
func (l *Lists) View(width, height int, k *draw.Keys, theme *draw.Theme) []string {
	if !l.Open() {
		return nil
	}
	outer, rows := width, min(mostRows, height-2)
	framed := rows > 2 && outer > 20
	if l.top = 1; !framed {
		outer, rows, l.top = width+draw.BoxSides, max(1, height), 0
	}
	chosen, n := l.list()
	hint := func(b key.Binding, what string) string { return b.Help().Key + " " + what }
	hints := []string{k.Up.Help().Key + hint(k.Down, "move"), hint(k.Complete, "insert"), hint(k.Stop, "close")}
	title := "Notes and files"
	var lines []string
	if l.Palette.Open() {
		hints[1] = hint(k.Complete, "complete") + " · " + hint(k.Send, "run")
		title = "Commands"
		lines, l.rows = l.Palette.lines(outer-draw.BoxSides, k, theme)
		from := max(0, min(slices.Index(l.rows, *chosen)-rows/2, len(lines)-rows))
		if from == 1 { // otherwise the only line above is the heading of the first group
			from = 0
		}
		to := min(len(lines), from+rows)
		lines, l.rows = draw.PadHeight(lines[from:to], rows), l.rows[from:to] // typing does not move the frame
	} else {
		from := max(0, min(*chosen-rows/2, n-rows))
		to := min(n, from+rows)
		l.rows = nil
		for at := from; at < to; at++ {
			l.rows = append(l.rows, at)
		}
		if l.Mentions.at == 0 {
			title = "Notes, files and tools"
		}
		lines = l.Mentions.view(from, to, rows, outer-draw.BoxSides, theme)
	}
	if !framed {
		return lines
	}
	box := draw.Box{
		Title: theme.Strong.Render(title), Count: theme.Dim.Render(draw.Nth(*chosen, n)), Border: theme.Dim,
		Keys: theme.Dim.Render(draw.Hints(hints, outer-draw.BoxSides)),
	}
	return box.View(lines, outer)
}
