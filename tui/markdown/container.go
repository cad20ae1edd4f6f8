package markdown

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
)

// maxDepth bounds quotations and lists inside one another; deeper marks are text.
const maxDepth = 12

type containerKind int

const (
	quote containerKind = iota
	item
	footnote
)

// container is an open quotation, list item or footnote.
type container struct {
	kind    containerKind
	indent  int    // columns that the further lines of an item stand in
	bullet  byte   // of an item: - * + . )
	number  int    // of an ordered item
	empty   bool   // an item with nothing yet
	follows bool   // an item after another of the same list
	drawn   bool   // its mark was given out
	mark    string // what stands before its first line, styled
	rest    string // and before the others
	width   int    // of both
}

// match returns how many containers the line resumes, and what of it
// stands in them.
func (s *Stream) match(line string) (matched int, rest string) {
	rest = line
	for _, c := range s.containers {
		indent := indentation(rest)
		switch {
		case c.kind == quote:
			if indent > 3 || indent == len(rest) || rest[indent] != '>' {
				return matched, rest
			}
			rest = strings.TrimPrefix(rest[indent+1:], " ")
		case indent == len(rest): // a blank line
			if c.empty {
				return matched, rest
			}
			rest = rest[min(c.indent, len(rest)):]
		case indent >= c.indent:
			rest = rest[c.indent:]
		default:
			return matched, rest
		}
		matched++
	}
	return matched, rest
}

// container reads the mark of a quotation, an item or a footnote, and returns
// its length, 0 if there is none.
func (s *Stream) container(matched int, body string, indent int) (c container, n int) {
	if body[0] == '>' {
		bar := s.theme.Border.Paint("│") + " "
		return container{kind: quote, mark: bar, rest: bar, width: 2}, len(body) - len(strings.TrimPrefix(body[1:], " "))
	}
	if label, n := footnoteLabel(body); n > 0 && s.paragraph == nil {
		width := layout.Cells(label) + len("[^] ")
		return container{kind: footnote, indent: 4, mark: s.theme.Citation.Paint("[^"+label+"]") + " ", rest: layout.Spaces(width), width: width}, n
	}
	n, c.bullet, c.number = listMark(body)
	if n == 0 {
		return c, 0
	}
	blanks := indentation(body[n:])
	c.empty = n+blanks == len(body)
	if s.paragraph != nil && matched == len(s.containers) && (c.empty || c.number > 1 || c.number == 0 && c.bullet < '*') {
		return c, 0 // inside a paragraph such a mark is text
	}
	if c.empty || blanks > 4 {
		blanks = 1
	}
	c.kind, c.indent = item, indent+n+blanks
	n = min(n+blanks, len(body))
	if matched < len(s.containers) {
		if sibling := s.containers[matched]; sibling.kind == item && sibling.bullet == c.bullet {
			c.follows = true
			if c.bullet == '.' || c.bullet == ')' {
				c.number = sibling.number + 1
			}
		}
	}
	mark := "•"
	if c.bullet == '.' || c.bullet == ')' {
		mark = strconv.Itoa(c.number) + string(c.bullet)
	}
	if box := checkbox(body[n:]); box != "" {
		mark = box
		n += len("[ ] ")
	}
	c.width = utf8.RuneCountInString(mark) + 1
	c.mark, c.rest = s.theme.Marker.Paint(mark)+" ", layout.Spaces(c.width)
	return c, n
}

// checkbox returns the box of a task, "" if s is none.
func checkbox(s string) string {
	switch {
	case strings.HasPrefix(s, "[ ] "):
		return "[ ]"
	case strings.HasPrefix(s, "[x] "), strings.HasPrefix(s, "[X] "):
		return "[x]"
	}
	return ""
}

// listMark reads a bullet or a number and returns its length without blanks.
func listMark(s string) (n int, bullet byte, number int) {
	if strings.IndexByte("-*+", s[0]) >= 0 {
		n = 1
	} else {
		n = leading(s, digits)
		if n == 0 || n > 9 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0, 0, 0
		}
		number, _ = strconv.Atoi(s[:n])
		n++
	}
	if n < len(s) && s[n] != ' ' {
		return 0, 0, 0
	}
	return n, s[n-1], number
}

// footnoteLabel reads "[^label]: " and returns its length.
func footnoteLabel(s string) (label string, n int) {
	if !strings.HasPrefix(s, "[^") {
		return "", 0
	}
	i := strings.Index(s, "]:")
	if i < 3 || i > 30 || strings.ContainsAny(s[2:i], "[] ") {
		return "", 0
	}
	n = i + 2
	return s[2:i], n + indentation(s[n:])
}

// closeContainers ends the containers from n on, and the block in them.
func (s *Stream) closeContainers(n int) {
	if n >= len(s.containers) {
		return
	}
	s.closeLeaf()
	s.drawMarks(n)
	s.containers = s.containers[:n]
}

// drawMarks gives out the marks of items from n on that hold nothing.
func (s *Stream) drawMarks(n int) {
	for _, c := range s.containers[min(n, len(s.containers)):] {
		if c.kind == item && !c.drawn {
			s.separate(inText)
			if m := s.margin(); m.first != "" {
				s.lines = append(s.lines, strings.TrimRight(m.first, " "))
			}
			return
		}
	}
}

// distance is how far a block keeps from its neighbours.
type distance int

const (
	start  distance = iota // nothing was drawn yet
	inText                 // as far as in the source
	apart                  // a line away: headings, code, tables, rules
)

// margin is what stands before the lines of a block, and how wide they may be.
type margin struct {
	first, rest string
	width       int
}

// leastWidth is the least number of columns that a margin leaves for text.
const leastWidth = 8

// margin returns the margin of the next block. It takes the marks of the
// containers: they stand before its first line only.
func (s *Stream) margin() margin {
	m := margin{width: s.width}
	for i := range s.containers {
		c := &s.containers[i]
		if c.drawn {
			m.first += c.rest
		} else {
			m.first += c.mark
		}
		m.rest += c.rest
		m.width -= c.width
		c.drawn, c.empty = true, false
	}
	if !s.roomy() {
		return margin{width: s.width}
	}
	return m
}

// wide is the margin of a block that is no prose.
func (s *Stream) wide(m margin) margin {
	m.width += s.full - s.width
	return m
}

// roomy reports whether the containers leave enough columns for text. If not,
// their marks are left out.
func (s *Stream) roomy() bool {
	width := s.width
	for _, c := range s.containers {
		width -= c.width
	}
	return width >= min(leastWidth, s.width)
}

// separate puts the distance of the source, or a line, before the next block.
func (s *Stream) separate(d distance) {
	quotes, items := 0, false
	for i, c := range s.containers {
		if c.kind == quote {
			quotes++
		} else if i < s.shared || c.follows && !c.drawn {
			items = true
		}
	}
	gap := s.blank || !items && (d == apart || s.last == apart) || quotes < s.quotes
	if gap && s.last != start {
		line := ""
		for i := range min(s.shared, len(s.containers)) {
			line += s.containers[i].rest
		}
		if !s.roomy() {
			line = ""
		}
		s.lines = append(s.lines, strings.TrimRight(line, " "))
	}
	s.blank, s.last, s.quotes = false, d, quotes
}
