package markdown

import (
	"strings"

	"lifehub/tui/layout"
)

// keep bounds, in bytes, a paragraph that may still become a heading or the head
// of a table. A longer one is drawn as text at once.
const keep = 1024

// paragraph is an open paragraph.
type paragraph struct {
	inline  parser
	wrap    layout.Wrapper
	margin  margin
	raw     []byte // the text so far; nil if long
	long    bool   // the text is longer than keep
	several bool   // it has more than one line
	before  place  // where to begin again if it becomes another block
}

// place is a position in the output at which a block began.
type place struct {
	lines int
	spacing
}

// back removes the lines drawn since a place.
func (s *Stream) back(p place) {
	s.lines = s.lines[:p.lines]
	s.dirty = min(s.dirty, p.lines)
	s.spacing = p.spacing
}

// openParagraph opens a paragraph. If it continues the text before it, no blank
// line separates them.
func (s *Stream) openParagraph(continues bool) {
	before := place{len(s.lines), s.spacing}
	if !continues {
		s.separate(inText)
	}
	m := s.margin()
	s.paragraph = &paragraph{inline: newInline(&s.theme, &s.links, s.base()), wrap: s.wrapper(m), margin: m, before: before}
}

func (s *Stream) wrapper(m margin) layout.Wrapper {
	return layout.Wrapper{Width: m.width, First: m.first, Rest: m.rest, Out: &s.lines}
}

// base returns the style of plain text in the next block.
func (s *Stream) base() layout.Style {
	for _, c := range s.containers {
		if c.kind == quote {
			return s.theme.Quote
		}
	}
	return layout.Style{}
}

func (p *paragraph) add(text string) {
	if !p.long {
		if p.raw = append(p.raw, text...); len(p.raw) > keep {
			p.raw, p.long = nil, true
		}
	}
	p.inline.Add(text)
	if len(p.inline.Pending()) > reach && !p.maybeTable() {
		p.settle(open)
	}
}

// settle lays out the text that cannot change any more.
func (p *paragraph) settle(end ending) { p.inline.Advance(end, p.wrap.Add) }

// maybeTable reports whether p may be the head of a table. Such a line is not
// drawn as text yet.
func (p *paragraph) maybeTable() bool {
	return !p.several && len(p.raw) > 0 && p.raw[0] == '|'
}

// underlined turns the open paragraph into a heading if body underlines it.
func (s *Stream) underlined(matched int, body string) bool {
	p := s.paragraph
	if p == nil || p.long || matched < len(s.containers) {
		return false
	}
	level := 0
	switch body = strings.TrimRight(body, " "); {
	case strings.Trim(body, "=") == "":
		level = 1
	case strings.Trim(body, "-") == "":
		level = 2
	default:
		return false
	}
	s.paragraph = nil
	s.back(p.before)
	s.separate(apart)
	s.drawHeading(level, string(p.raw), p.margin)
	return true
}

// heading parses "## Title". The level is 0 if body is not a heading.
func heading(body string) (level int, title string) {
	level = leading(body, "#")
	if level == 0 || level > 6 || level < len(body) && body[level] != ' ' {
		return 0, ""
	}
	title = strings.Trim(body[level:], " ")
	if end := strings.TrimRight(title, "#"); end == "" || strings.HasSuffix(end, " ") {
		title = strings.TrimRight(end, " ")
	}
	return level, title
}

func (s *Stream) drawHeading(level int, title string, m margin) {
	style := s.theme.Heading
	if level == 1 {
		style = s.theme.Title.Over(style)
	}
	s.drawLine(title, style, &s.links, m)
}

// drawLine draws a line of text as a block.
func (s *Stream) drawLine(body string, style layout.Style, links *links, m margin) {
	text, wrap := newInline(&s.theme, links, style), s.wrapper(m)
	text.Add(body)
	text.Advance(s.ending(), wrap.Add)
	wrap.Flush()
}

// rule reports whether body is a horizontal rule: at least three of - * _.
func rule(body string) bool {
	c := body[:1]
	return strings.Contains("-*_", c) && strings.Trim(body, c+" ") == "" && strings.Count(body, c) >= 3
}
