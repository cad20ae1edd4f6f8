package draw

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"lifehub/tui/safetext"
)

// Row is a line of a list: what it is, and what is to know of it.
type Row struct {
	Label, Detail string
	Typed         string // the list is filtered by it: its letters are marked
}

// Columns returns how wide the labels of a list are in lines of a width: as wide as
// the longest, as far as the details leave room, at least half of the line.
func Columns(rows []Row, width int) int {
	labels, details := 0, 0
	for _, r := range rows {
		if r.Detail != "" {
			details = max(details, Width(safetext.Line(r.Detail))+2)
		}
	}
	for _, r := range rows {
		if labels < width {
			labels = max(labels, Width(Summary(r.Label, width)))
		}
	}
	return max(1, min(labels, max(width/2, width-barSides-details)))
}

// barSides is how many cells of a line the bar of the selection takes.
const barSides = 4

// Bar puts the bar of the selection on a line: a mark at both ends, the shade of the
// theme between them, so many cells wide.
func Bar(line string, width int, theme *Theme) string {
	line = Truncate(line, max(0, width-barSides))
	line += strings.Repeat(" ", max(0, width-barSides-Width(line)))
	return Truncate(Shaded(theme.Selected.Render("▌")+" "+line+" "+theme.Selected.Render("▐"), width, theme), width)
}

// View is the row in a list whose labels have a column, in lines of a width. The
// chosen one has the bar, and its label whole where it fits the line.
func (r Row) View(chosen bool, column, width int, theme *Theme) string {
	style, marked := theme.Text, theme.Brand
	if chosen {
		style, marked = theme.Selected, theme.Selected.Underline(true)
		column = max(column, min(width-barSides, Width(Summary(r.Label, width))))
	}
	label, gap := Summary(r.Label, column), ""
	if r.Detail != "" {
		gap = strings.Repeat(" ", max(0, column-Width(label))+2)
	}
	line := r.marked(label, style, marked) + gap + theme.Dim.Render(safetext.Line(r.Detail))
	if chosen {
		return Bar(line, width, theme)
	}
	return Truncate("  "+line, width)
}

// Beside is the row with a text at its right in place of a detail.
func (r Row) Beside(chosen bool, right string, column, width int, theme *Theme) string {
	style, marked := theme.Text, theme.Brand
	if chosen {
		style, marked = theme.Selected, theme.Selected.Underline(true)
	}
	label := Truncate(safetext.Line(r.Label), column)
	line := r.marked(label, style, marked) + strings.Repeat(" ", max(0, column-Width(label))+2) + right
	if chosen {
		return Bar(line, width, theme)
	}
	return Truncate("  "+line, width)
}

// marked is a label with the letters that fit what is typed marked, unless some of
// them share a cell with others.
func (r Row) marked(label string, style, marked lipgloss.Style) string {
	if Blank(r.Typed) || Width(label) != utf8.RuneCountInString(label) {
		return style.Render(label)
	}
	var shown strings.Builder
	from := 0
	at := Matched(label, r.Typed)
	for i := 0; i < len(at); {
		n := 1
		for i+n < len(at) && at[i+n] == at[i]+n {
			n++
		}
		shown.WriteString(style.Render(label[from:at[i]]) + marked.Render(label[at[i]:at[i]+n]))
		from = at[i] + n
		i += n
	}
	return shown.String() + style.Render(label[from:])
}
