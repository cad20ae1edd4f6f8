package markdown

import (
	"strings"

	"lifehub/tui/layout"
)

// keep is how long, in bytes, a paragraph may be that still becomes something
// else: a heading by the line under it, or the head of a table. The lines of a
// longer one are settled at once.
const keep = 1024

// paragraph is a paragraph that is open.
type paragraph struct {
	inline  parser
	wrap    layout.Wrapper
	margin  margin
	raw     []byte // the text so far, while it is not long
	long    bool   // it is longer than keep
	several bool   // it has more than one line
	before  place
}

// place is where a block was begun, to begin another there.
type place struct {
	lines int
	spacing
}

// back forgets what was drawn since a place.
func (s *Stream) back(p place) {
	s.lines = s.lines[:p.lines]
	s.dirty = min(s.dirty, p.lines)
	s.spacing = p.spacing
}

// openParagraph begins a paragraph, right under the text before it if it
// continues that.
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

// base is the style of text where the next block stands.
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

// settle lays out what is certain.
func (p *paragraph) settle(end ending) { p.inline.Advance(end, p.wrap.Add) }

// maybeTable reports whether the next line may make p the head of a table. It
// is not drawn as text then.
func (p *paragraph) maybeTable() bool {
	return !p.several && len(p.raw) > 0 && p.raw[0] == '|'
}

// underlined makes a heading of the open paragraph if body underlines it.
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

// heading reads "## Title" and returns its level, 0 if body is none.
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

// drawLine draws text that is a block of its own.
func (s *Stream) drawLine(body string, style layout.Style, links *links, m margin) {
	text, wrap := newInline(&s.theme, links, style), s.wrapper(m)
	text.Add(body)
	text.Advance(s.ending(), wrap.Add)
	wrap.Flush()
}

// rule reports whether body is a line across: three or more of - * _.
func rule(body string) bool {
	c := body[:1]
	return strings.Contains("-*_", c) && strings.Trim(body, c+" ") == "" && strings.Count(body, c) >= 3
}
