package layout

import (
	"strings"
)

// Edge is the upper or lower line of a frame so many cells wide, between its two
// corners, with a text at each end. The right text is left out where there is no
// room for both, the left one is cut.
func Edge(from, left, right, to string, width int, border func(...string) string) string {
	room := width - 2 // between the corners
	if right != "" && Cells(left)+Cells(right)+6 > room {
		right = ""
	}
	if left != "" {
		left = " " + Fit(left, max(0, room-2), "…") + " "
	}
	on, off, _ := strings.Cut(border("─"), "─") // a style measures all that it renders
	if right != "" {
		right = " " + right + " " + on + "─" + off
	}
	rule := strings.Repeat("─", max(0, room-Cells(left)-Cells(right)))
	if rule != "" {
		rule = on + rule + off
	}
	return on + from + off + left + rule + right + on + to + off
}
