package layout

import (
	"strings"

	"lifehub/tui/measure"
)

// Edge is the upper or lower line of a frame so many cells wide, between its two
// corners, with a text at each end. The right text is left out where there is no
// room for both, the left one is cut.
func Edge(from, left, right, to string, width int, border func(...string) string) string {
	room := width - 2 // between the corners
	if right != "" && measure.Cells(left)+measure.Cells(right)+6 > room {
		right = ""
	}
	if left != "" {
		left = " " + measure.Fit(left, max(0, room-2), "…") + " "
	}
	if right != "" {
		right = " " + right + " " + border("─")
	}
	return border(from) + left + border(strings.Repeat("─", max(0, room-measure.Cells(left)-measure.Cells(right)))) + right + border(to)
}
