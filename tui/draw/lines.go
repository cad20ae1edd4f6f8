// Package draw is what every part of the screen draws with: colours by meaning,
// lines fitted to a width, numbers and times in words.
package draw

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

// Width is how many columns of the screen a line takes.
func Width(line string) int { return layout.Cells(line) }

// Hang breaks safe text into lines of a width, with the first after a head
// and the others as far in.
func Hang(head, text string, width int) []string {
	indent := Width(head)
	if indent >= width {
		indent, head = 0, ""
	}
	lines := Wrap(text, width-indent)
	pad := strings.Repeat(" ", indent)
	for i := range lines {
		lines[i] = pad + lines[i]
	}
	lines[0] = head + lines[0][len(pad):]
	return lines
}

// Wrap breaks text between words into lines of a width, at least one cell,
// and within a word where it is too long. [ansi.Method.Wrap] alone lets lines of
// single hyphens grow without end.
func Wrap(text string, width int) []string {
	width = max(1, width)
	if !strings.Contains(text, "\n") && Width(text) <= width {
		return []string{text}
	}
	var lines []string
	for _, line := range strings.Split(layout.Method().Wrap(text, width, ""), "\n") {
		lines = append(lines, layout.Lines(line, width)...)
	}
	return lines
}

// Truncate cuts a styled line to a width, saying so with an ellipsis.
func Truncate(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return layout.Fit(line, width, "…")
}

// Summary is what fits of untrusted text on one line. A question can be a megabyte
// and is drawn with each frame, so no more of it is read than 64 bytes a cell.
func Summary(text string, width int) string {
	if most := 64 * max(width, 0); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return Truncate(safetext.Line(text), width)
}

// Justify puts one text at the left end and another at the right end of a line.
// When both do not fit, the right one goes.
func Justify(left, right string, width int) string {
	gap := width - Width(left) - Width(right)
	if right == "" || gap < 1 {
		return Truncate(left, width)
	}
	return left + strings.Repeat(" ", gap) + right
}

// Flow sets parts side by side, in as many lines as the width asks for.
func Flow(parts []string, width int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case Width(line+" · "+part) <= width:
			line += " · " + part
		default:
			lines = append(lines, Truncate(line, width))
			line = part
		}
	}
	return append(lines, Truncate(line, width))
}

// Hints are the keys of a frame, as many as fit into a width. The last one, which
// closes it, goes last.
func Hints(hints []string, width int) string {
	for len(hints) > 1 && Width(strings.Join(hints, " · ")) > width {
		hints = append(hints[:len(hints)-2:len(hints)-2], hints[len(hints)-1])
	}
	return strings.Join(hints, " · ")
}

// PadHeight cuts or fills up lines to a height.
func PadHeight(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:max(0, height)]
}

// StyleLines puts each line into a style.
func StyleLines(style func(...string) string, lines []string) []string {
	for i, line := range lines {
		lines[i] = style(line)
	}
	return lines
}

// bytesThatFit returns how many bytes of text fit into a width.
func bytesThatFit(text string, width int) int {
	if layout.Plain(text[:min(len(text), width+1)]) {
		return min(len(text), width)
	}
	return len(layout.Fit(text, width, ""))
}

// WrapExact breaks a line of safe text between words where that is near, and
// within them elsewhere. Nothing is left out: the lines joined are the text.
func WrapExact(text string, width int) []string {
	width = max(1, width)
	var lines []string
	for text != "" {
		n := len(text)
		if most := 64 * width; n > most { // so much of a long text is enough for a line
			for n = most; n > 1 && !utf8.RuneStart(text[n]); n-- {
			}
		}
		if cut := bytesThatFit(text[:n], width); cut < n {
			n = cut
			if blank := strings.LastIndexByte(text[:cut], ' ') + 1; text[cut] != ' ' && blank > cut*2/3 {
				n = blank
			}
		}
		if n == 0 { // wider than the line
			_, n = utf8.DecodeRuneInString(text)
		}
		lines = append(lines, text[:n])
		text = text[n:]
	}
	return append(lines, make([]string, max(0, 1-len(lines)))...)
}

// Marked puts the cells of a styled line from one up to another into a style.
func Marked(line string, from, to int, style lipgloss.Style) string {
	on, _, _ := strings.Cut(style.Render("x"), "x")
	before, rest := layout.Fit(line, from, ""), layout.Method().TruncateLeft(line, from, "")
	inside, after := layout.Fit(rest, to-from, ""), layout.Method().TruncateLeft(rest, to-from, "")
	return before + on + under(inside, on) + ansi.ResetStyle + after
}

// under is a styled line on top of a style: what it resets stays in that.
func under(line, on string) string {
	for _, reset := range []string{ansi.ResetStyle, "\x1b[0m"} {
		line = strings.ReplaceAll(line, reset, reset+on)
	}
	return line
}

// Unstyled is the style of text that has none.
func Unstyled(parts ...string) string { return strings.Join(parts, "") }

// Readable is the widest line of text, in cells: longer ones are hard to read.
const Readable = 110

const (
	Gutter = 2  // cells that stay blank at the left and at the right of everything
	Inset  = 2  // cells of a column before its text: a bar, and a blank
	Narrow = 24 // the width of a window below which there is no gutter
)

// Column is the text column of a window, in the middle of it. Blocks and dialogs
// take it from Left to Right; text begins at Text, behind the bar that a block may
// have, and ends at Right.
type Column struct{ Left, Text, Right int }

// ColumnOf returns the column of a window of a width.
func ColumnOf(width int) Column {
	if width < Narrow {
		return Column{Left: 0, Text: min(Inset, max(0, width-1)), Right: max(1, width)}
	}
	wide := min(width-2*Gutter, Inset+Readable)
	left := (width - wide) / 2
	return Column{Left: left, Text: left + Inset, Right: left + wide}
}

// Width is how wide blocks and dialogs are.
func (c Column) Width() int { return c.Right - c.Left }

// TextWidth is how wide lines of text are at most.
func (c Column) TextWidth() int { return c.Right - c.Text }
