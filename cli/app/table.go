package app

import (
	"strings"

	"lifehub/tui/draw"
)

// Table formats rows in columns. The given number of columns after the first is aligned right, all
// others left.
func Table(rows [][]string, figures int) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], draw.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			blank := strings.Repeat(" ", widths[i]-draw.Width(cell))
			if cells[i] = cell + blank; i > 0 && i <= figures {
				cells[i] = blank + cell
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
	}
	return b.String()
}
