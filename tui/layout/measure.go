package layout

import (
	"strings"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"
)

// added says that the terminal adds up characters. A process has one terminal.
var added atomic.Bool

// ByCharacters takes up what is known of the terminal, and reports whether that is news.
func ByCharacters(on bool) (news bool) { return added.Swap(on) != on }

// Method is how the terminal gives room to text; clusters until told.
func Method() ansi.Method {
	if added.Load() {
		return ansi.WcWidth
	}
	return ansi.GraphemeWidth
}

// Cells is the width of a line in cells; escape sequences take none.
func Cells(line string) int {
	if Plain(line) {
		return len(line)
	}
	return Method().StringWidth(line)
}

// Plain reports whether each byte of text takes one cell.
func Plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// First returns the cluster that a text begins with, and its cells.
func First(text string) (cluster string, cells int) {
	return ansi.FirstGraphemeCluster(text, Method())
}

// next returns the escape sequence or the cluster that a text begins with, and
// its cells.
func next(text string) (piece string, cells int) {
	switch c := text[0]; {
	case c < ' ' || c == 0x7f:
		piece, _, _, _ = ansi.DecodeSequence(text, ansi.NormalState, nil)
		return piece, 0
	case c < 0x7f && (len(text) == 1 || text[1] < 0x80):
		return text[:1], 1
	}
	return First(text)
}

// Fit cuts a line to so many cells, with tail at its end if it was longer. What
// stands there of escape sequences stays.
func Fit(line string, most int, tail string) string {
	if Cells(line) <= most {
		return line
	}
	var out strings.Builder
	room, cut := most-Cells(tail), false
	for line != "" {
		piece, cells := next(line)
		line = line[len(piece):]
		if !cut && cells > room {
			cut = true
			if Cells(tail) <= most {
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

// Lines breaks a text after so many cells, wherever that is, and at its line ends.
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
