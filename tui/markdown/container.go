package markdown

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
)

// maxDepth bounds the nesting of quotations and lists; deeper marks are text.
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
	indent  int    // columns by which an item's further lines are indented
	bullet  byte   // of an item: - * + . )
	number  int    // of an ordered item
	empty   bool   // an item without content so far
	follows bool   // an item that follows another one of the same list
	drawn   bool   // the mark was drawn
	joint   bool   // a quotation whose next block follows without a blank line
	mark    string // styled text before the first line
	rest    string // text before the other lines
	width   int    // columns of mark, and of rest
}

// match returns the number of containers that the line continues, and the rest
// of the line in them.
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

// container parses the mark of a quotation, an item or a footnote. It returns
// the length of the mark; 0 if there is none.
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
		return c, 0 // such a mark cannot interrupt a paragraph
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

// checkbox returns the checkbox of a task, or "" if s does not begin with one.
func checkbox(s string) string {
	switch {
	case strings.HasPrefix(s, "[ ] "):
		return "[ ]"
	case strings.HasPrefix(s, "[x] "), strings.HasPrefix(s, "[X] "):
		return "[x]"
	}
	return ""
}

// listMark parses a bullet or a number. n is its length without blanks; 0 if
// there is none.
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

// footnoteLabel parses "[^label]: ". n is its length; 0 if there is none.
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

// closeContainers closes the containers from n on, and the block in them.
func (s *Stream) closeContainers(n int) {
	if n >= len(s.containers) {
		return
	}
	s.closeLeaf()
	s.drawMarks(n)
	s.containers = s.containers[:n]
}

// drawMarks draws the marks of empty items from n on.
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

// distance is how a block is separated from its neighbours.
type distance int

const (
	start  distance = iota // before the first block
	inText                 // as in the source
	apart                  // by a blank line: headings, code, tables, rules
)

// margin is the text before the lines of a block, and the width that remains.
type margin struct {
	first, rest string
	width       int
}

// leastWidth is the minimum width of text, in columns: narrower margins are
// omitted.
const leastWidth = 8

// margin returns the margin of the next block. It includes the marks of the
// containers only once.
func (s *Stream) margin() margin {
	m := margin{width: s.width}
	for i := range s.containers {
		c := &s.containers[i]
		switch {
		case c.joint:
			m.first += s.theme.Border.Paint("├") + " "
		case c.drawn:
			m.first += c.rest
		default:
			m.first += c.mark
		}
		c.joint = false
		m.rest += c.rest
		m.width -= c.width
		c.drawn, c.empty = true, false
	}
	if !s.roomy() {
		return margin{width: s.width}
	}
	return m
}

// wide returns the margin of code or a table, which may be wider than prose.
func (s *Stream) wide(m margin) margin {
	m.width += s.full - s.width
	return m
}

// roomy reports whether the containers leave enough columns for text. If not,
// their marks are omitted.
func (s *Stream) roomy() bool {
	width := s.width
	for _, c := range s.containers {
		width -= c.width
	}
	return width >= min(leastWidth, s.width)
}

// separate draws a blank line before the next block if there should be one. Paragraphs of a
// quotation are separated by its bar, which would else be empty in every other row.
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
	joint := gap && d == inText && s.last == inText && quotes == s.quotes && s.shared > 0 && s.shared == len(s.containers) && s.containers[s.shared-1].kind == quote
	if len(s.containers) > 0 {
		s.containers[len(s.containers)-1].joint = joint
	}
	if gap && !joint && s.last != start {
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
