package markdown

import (
	"strings"

	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

// often bounds, in bytes, open text that is parsed again with every piece.
const often = 64

// patience returns how many bytes have to arrive before open text is parsed
// again. It is proportional to the length of that text, so that the cost per byte
// is bounded. Text longer than the reach of marks can only be the first rows of a
// table, for which a longer delay is acceptable.
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

// preview draws the text that may still change in its most likely form.
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

// unsettled returns the length of the text that will be parsed again, in bytes.
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

// guess is the state after the preview of a paragraph. It allows more text to be
// appended until the paragraph is parsed again.
type guess struct {
	live  bool
	spare layout.Wrapper
	wrap  layout.Wrapper
	look  layout.Look
	lines int // number of lines drawn so far
	at    int // bytes of source drawn so far
}

// from previews the paragraph of s and records the state.
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
	g.live = last.Text != "" && strings.HasSuffix(text, last.Text) // otherwise the text does not end visibly, as in a link
	g.look, g.lines, g.at = last.Look, len(s.lines), s.source.Len()
}

// goOn draws the text since the last preview in the style of its end.
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
