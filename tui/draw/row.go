package draw

import (
	"strings"

	"lifehub/tui/safetext"
)

// Row is a line of a list: what it is, and what is to know of it.
type Row struct{ Label, Detail string }

// View is the row with its detail at the end of the line.
func (r Row) View(chosen bool, width int, theme *Theme) string {
	if r.Detail != "" {
		width = min(width, Readable) // the ends of a longer row are hard to bring together
	}
	label, mark := safetext.Line(r.Label), "  "
	detail := theme.Dim.Render(Truncate(safetext.Line(r.Detail), width*2/3))
	label = Truncate(label, max(10, width-4-Width(detail)))
	if chosen {
		mark, label = theme.Selected.Render("› "), theme.Selected.Render(label)
	}
	return Justify(mark+label, detail, width)
}

// Beside is the row with its detail in its own column, right next to the
// labels.
func (r Row) Beside(chosen bool, column, width int, theme *Theme) string {
	label, mark := Truncate(safetext.Line(r.Label), column), "  "
	gap := strings.Repeat(" ", max(0, column-Width(label))+2)
	if chosen {
		mark, label = theme.Selected.Render("› "), theme.Selected.Render(label)
	}
	return Truncate(mark+label+gap+theme.Dim.Render(safetext.Line(r.Detail)), width)
}
