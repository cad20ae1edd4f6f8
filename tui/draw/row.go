package draw

import (
	"strings"

	"lifehub/tui/safetext"
)

// Row is a line of a list: what it is, and what is to know of it.
type Row struct{ Label, Detail string }

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

// View is the row in a list whose labels have a column.
func (r Row) View(chosen bool, column, width int, theme *Theme) string {
	label, mark := Summary(r.Label, column), "  "
	gap := ""
	if r.Detail != "" {
		gap = strings.Repeat(" ", max(0, column-Width(label))+2)
	}
	if chosen {
		mark, label = theme.Selected.Render("› "), theme.Selected.Render(label)
	}
	return Truncate(mark+label+gap+theme.Dim.Render(safetext.Line(r.Detail)), width)
}
