package markdown

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

// tabStop is the distance between tab stops, in columns, as in CommonMark.
const tabStop = 4

// maxMarks bounds the marks of quotations, items and footnotes in one line, in
// bytes. Each has up to three blanks, nine digits, a point, four blanks and a
// checkbox, or a label of 30 bytes.
const maxMarks = maxDepth * 36

// input sanitises the text that has arrived and parses it line by line.
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

// expand replaces tabs by blanks.
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

// codeColumn returns the column in which the lines of the open code begin, from
// which tab stops are counted; 0 if no code is open.
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

// take parses the pending text if it is a complete line, or if the rest of the
// line cannot change its meaning.
func (s *Stream) take(complete bool) {
	text := s.pending
	switch {
	case s.middle:
		s.more(text)
	case complete || s.isCertain(text):
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

// more adds text to a line that the open paragraph or code has begun.
func (s *Stream) more(text string) {
	switch {
	case s.paragraph != nil:
		s.paragraph.add(text)
	case s.code != nil:
		s.code.add(text)
	}
}

// tail returns the text of the current line that is not drawn yet.
func (s *Stream) tail() string {
	tail := safetext.Line(s.source.String()[s.read:])
	return s.pending + strings.TrimSuffix(tail, " ")
}

// held reports whether the beginning of a line consists of marks only, so that
// a preview shows nothing of it.
func (s *Stream) held(tail string) bool {
	_, rest := s.match(tail)
	if s.code != nil {
		return s.code.mayEnd(rest)
	}
	return strings.Trim(rest, "-=*_+#>|:`~.$\\ 0123456789") == ""
}

// isCertain reports whether the beginning of a line is text or code, whatever
// follows in the line.
func (s *Stream) isCertain(line string) bool {
	matched, rest := s.match(line)
	if strings.TrimLeft(rest, " ") == "" {
		return false
	}
	if s.code != nil {
		return matched == len(s.containers) && s.code.isCertain(rest)
	}
	if s.table != nil {
		return len(rest) > maxRow
	}
	if len(rest) > maxMarks && len(strings.TrimLeft(rest[maxMarks:], " ")) > maxMarkup {
		return true // too long for a mark, in whatever containers
	}
	return isText(rest, s.paragraph != nil)
}

// isText is isCertain for a line outside code and tables.
func isText(line string, within bool) bool {
	body := strings.TrimLeft(line, " ")
	if body == "" {
		return false
	}
	if len(line)-len(body) > 3 {
		return true // indented code, or text of a paragraph
	}
	mark, _, _ := listMark(body)
	label, note := footnoteLabel(body)
	switch n := leading(body, digits); {
	case strings.Contains("-*_", body[:1]) && strings.Trim(body, body[:1]+" ") == "":
		return false // possibly a rule, even if it also begins a list
	case body[0] == '>':
		return isText(strings.TrimPrefix(body[1:], " "), within)
	case mark > 0:
		return mark < len(body) && isText(body[mark+1:], false)
	case label != "" && !within:
		return isText(body[note:], false)
	case checkbox(body) != "":
		return isText(body[len("[ ] "):], false)
	case n > 0: // possibly the number of an item
		return n > 9 || n < len(body) && body[n] != '.' && body[n] != ')' || n+1 < len(body)
	case len(body) > maxMarkup:
		return true // longer than any markup in its containers
	}
	switch c := body[0]; c {
	case '-', '+', '*', '_', '=', '|', ':': // possibly a rule, an underline of a heading, or the head of a table
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
