package draw

import (
	"strings"

	"lifehub/tui/safetext"
)

// Row is a line of a list: what it is, and what is to know of it.
type Row struct{ Label, Detail string }

// View is the row with its detail at the end of the line.
func (r Row) View(chosen bool, width int, look *Theme) string {
	if r.Detail != "" {
		width = min(width, Readable) // the ends of a longer row are hard to bring together
	}
	label, mark := safetext.Line(r.Label), "  "
	detail := look.Dim.Render(Fit(safetext.Line(r.Detail), width*2/3))
	label = Fit(label, max(10, width-4-Cells(detail)))
	if chosen {
		mark, label = look.Selected.Render("› "), look.Selected.Render(label)
	}
	return Spread(mark+label, detail, width)
}

// Beside is the row with its detail in its own column, right next to the
// labels.
func (r Row) Beside(chosen bool, column, width int, look *Theme) string {
	label, mark := Fit(safetext.Line(r.Label), column), "  "
	gap := strings.Repeat(" ", max(0, column-Cells(label))+2)
	if chosen {
		mark, label = look.Selected.Render("› "), look.Selected.Render(label)
	}
	return Fit(mark+label+gap+look.Dim.Render(safetext.Line(r.Detail)), width)
}
