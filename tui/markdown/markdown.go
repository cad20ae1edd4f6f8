// Package markdown draws Markdown that is still arriving. What is certain is
// drawn once and stays; only the end of the text, where a mark may still be
// open, is drawn again with the next piece. So a token costs the same at the
// end of a long answer as at its beginning, and the picture of the whole text
// is the same however it was cut, for Render takes the very same way.
//
// Start at Stream. The way of the text: clean lines (input.go), blocks
// (block.go) that hold paragraphs, code and tables, text to spans (inline),
// spans to lines (layout).
package markdown

import (
	"strings"

	"lifehub/tui/layout"
)

// Stream is a Markdown text that is still arriving. It is not safe for concurrent use.
type Stream struct {
	width int  // of prose
	full  int  // that code and tables may have, at least as wide
	cut   bool // a line of code is longer than prose
	wider bool // code has full for that reason
	theme layout.Theme
	Copy  string // how a frame of code says by which number it is copied, a format; "": it does not

	source  strings.Builder
	read    int    // how much of source was cleaned
	pending string // of the current line, clean, not yet taken by a block
	column  int    // of the next character in that line, for tabs
	stale   bool   // there is source that Lines has not drawn
	closed  bool

	blocks
	guess guess
	spare spare
	due   int // how long source must be before what is open is read again
	links links
	end   ending

	lines []string
	body  int // lines[:body] are settled; the rest shows what may still change
	dirty int // the first line changed since Changed was called
}

// New returns an empty stream: prose is drawn width columns wide. Tables may have
// full, and so may code if one of its lines is longer than prose.
func New(width, full int, theme layout.Theme) *Stream {
	return &Stream{width: max(width, 1), full: max(width, full, 1), theme: theme}
}

// Write adds the next piece of the text. Pieces may be cut anywhere, even
// inside a character. After Close it does nothing.
func (s *Stream) Write(piece string) {
	if s.closed || piece == "" {
		return
	}
	s.source.WriteString(piece)
	s.stale = true
}

// Close tells the stream that its text is complete: what was still open is
// settled. Links whose address was defined after their use are drawn now, and
// definitions that were used after they came are drawn no longer.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.update()
	if s.links.Forget() { // once with all addresses, and once knowing what refers to them
		s.redraw()
		s.redraw()
	}
}

// redraw draws everything again, knowing every address defined so far.
func (s *Stream) redraw() {
	s.read, s.pending, s.column, s.blocks, s.due = 0, "", 0, blocks{}, 0
	s.lines, s.body, s.dirty = s.lines[:0], 0, 0
	s.update()
}

// Lines returns the picture: each line is at most as wide as the stream, and
// ends with all styles off. The slice is valid until the next call of another
// method.
func (s *Stream) Lines() []string {
	if s.stale {
		s.update()
	}
	return s.lines
}

// Changed returns the first line that may differ from when it was last asked;
// the number of lines if none does. Call it after Lines.
func (s *Stream) Changed() int {
	first := min(s.dirty, len(s.lines))
	s.dirty = len(s.lines)
	return first
}

// Render draws a whole text.
func Render(src string, width int, theme layout.Theme) []string {
	s := New(width, width, theme)
	s.Write(src)
	s.Close()
	return s.Lines()
}

// update draws what has arrived since the last time, and everything again, once,
// where code turns out to need more room than prose has.
func (s *Stream) update() {
	s.advance()
	if s.cut && !s.wider && s.full > s.width {
		s.wider = true
		s.redraw()
	}
}

func (s *Stream) advance() {
	s.stale = false
	if !s.closed && s.source.Len() < s.due {
		s.goOn()
		return
	}
	s.dirty = min(s.dirty, s.body)
	s.lines, s.end = s.lines[:s.body], open
	s.input()
	if s.closed {
		s.end = closed
		s.closeContainers(0)
		s.closeLeaf()
		s.body = len(s.lines)
		return
	}
	if p := s.paragraph; p != nil && !p.maybeTable() {
		p.settle(open)
	}
	s.body = len(s.lines)
	s.preview()
	s.due = s.source.Len() + s.patience()
}
