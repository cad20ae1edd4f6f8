package panel

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Content is what a panel shows. Its lines fit the requested width and rows.
type Content struct {
	Title, Count string
	Lines        []string
	Rows         map[int]int // which row of its list a line shows, for the mouse
}

// Clicked is the row of a panel that was clicked.
type Clicked int

// Frame draws the panel over the body of the screen, as wide as the column of text.
type Frame struct {
	line int // of the body, the first of the content
	rows map[int]int
}

const (
	wideList    = 88 // from here on the details of the chosen row are next to the list
	roomyWidth  = 100
	roomyHeight = 22 // of the body: a window of 30 rows
	detailRows  = 10 // for the details of the chosen row, below a list
)

// Roomy reports whether what covers a body of this size is in its middle; else it is at its
// lower edge.
func Roomy(width, height int) bool { return width >= roomyWidth && height >= roomyHeight }

// MostRows returns the maximum height of what covers a body of this size.
func MostRows(width, height int) int {
	if Roomy(width, height) {
		return height * 9 / 10
	}
	return height
}

// Over lays a box over the lines of the body, which are dimmed: in the middle where there is
// room, else at their lower edge. It returns the line of the body on which the box begins.
func Over(box, body []string, width int, theme *draw.Theme) (lines []string, y int) {
	if y = max(0, len(body)-len(box)); Roomy(width, len(body)) {
		y /= 2
	}
	return draw.Over(draw.Dimmed(slices.Clone(body), theme), box, draw.ColumnOf(width).Left, y, width), y
}

// Over lays a panel over the lines of the body. A body too small for a frame shows the
// content alone.
func (f *Frame) Over(p Panel, body []string, width int, k *draw.Keys, theme *draw.Theme) []string {
	height := len(body)
	if width < draw.Narrow || height < 8 {
		c := p.View(width, height, k, theme)
		f.line, f.rows = 0, c.Rows
		return draw.PadHeight(c.Lines, height)
	}
	outer := draw.ColumnOf(width).Width()
	c := p.View(outer-draw.BoxSides, MostRows(width, height)-2, k, theme)
	box := draw.Box{Title: theme.Strong.Render(safetext.Line(c.Title)), Border: theme.Dim}
	if c.Count != "" {
		box.Count = theme.Dim.Render(c.Count)
	}
	box.Keys = theme.Dim.Render(draw.Hints(p.Hints(k), outer-draw.BoxSides))
	lines, y := Over(box.View(c.Lines, outer), body, width, theme)
	f.line, f.rows = y+1, c.Rows
	return lines
}

// Click returns the message for a click on a line of the body, nil if no row is there.
func (f *Frame) Click(line int) tea.Msg {
	if row, ok := f.rows[line-f.line]; ok {
		return Clicked(row)
	}
	return nil
}

// wheeled returns the key that a turn of the wheel stands for.
func wheeled(msg tea.MouseWheelMsg) tea.KeyPressMsg {
	if msg.Button == tea.MouseWheelUp {
		return tea.KeyPressMsg{Code: tea.KeyUp}
	}
	return tea.KeyPressMsg{Code: tea.KeyDown}
}

// inSight returns which of n rows are visible in a number of lines, with the chosen one in the
// middle if possible.
func inSight(chosen, n, room int) (from, to int) {
	from = max(0, min(chosen-room/2, n-room))
	return from, min(n, from+max(room, 1))
}

// masterDetail lays out a list of n rows with the details of the chosen one next to it, or
// below it where space is short.
func masterDetail(n, width, rows int, theme *draw.Theme, list func(width, rows int) []string,
	detail func(width int) []string,
) []string {
	if width >= wideList {
		left := width / 2
		lines, right := list(left, rows), cutHeight(detail(width-left-3), rows)
		height := max(len(lines), len(right), min(rows, detailRows))
		lines, right = draw.PadHeight(lines, height), draw.PadHeight(right, height)
		for i, line := range lines {
			lines[i] = line + strings.Repeat(" ", max(0, left-draw.Width(line))) + theme.Border.Render(" │ ") + right[i]
		}
		return lines
	}
	if rows < 8 {
		return list(width, rows)
	}
	most := min(max(rows/2, rows-1-n), detailRows)
	below := draw.PadHeight(cutHeight(detail(width), most), most)
	lines := append(list(width, rows-most-1), theme.Border.Render(strings.Repeat("─", width)))
	return append(lines, below...)
}

// cutHeight cuts lines to a height, with an ellipsis in place of the rest.
func cutHeight(lines []string, most int) []string {
	if len(lines) > most {
		return append(lines[:max(0, most-1)], "…")
	}
	return lines
}
