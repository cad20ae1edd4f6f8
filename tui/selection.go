package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/draw"
	"lifehub/tui/layout"
)

// Selection is the text that the mouse was dragged over: whole lines between the
// first cell and the last, within the columns and the rows where it began.
type Selection struct {
	held        bool // the button is down
	from, to    tea.Position
	left, right int // the columns it stays in
	top, bottom int // and the rows
}

// Mouse takes the mouse in a window, as Begin has it, and returns what End does
// when the button goes up. picture is what the window shows.
func (s *Selection) Mouse(msg tea.MouseMsg, picture string, sidebar, width, height, top, bottom int) (text string, click bool) {
	at := tea.Position{X: msg.Mouse().X, Y: msg.Mouse().Y}
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		if *s = (Selection{}); msg.Button == tea.MouseLeft {
			s.Begin(at, sidebar, width, height, top, bottom)
		}
	case tea.MouseMotionMsg:
		s.Drag(at)
	case tea.MouseReleaseMsg:
		return s.End(strings.Split(picture, "\n"))
	}
	return "", false
}

// Begin takes the button going down in a window: left of the sidebar, which begins
// at a column, or in it, and in the conversation, in rows from top up to bottom,
// or outside of it.
func (s *Selection) Begin(at tea.Position, sidebar, width, height, top, bottom int) {
	if at.Y < top || at.Y >= bottom {
		top, bottom = 0, height
	}
	left, right := draw.ColumnOf(sidebar).Text, sidebar
	if at.X >= sidebar {
		left, right = sidebar, width
	}
	*s = Selection{held: true, from: at, to: at, left: left, right: right, top: top, bottom: bottom}
}

// Drag takes the mouse moving with the button down.
func (s *Selection) Drag(at tea.Position) {
	if s.held {
		s.to = tea.Position{X: max(s.left, min(at.X, s.right-1)), Y: max(s.top, min(at.Y, s.bottom-1))}
	}
}

// Any reports whether something is selected.
func (s *Selection) Any() bool { return s.to != s.from }

// End takes the button going up and returns the text of the lines of the picture
// that is selected; "" and a click where the mouse did not move.
func (s *Selection) End(lines []string) (text string, click bool) {
	click, s.held = s.held && !s.Any(), false
	var rows []string
	s.each(lines, func(y, from, to int) {
		rows = append(rows, strings.TrimRight(ansi.Strip(cut(lines[y], from, to)), " "))
	})
	indent := -1 // of all lines but the first, which begins where the mouse did
	for i, row := range rows {
		if n := len(row) - len(strings.TrimLeft(row, " ")); i > 0 && row != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	for i, row := range rows {
		rows[i] = strings.TrimPrefix(row, strings.Repeat(" ", max(0, indent)))
	}
	return strings.Trim(strings.Join(rows, "\n"), "\n"), click
}

// Show marks what is selected in the lines of a picture.
func (s *Selection) Show(lines []string) {
	s.each(lines, func(y, from, to int) {
		marked := ansi.Strip(cut(lines[y], from, to))
		lines[y] = cut(lines[y], 0, from) + ansi.ResetStyle + "\x1b[7m" + marked + "\x1b[27m" + cut(lines[y], to, max(to, layout.Cells(lines[y])))
	})
}

// each visits the rows of what is selected, with the columns of each.
func (s *Selection) each(lines []string, visit func(y, from, to int)) {
	if !s.Any() {
		return
	}
	first, last := s.from, s.to
	if last.Y < first.Y || last.Y == first.Y && last.X < first.X {
		first, last = last, first
	}
	for y := max(0, first.Y); y <= min(last.Y, len(lines)-1); y++ {
		from, to := s.left, s.right
		if y == first.Y {
			from = max(from, first.X)
		}
		if y == last.Y {
			to = min(to, last.X+1)
		}
		visit(y, from, max(from, min(to, layout.Cells(lines[y]))))
	}
}

// cut is the cells of a line from one up to another. [ansi.Method.Cut] takes them
// from the wrong end where the terminal adds up characters.
func cut(line string, from, to int) string {
	return layout.Method().TruncateLeft(layout.Fit(line, to, ""), from, "")
}
