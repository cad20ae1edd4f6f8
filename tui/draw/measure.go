package draw

import (
	"strings"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"
)

// added reports that the terminal adds up the widths of characters in a grapheme. It is global
// because a process has one terminal.
var added atomic.Bool

// ByCharacters sets whether the terminal adds up the widths of characters in a grapheme, and
// reports whether that changed.
func ByCharacters(on bool) (news bool) { return added.Swap(on) != on }

// Method returns how the terminal measures text. The default is by grapheme cluster.
func Method() ansi.Method {
	if added.Load() {
		return ansi.WcWidth
	}
	return ansi.GraphemeWidth
}

// Width returns the width of a line in cells, not counting escape sequences.
func Width(line string) int {
	if plain(line) {
		return len(line)
	}
	return Method().StringWidth(line)
}

// plain reports whether each byte of text takes one cell.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// next returns the escape sequence or grapheme cluster that text begins with, and its width in
// cells.
func next(text string) (piece string, cells int) {
	switch c := text[0]; {
	case c < ' ' || c == 0x7f:
		piece, _, _, _ = ansi.DecodeSequence(text, ansi.NormalState, nil)
		return piece, 0
	case c < 0x7f && (len(text) == 1 || text[1] < 0x80):
		return text[:1], 1
	}
	return ansi.FirstGraphemeCluster(text, Method())
}

// Fit cuts a line to at most the given number of cells, ending with tail if it was longer. Escape
// sequences after the cut are kept.
func Fit(line string, most int, tail string) string {
	if Width(line) <= most {
		return line
	}
	var out strings.Builder
	room, cut := most-Width(tail), false
	for line != "" {
		piece, cells := next(line)
		line = line[len(piece):]
		if !cut && cells > room {
			cut = true
			if Width(tail) <= most {
				out.WriteString(tail)
			}
		}
		if !cut || cells == 0 && piece[0] == 0x1b {
			out.WriteString(piece)
			room -= cells
		}
	}
	return out.String()
}

// Lines breaks text at line ends and wherever a line would exceed the given number of cells.
func Lines(text string, most int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		start, column := 0, 0
		for at := 0; at < len(line); {
			piece, cells := next(line[at:])
			if column+cells > most && column > 0 {
				lines = append(lines, line[start:at])
				start, column = at, 0
			}
			column += cells
			at += len(piece)
		}
		lines = append(lines, line[start:])
	}
	return lines
}
