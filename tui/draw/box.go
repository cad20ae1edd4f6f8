package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Box is the frame of dialogs, panels and lists: a rounded border with a title and a
// count in the upper edge, keys and figures in the lower one. The texts may be styled.
// If space is short, they are omitted from the right; the title is truncated last.
type Box struct {
	Title   string // upper edge, left
	Count   string // upper edge, right, such as "3 of 34"
	Keys    string // lower edge, left
	Figures string // lower edge, right
	Border  lipgloss.Style
}

// BoxSides is the number of cells that both sides of a box take.
const BoxSides = 4

// View draws the box around lines, which may be width - BoxSides cells wide. Each
// line of the result is exactly width cells wide.
func (b Box) View(lines []string, width int) []string {
	inside := max(1, width-BoxSides)
	side := b.Border.Render("│")
	out := make([]string, 0, len(lines)+2)
	out = append(out, Edge("╭", b.Title, b.Count, "╮", width, b.Border.Render))
	for _, line := range lines {
		line = Truncate(line, inside)
		out = append(out, side+" "+line+strings.Repeat(" ", max(0, inside-Width(line)))+" "+side)
	}
	return append(out, Edge("╰", b.Keys, b.Figures, "╯", width, b.Border.Render))
}

// Over draws a box over the lines of a screen of the given width. All lines of the
// box are as wide as the first; its upper left corner is at column x of line y.
func Over(lines, box []string, x, y, width int) []string {
	for i, line := range box {
		if y+i < 0 || y+i >= len(lines) {
			continue
		}
		under := lines[y+i]
		left := Fit(under, x, "")
		left += ansi.ResetStyle + strings.Repeat(" ", max(0, x-Width(left)))
		right := ""
		if end := x + Width(line); end < width {
			right = Method().TruncateLeft(under, end, "")
			if Width(right) > max(0, Width(under)-end) { // a wide character begins under the box
				right = " " + Method().TruncateLeft(under, end+1, "")
			}
		}
		lines[y+i] = left + line + right
	}
	return lines
}

// Dimmed returns lines as they look behind a box.
func Dimmed(lines []string, theme *Theme) []string {
	behind := theme.Border
	if theme.Shade.GetBackground() == (lipgloss.NoColor{}) { // without a shade, borders are bright
		behind = theme.Dim.Faint(true)
	}
	on, off, _ := strings.Cut(behind.Render("x"), "x") // once, since they are drawn with each frame
	for i, line := range lines {
		if line = strings.TrimRight(ansi.Strip(line), " "); line != "" {
			line = on + line + off
		}
		lines[i] = line
	}
	return lines
}

// Shaded returns a styled line with the shaded background, filled to a width. If the
// theme has no shade, the line is unchanged.
func Shaded(line string, width int, theme *Theme) string { return on(theme.Shade, line, width) }

// Grounded paints the background of the theme behind the lines of a screen of the
// given width, if the theme paints one.
func Grounded(lines []string, width int, theme *Theme) {
	for i, line := range lines {
		lines[i] = on(theme.Ground, line, width)
	}
}

// on returns a styled line with the background of a style, if there is one.
func on(style lipgloss.Style, line string, width int) string {
	if style.GetBackground() == (lipgloss.NoColor{}) {
		return line
	}
	begin, _, _ := strings.Cut(style.Render("x"), "x")
	line += strings.Repeat(" ", max(0, width-Width(line)))
	return begin + under(line, begin) + ansi.ResetStyle
}

// UpperHalf returns cells whose upper half is shaded, as the edge below a shaded
// block; "" if the theme has no shade.
func UpperHalf(width int, theme *Theme) string {
	background := theme.Shade.GetBackground()
	if background == (lipgloss.NoColor{}) {
		return ""
	}
	return lipgloss.NewStyle().Foreground(background).Render(strings.Repeat("▀", max(0, width)))
}
