package markdown

import (
	"strings"

	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

// often is how much may be open, in bytes, to be read again with every piece.
const often = 64

// patience returns how many bytes are to come until what is open is read
// again: an eighth of it, so that a piece costs what it is long, however much
// is open. Beyond the reach of marks nothing that shows is open but the first
// rows of a table, and half of it will do.
func (s *Stream) patience() int {
	switch n := s.unsettled(); {
	case n <= often:
		return 0
	case n <= 2*reach:
		return n / 8
	default:
		return n / 2
	}
}

// preview draws what is not certain yet as it will most likely be.
func (s *Stream) preview() {
	saved := s.blocks
	s.guess.live = false
	s.blocks, s.end = saved.clone(&s.spare), guessed
	if tail := s.tail(); tail != "" {
		switch {
		case s.middle:
			s.more(tail)
		case !s.held(tail):
			s.line(tail)
		}
	}
	if s.paragraph != nil {
		s.guess.from(s)
	}
	s.closeLeaf()
	s.drawMarks(0)
	s.blocks, s.end = saved, open
}

// unsettled returns how many bytes are read again when more text has come.
func (s *Stream) unsettled() int {
	n := s.source.Len() - s.read + len(s.pending)
	switch {
	case s.paragraph != nil:
		n += len(s.paragraph.inline.Pending())
	case s.table != nil:
		for _, row := range s.table.rows {
			n += len(row)
		}
	}
	return n
}

// guess is a paragraph as it was drawn up to its last character, so that more
// text can be put behind that until the paragraph is read again.
type guess struct {
	live  bool
	spare layout.Wrapper
	wrap  layout.Wrapper
	look  layout.Look
	lines int // of the stream, given out by wrap or before
	at    int // how much of the source was drawn
}

// from takes over the paragraph that s is about to draw.
func (g *guess) from(s *Stream) {
	p := s.paragraph
	if s.unsettled() <= often || p.maybeTable() {
		return
	}
	var last layout.Span
	text := p.inline.Pending()
	p.inline.Advance(guessed, func(s layout.Span) {
		p.wrap.Add(s)
		last = s
	})
	p.wrap.CopyTo(&g.wrap)
	g.live = last.Text != "" && strings.HasSuffix(text, last.Text) // else the end does not show: an address
	g.look, g.lines, g.at = last.Look, len(s.lines), s.source.Len()
}

// goOn draws what has come since the last preview as more of the same text.
func (s *Stream) goOn() {
	g := &s.guess
	arrived := s.source.String()[g.at:]
	n := 0
	if g.live && len(arrived) <= often {
		n = safetext.Cut(arrived)
	}
	if n == 0 {
		return
	}
	s.dirty = min(s.dirty, g.lines)
	s.lines = s.lines[:g.lines]
	text := safetext.Line(arrived[:n])
	g.at += n
	g.wrap.Add(layout.Span{Look: g.look, Text: text})
	g.lines = len(s.lines)
	g.wrap.CopyTo(&g.spare)
	g.spare.Flush()
}
