package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/draw"
	"lifehub/tui/layout"
)

// selection is the text that the mouse was dragged over: whole lines between the
// first cell and the last, within the columns and the rows where it began.
type selection struct {
	held        bool // the button is down
	from, to    tea.Position
	left, right int      // the columns it stays in
	top, bottom int      // and the rows
	lines       []string // lines of the frame without the selection
}

// Mouse handles an event of the mouse, with the arguments of Begin. When the button goes up it
// returns the results of End.
func (s *selection) Mouse(msg tea.MouseMsg, sidebar, width, height, top, bottom int, theme *draw.Theme) (text string, click bool) {
	at := tea.Position{X: msg.Mouse().X, Y: msg.Mouse().Y}
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		if *s = (selection{}); msg.Button == tea.MouseLeft {
			s.Begin(at, sidebar, width, height, top, bottom)
		}
	case tea.MouseMotionMsg:
		s.Drag(at)
	case tea.MouseReleaseMsg:
		return s.End(theme)
	}
	return "", false
}

// Begin begins a selection. It stays in the sidebar, which begins at a column, or left of it,
// and within rows top to bottom, if it begins there.
func (s *selection) Begin(at tea.Position, sidebar, width, height, top, bottom int) {
	if at.Y < top || at.Y >= bottom {
		top, bottom = 0, height
	}
	left, right := draw.ColumnOf(sidebar).Text, sidebar
	if at.X >= sidebar {
		left, right = sidebar, width
	}
	*s = selection{held: true, from: at, to: at, left: left, right: right, top: top, bottom: bottom}
}

// Drag extends the selection.
func (s *selection) Drag(at tea.Position) {
	if s.held {
		s.to = tea.Position{X: max(s.left, min(at.X, s.right-1)), Y: max(s.top, min(at.Y, s.bottom-1))}
	}
}

// Any reports whether something is selected.
func (s *selection) Any() bool { return s.to != s.from }

// End ends the drag and returns the selected text without frames and rules, with
// tabs between the cells of a table. If the mouse did not move, it is a click.
func (s *selection) End(theme *draw.Theme) (text string, click bool) {
	click, s.held = s.held && !s.Any(), false
	var rows []string
	s.each(s.lines, func(y, from, to int) {
		if row, ok := content(cut(s.lines[y], from, to), theme); ok {
			rows = append(rows, row)
		}
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

// content returns the text of a line without borders, which it recognises by the
// colours of the theme, so that the same characters in code are kept. A border
// between two texts separates cells of a table and becomes a tab. It reports false
// for the edge of a frame or a rule.
func content(line string, theme *draw.Theme) (text string, ok bool) {
	borders := map[string]bool{}
	for _, drawn := range []string{theme.Border.Render("│"), theme.Dim.Render("│"), theme.Markdown.Border.Paint("│")} {
		if on, _, styled := strings.Cut(drawn, "│"); styled && on != "" {
			borders[on] = true
		}
	}
	parts, look := []string{""}, ""
	for state := byte(0); line != ""; {
		piece, width, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		switch {
		case strings.HasPrefix(piece, "\x1b[") && strings.HasSuffix(piece, "m"):
			look = piece
		case width == 0:
		case borders[look] && strings.Contains("╭╰┼─", piece):
			if strings.TrimSpace(strings.Join(parts, "")) == "" {
				return "", false
			}
		case borders[look] && strings.Contains("│╮╯", piece):
			parts = append(parts, "")
		default:
			parts[len(parts)-1] += piece
		}
	}
	if len(parts) == 1 {
		return strings.TrimRight(parts[0], " "), true
	}
	if strings.TrimSpace(parts[0]) == "" { // a frame or the bar of a quotation: one blank is its padding
		parts[1] = strings.TrimPrefix(parts[1], " ")
		parts = parts[1:]
	}
	if strings.TrimSpace(parts[len(parts)-1]) == "" && len(parts) > 1 {
		parts = parts[:len(parts)-1]
	}
	if len(parts) > 1 { // a table
		for i, cell := range parts {
			parts[i] = strings.TrimSpace(cell)
		}
	}
	return strings.TrimRight(strings.Join(parts, "\t"), " "), true
}

// Show highlights the selection in the lines of a frame.
func (s *selection) Show(lines []string) {
	if !s.Any() {
		return
	}
	s.lines = slices.Clone(lines)
	s.each(lines, func(y, from, to int) {
		marked := ansi.Strip(cut(lines[y], from, to))
		lines[y] = cut(lines[y], 0, from) + ansi.ResetStyle + "\x1b[7m" + marked + "\x1b[27m" + cut(lines[y], to, max(to, layout.Cells(lines[y])))
	})
}

// each visits the rows of what is selected, with the columns of each.
func (s *selection) each(lines []string, visit func(y, from, to int)) {
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
