package markdown

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/safetext"
)

// tabStop is the width of a tab in columns, as Markdown counts it.
const tabStop = 4

// maxMarks is the most bytes that the marks of quotations, items and footnotes
// take in one line: each up to three blanks, nine digits, a point, four blanks
// and a box, or a label of 30.
const maxMarks = maxDepth * 36

// input cleans what has arrived and hands it on, line by line.
func (s *Stream) input() {
	arrived := s.source.String()[s.read:]
	n := len(arrived)
	if !s.closed {
		n = safetext.Cut(arrived)
	}
	s.read += n
	text := safetext.Source(arrived[:n])
	for text != "" {
		line, rest, complete := strings.Cut(text, "\n")
		s.pending += s.expand(line)
		if complete || !s.closed {
			s.take(complete)
		}
		text = rest
	}
	if s.closed && (s.pending != "" || s.middle) {
		s.take(true)
	}
}

// expand makes blanks of tabs.
func (s *Stream) expand(text string) string {
	for {
		i := strings.IndexByte(text, '\t')
		if i < 0 {
			s.column += utf8.RuneCountInString(text)
			return text
		}
		column := s.column + utf8.RuneCountInString(text[:i])
		if from := s.codeColumn(); column >= from {
			column -= from
		}
		text = text[:i] + spaces(tabStop-column%tabStop) + text[i+1:]
	}
}

// codeColumn returns where the lines of the code under way begin: tabs in it
// count from there.
func (s *Stream) codeColumn() int {
	column := 0
	if s.code != nil {
		for _, c := range s.containers {
			if c.kind == quote {
				column += c.width
			}
			column += c.indent
		}
		column += s.code.indent
	}
	return column
}

// take hands the pending text to the blocks if it is a complete line, or sure
// to be what it seems whatever follows.
func (s *Stream) take(complete bool) {
	text := s.pending
	switch {
	case s.middle:
		s.more(text)
	case complete || s.sure(text):
		s.middle = !complete
		s.line(text)
	default:
		return
	}
	s.pending = ""
	if complete {
		s.endLine()
		s.middle, s.column = false, 0
	}
}

// more adds text to the line that a paragraph or code has begun to take.
func (s *Stream) more(text string) {
	switch {
	case s.paragraph != nil:
		s.paragraph.add(text)
	case s.code != nil:
		s.code.add(text)
	}
}

func (s *Stream) endLine() {
	if s.middle && s.code != nil {
		s.code.endLine()
	}
}

// tail returns what is known of the line under way and not yet drawn.
func (s *Stream) tail() string {
	tail := safetext.Line(s.source.String()[s.read:])
	return s.pending + strings.TrimSuffix(tail, " ")
}

// held reports whether the beginning of a line shows nothing yet, since it is
// all marks.
func (s *Stream) held(tail string) bool {
	_, rest := s.match(tail)
	if s.code != nil {
		return s.code.mayEnd(rest)
	}
	return strings.Trim(rest, "-=*_+#>|:`~.$\\ 0123456789") == ""
}

// sure reports whether the beginning of a line is text, or code, whatever its
// rest will be.
func (s *Stream) sure(line string) bool {
	matched, rest := s.match(line)
	if strings.TrimLeft(rest, " ") == "" {
		return false
	}
	if s.code != nil {
		return matched == len(s.containers) && s.code.sure(rest)
	}
	if s.table != nil {
		return len(rest) > maxRow
	}
	if len(rest) > maxMarks && len(strings.TrimLeft(rest[maxMarks:], " ")) > maxMarkup {
		return true // whatever containers it begins, more is left than can be a mark
	}
	return sureText(rest, s.paragraph != nil)
}

// sureText is sure for a line outside code and tables.
func sureText(line string, within bool) bool {
	body := strings.TrimLeft(line, " ")
	if body == "" {
		return false
	}
	if len(line)-len(body) > 3 {
		return true // code, or text within a paragraph
	}
	c := body[0]
	only := func(set string) bool { return strings.Trim(body, set) == "" }
	switch c {
	case '-', '*', '+':
		if len(body) > 1 && body[1] == ' ' && !only(string(c)+" ") {
			return sureText(strings.TrimPrefix(body[1:], " "), false)
		}
		return len(body) > 1 && body[1] != ' ' && !only("-|:* ")
	case '>':
		return sureText(strings.TrimPrefix(body[1:], " "), within)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		n := leading(body, digits)
		switch {
		case n > 9:
			return true
		case n == len(body) || n+1 == len(body) && (body[n] == '.' || body[n] == ')'):
			return false
		case (body[n] == '.' || body[n] == ')') && body[n+1] == ' ':
			return sureText(body[n+2:], false)
		}
		return true
	}
	if len(body) > maxMarkup {
		return true
	}
	switch c {
	case '_', '=':
		return !only(string(c) + " ")
	case '|', ':':
		return !only("-|: ")
	case '#':
		n := leading(body, "#")
		return n > 6 || n < len(body) && body[n] != ' '
	case '`', '~':
		n := leading(body, string(c))
		return n < len(body) && (n < 3 || c == '`' && strings.IndexByte(body[n:], '`') >= 0)
	case '<':
		return len(body) > 1 && !letterByte(body[1]) && strings.IndexByte("/!?", body[1]) < 0
	case '\\':
		return len(body) > 1 && body[1] != '['
	case '$':
		return len(body) > 1 && body[1] != '$'
	case '[':
		if label, n := footnoteLabel(body); n > 0 && label != "" && !within {
			return sureText(body[n:], false)
		}
		if checkbox(body) != "" {
			return sureText(body[len("[ ] "):], false)
		}
		i := strings.IndexByte(body, ']')
		return i >= 0 && i+1 < len(body) && body[i+1] != ':'
	}
	return true
}
