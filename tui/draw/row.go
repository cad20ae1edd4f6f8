package draw

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"lifehub/tui/fuzzy"
	"lifehub/tui/safetext"
)

// Row is a line of a list: what it is, and what is to know of it.
type Row struct {
	Label, Detail string
	Typed         string // the list is filtered by it: its letters are marked
}

// Columns are how wide the labels of a list are in lines of a width, and its rows
// in all: as wide as they ask for, the labels as the details leave, at least half
// of it.
func Columns(rows []Row, width int) (label, all int) {
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
	label = max(1, min(labels, max(width/2, width-2-details)))
	return label, min(width, 2+label+details)
}

// View is the row in a list whose labels have a column. The label of the chosen
// one is whole where it fits the line.
func (r Row) View(chosen bool, column, width int, theme *Theme) string {
	style, marked, mark := theme.Text, theme.Brand, "  "
	if chosen {
		style, marked, mark = theme.Selected, theme.Selected.Underline(true), theme.Selected.Render("› ")
		column = max(column, min(width-2, Width(Summary(r.Label, width))))
	}
	label, gap := Summary(r.Label, column), ""
	if r.Detail != "" {
		gap = strings.Repeat(" ", max(0, column-Width(label))+2)
	}
	return Truncate(mark+r.marked(label, style, marked)+gap+theme.Dim.Render(safetext.Line(r.Detail)), width)
}

// marked is a label with the letters that fit what is typed marked, unless some of
// them share a cell with others.
func (r Row) marked(label string, style, marked lipgloss.Style) string {
	if Blank(r.Typed) || Width(label) != utf8.RuneCountInString(label) {
		return style.Render(label)
	}
	var shown strings.Builder
	from := 0
	at := fuzzy.Marks(label, r.Typed)
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
