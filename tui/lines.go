package tui

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/measure"
	"lifehub/tui/safetext"
)

// cells is how many columns of the screen a line takes.
func cells(line string) int { return measure.Cells(line) }

// wrapped breaks safe text into lines of a width, with the first after a head
// and the others as far in.
func wrapped(head, text string, width int) []string {
	indent := cells(head)
	if indent >= width {
		indent, head = 0, ""
	}
	lines := broken(text, width-indent)
	pad := strings.Repeat(" ", indent)
	for i := range lines {
		lines[i] = pad + lines[i]
	}
	lines[0] = head + lines[0][len(pad):]
	return lines
}

// broken breaks text between words into lines of a width, at least one cell,
// and within a word where it is too long. [ansi.Method.Wrap] alone lets lines of
// single hyphens grow without end.
func broken(text string, width int) []string {
	width = max(1, width)
	if !strings.Contains(text, "\n") && cells(text) <= width {
		return []string{text}
	}
	var lines []string
	for _, line := range strings.Split(measure.Method().Wrap(text, width, ""), "\n") {
		lines = append(lines, measure.Lines(line, width)...)
	}
	return lines
}

// letters tells whether each byte of text takes one cell.
func letters(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// fit cuts a styled line to a width, saying so with an ellipsis.
func fit(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return measure.Fit(line, width, "…")
}

// gist is what fits of foreign text on one line. A question can be a megabyte
// and is drawn with each frame, so no more of it is read than 64 bytes a cell.
func gist(text string, width int) string {
	if most := 64 * max(width, 0); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return fit(safetext.Line(text), width)
}

// spread puts one text at the left end and another at the right end of a line.
// When both do not fit, the right one goes.
func spread(left, right string, width int) string {
	gap := width - cells(left) - cells(right)
	if right == "" || gap < 1 {
		return fit(left, width)
	}
	return left + strings.Repeat(" ", gap) + right
}

// joined sets parts side by side, in as many lines as the width asks for.
func joined(parts []string, width int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case cells(line+" · "+part) <= width:
			line += " · " + part
		default:
			lines = append(lines, fit(line, width))
			line = part
		}
	}
	return append(lines, fit(line, width))
}

// filled cuts or fills up lines to a height.
func filled(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:max(0, height)]
}

// styled puts each line into a style.
func styled(style func(...string) string, lines []string) []string {
	for i, line := range lines {
		lines[i] = style(line)
	}
	return lines
}

// fitting returns how many bytes of text fit into a width.
func fitting(text string, width int) int {
	if letters(text[:min(len(text), width+1)]) {
		return min(len(text), width)
	}
	return len(measure.Fit(text, width, ""))
}

// entire breaks a line of safe text between words where that is near, and
// within them elsewhere. Nothing is left out: the lines joined are the text.
func entire(text string, width int) []string {
	width = max(1, width)
	var lines []string
	for text != "" {
		n := len(text)
		if most := 64 * width; n > most { // so much of a long text is enough for a line
			for n = most; n > 1 && !utf8.RuneStart(text[n]); n-- {
			}
		}
		if cut := fitting(text[:n], width); cut < n {
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
