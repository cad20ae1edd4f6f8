package markdown

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
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
		text = text[:i] + layout.Spaces(tabStop-column%tabStop) + text[i+1:]
	}
}

// codeColumn returns where the lines of the open code begin: tabs in it
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
		if s.middle && s.code != nil {
			s.code.endLine()
		}
		s.middle, s.column = false, 0
		s.row++
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

// tail returns what is known of the current line and not yet drawn.
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
	mark, _, _ := listMark(body)
	label, note := footnoteLabel(body)
	switch n := leading(body, digits); {
	case strings.Contains("-*_", body[:1]) && strings.Trim(body, body[:1]+" ") == "":
		return false // perhaps a line across, whatever else its marks may begin
	case body[0] == '>':
		return sureText(strings.TrimPrefix(body[1:], " "), within)
	case mark > 0:
		return mark < len(body) && sureText(body[mark+1:], false)
	case label != "" && !within:
		return sureText(body[note:], false)
	case checkbox(body) != "":
		return sureText(body[len("[ ] "):], false)
	case n > 0: // a number, perhaps of an item
		return n > 9 || n < len(body) && body[n] != '.' && body[n] != ')' || n+1 < len(body)
	case len(body) > maxMarkup:
		return true // in its containers, a line is longer than any mark
	}
	switch c := body[0]; c {
	case '-', '+', '*', '_', '=', '|', ':': // a rule, the line under a title or a table's head
		return strings.Trim(body, "-+*_=|: ") != ""
	case '#', '<', '\\', '$':
		return false
	case '`', '~':
		n := leading(body, body[:1])
		return n < len(body) && n < 3
	case '[':
		i := strings.IndexByte(body, ']')
		return i >= 0 && i+1 < len(body) && body[i+1] != ':'
	}
	return true
}
