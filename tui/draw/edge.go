package draw

import (
	"strings"
)

// Edge returns the upper or lower line of a frame, width cells wide, between two corners and with a
// text at each end. If the texts do not both fit, the right one is omitted; the left one is cut if
// necessary.
func Edge(from, left, right, to string, width int, border func(...string) string) string {
	room := width - 2 // between the corners
	if right != "" && Width(left)+Width(right)+6 > room {
		right = ""
	}
	if left != "" {
		left = " " + Fit(left, max(0, room-2), "…") + " "
	}
	on, off, _ := strings.Cut(border("─"), "─") // render the style once, because lipgloss measures all it renders
	if right != "" {
		right = " " + right + " " + on + "─" + off
	}
	rule := strings.Repeat("─", max(0, room-Width(left)-Width(right)))
	if rule != "" {
		rule = on + rule + off
	}
	return on + from + off + left + rule + right + on + to + off
}
