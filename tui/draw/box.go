package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/layout"
)

// Box is the one frame of the screen: a rounded border with a title and a count in
// its upper edge, keys and figures in its lower one. Its texts may be styled; what
// has no room is left out from the right, the title is cut last.
type Box struct {
	Title   string // in the upper edge, at the left
	Count   string // in the upper edge, at the right: "3 of 34"
	Keys    string // in the lower edge, at the left
	Figures string // in the lower edge, at the right
	Border  lipgloss.Style
}

// BoxSides is how many cells of a width the sides of a box take.
const BoxSides = 4

// View puts the box around lines: each line it returns is exactly width cells
// wide, of which the inside has width - BoxSides.
func (b Box) View(lines []string, width int) []string {
	inside := max(1, width-BoxSides)
	side := b.Border.Render("│")
	out := make([]string, 0, len(lines)+2)
	out = append(out, layout.Edge("╭", b.Title, b.Count, "╮", width, b.Border.Render))
	for _, line := range lines {
		line = Truncate(line, inside)
		out = append(out, side+" "+line+strings.Repeat(" ", max(0, inside-Width(line)))+" "+side)
	}
	return append(out, layout.Edge("╰", b.Keys, b.Figures, "╯", width, b.Border.Render))
}

// Over lays the lines of a box, each as wide as the first, over lines of a screen
// so many cells wide: its upper left corner stands at column x of line y.
func Over(lines, box []string, x, y, width int) []string {
	for i, line := range box {
		if y+i < 0 || y+i >= len(lines) {
			continue
		}
		under := lines[y+i]
		left := layout.Fit(under, x, "")
		left += ansi.ResetStyle + strings.Repeat(" ", max(0, x-Width(left)))
		right := ""
		if end := x + Width(line); end < width {
			right = layout.Method().TruncateLeft(under, end, "")
			if Width(right) > max(0, Width(under)-end) { // a wide character begins under the box
				right = " " + layout.Method().TruncateLeft(under, end+1, "")
			}
		}
		lines[y+i] = left + line + right
	}
	return lines
}

// Dimmed are lines as they look behind a box.
func Dimmed(lines []string, theme *Theme) []string {
	behind := theme.Border
	if theme.Shade.GetBackground() == (lipgloss.NoColor{}) { // its borders are bright
		behind = theme.Dim.Faint(true)
	}
	on, off, _ := strings.Cut(behind.Render("x"), "x") // once: they are drawn with each frame
	for i, line := range lines {
		if line = strings.TrimRight(ansi.Strip(line), " "); line != "" {
			line = on + line + off
		}
		lines[i] = line
	}
	return lines
}

// Shaded puts a styled line on the shade of the theme, as wide as said. Where the
// theme has none the line stays as it is.
func Shaded(line string, width int, theme *Theme) string { return on(theme.Shade, line, width) }

// Grounded puts the styled lines of a screen so many cells wide on the ground of
// the theme, if it paints one.
func Grounded(lines []string, width int, theme *Theme) {
	for i, line := range lines {
		lines[i] = on(theme.Ground, line, width)
	}
}

// on puts a styled line on the background of a style, if it has one.
func on(style lipgloss.Style, line string, width int) string {
	if style.GetBackground() == (lipgloss.NoColor{}) {
		return line
	}
	begin, _, _ := strings.Cut(style.Render("x"), "x")
	line += strings.Repeat(" ", max(0, width-Width(line)))
	return begin + under(line, begin) + ansi.ResetStyle
}

// UpperHalf is so many cells whose upper half has the shade of the theme: the edge
// below a shaded block. Where the theme has no shade it is "".
func UpperHalf(width int, theme *Theme) string {
	background := theme.Shade.GetBackground()
	if background == (lipgloss.NoColor{}) {
		return ""
	}
	return lipgloss.NewStyle().Foreground(background).Render(strings.Repeat("▀", max(0, width)))
}
