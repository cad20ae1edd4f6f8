// Package draw has what all parts of the screen share: colours by meaning, lines of a given width, boxes and lists,
// formatted numbers and times, and Markdown: complete documents such as notes ([ParseDocument]), and answers while they
// arrive ([MarkdownStream]).
package draw

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/safetext"
)

// Hang wraps safe text. The first line follows head; the others are indented to the
// same column.
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

// Wrap wraps text at words, and within words that are wider than a line; the width is
// at least one cell. [ansi.Method.Wrap] alone would return too long lines for runs of
// hyphens.
func Wrap(text string, width int) []string {
	width = max(1, width)
	if !strings.Contains(text, "\n") && Width(text) <= width {
		return []string{text}
	}
	var lines []string
	whole := inDates.ReplaceAllString(text, unbroken+"$1")
	for _, line := range strings.Split(strings.ReplaceAll(Method().Wrap(whole, width, ""), unbroken, "-"), "\n") {
		lines = append(lines, Lines(line, width)...)
	}
	return lines
}

// inDates matches a hyphen before a digit, as in dates and names of files. A line is not broken behind it, which
// [ansi.Method.Wrap] would: there, unbroken stands for it.
var inDates = regexp.MustCompile(`-(\d)`)

const unbroken = "\u2011" // non-breaking hyphen, as wide

// Truncate truncates a styled line to a width, with an ellipsis.
func Truncate(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return Fit(line, width, "…")
}

// Summary returns the beginning of untrusted text on one line. A question can be a
// megabyte and is drawn with each frame, so it reads at most 64 bytes per cell.
func Summary(text string, width int) string {
	if most := 64 * max(width, 0); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return Truncate(safetext.Line(text), width)
}

// Justify returns a line with one text at the left and one at the right. If both do
// not fit, the right one is omitted.
func Justify(left, right string, width int) string {
	gap := width - Width(left) - Width(right)
	if right == "" || gap < 1 {
		return Truncate(left, width)
	}
	return left + strings.Repeat(" ", gap) + right
}

// Flow puts parts side by side, on as many lines as necessary.
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

// Hints joins the keys of a frame that fit into a width. The last one, which closes
// the frame, is omitted last.
func Hints(hints []string, width int) string {
	for len(hints) > 1 && Width(strings.Join(hints, " · ")) > width {
		hints = append(hints[:len(hints)-2:len(hints)-2], hints[len(hints)-1])
	}
	return strings.Join(hints, " · ")
}

// PadHeight truncates or fills lines to a height.
func PadHeight(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:max(0, height)]
}

// StyleLines applies a style to each line.
func StyleLines(style func(...string) string, lines []string) []string {
	for i, line := range lines {
		lines[i] = style(line)
	}
	return lines
}

// bytesThatFit returns the number of bytes of text that fit into a width.
func bytesThatFit(text string, width int) int {
	if plain(text[:min(len(text), width+1)]) {
		return min(len(text), width)
	}
	return len(Fit(text, width, ""))
}

// WrapExact wraps safe text at words if possible, otherwise within words. The lines
// joined are exactly the text.
func WrapExact(text string, width int) []string {
	width = max(1, width)
	var lines []string
	for text != "" {
		n := len(text)
		if most := 64 * width; n > most { // enough text for a line
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

// Marked applies a style to a range of cells of a styled line.
func Marked(line string, from, to int, style lipgloss.Style) string {
	on, _, _ := strings.Cut(style.Render("x"), "x")
	before, rest := Fit(line, from, ""), Method().TruncateLeft(line, from, "")
	inside, after := Fit(rest, to-from, ""), Method().TruncateLeft(rest, to-from, "")
	return before + on + under(inside, on) + ansi.ResetStyle + after
}

// under returns a styled line on top of a style, which its resets restore.
func under(line, on string) string {
	for _, reset := range []string{ansi.ResetStyle, "\x1b[0m"} {
		line = strings.ReplaceAll(line, reset, reset+on)
	}
	return line
}

// Unstyled is a style function that changes nothing.
func Unstyled(parts ...string) string { return strings.Join(parts, "") }

// Readable is the maximum width of text in cells; longer lines are hard to read.
const Readable = 110

const (
	Gutter = 2  // blank cells at the left and right edge of the window
	Inset  = 2  // cells before the text of a column: a bar and a blank
	Narrow = 24 // window width below which there is no gutter
)

// Column is the centred text column of a window. Blocks and dialogs extend from Left
// to Right. Text begins at Text, after the bar of a block, and ends at Right.
type Column struct{ Left, Text, Right int }

// ColumnOf returns the column of a window.
func ColumnOf(width int) Column {
	if width < Narrow {
		return Column{Left: 0, Text: min(Inset, max(0, width-1)), Right: max(1, width)}
	}
	wide := min(width-2*Gutter, Inset+Readable)
	left := (width - wide) / 2
	return Column{Left: left, Text: left + Inset, Right: left + wide}
}

// Width returns the width of blocks and dialogs.
func (c Column) Width() int { return c.Right - c.Left }

// TextWidth returns the maximum width of lines of text.
func (c Column) TextWidth() int { return c.Right - c.Text }
