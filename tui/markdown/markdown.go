// Package markdown draws Markdown while it arrives. Text that later text cannot
// change is drawn only once; the rest is drawn again with each piece. Therefore a
// token costs the same at the end of a long answer as at its beginning. Render
// works the same way, so the result does not depend on how the text was divided.
//
// Start at Stream. Text passes through four stages: sanitised lines (input.go),
// blocks (block.go) such as paragraphs, code and tables, spans (inline.go), and
// lines (package layout).
package markdown

import (
	"strings"

	"lifehub/tui/layout"
)

// Stream is a Markdown text that is still arriving. It is not safe for concurrent use.
type Stream struct {
	width int  // columns of prose
	full  int  // columns of code and tables; at least width
	cut   bool // a line of code was truncated at width
	wider bool // code is drawn with full columns, because of cut
	theme layout.Theme
	Copy  string // format of the label in the frame of code, with the number for copying; "" for none

	source  strings.Builder
	read    int    // bytes of source that were sanitised
	pending string // sanitised text of the current line that no block has taken
	column  int    // column after pending, for tabs
	stale   bool   // source has text that is not drawn
	closed  bool

	blocks
	guess guess
	spare spare
	due   int // length of source from which open text is parsed again
	links links
	end   ending

	lines []string
	body  int // lines[:body] are final; the rest is a preview
	dirty int // first line changed since the last call of Changed
}

// New returns an empty stream. Prose is drawn width columns wide. Tables may be
// full columns wide, and so may code if one of its lines is longer than width.
func New(width, full int, theme layout.Theme) *Stream {
	return &Stream{width: max(width, 1), full: max(width, full, 1), theme: theme}
}

// Write appends text, which may end anywhere, even inside a character. After
// Close it does nothing.
func (s *Stream) Write(piece string) {
	if s.closed || piece == "" {
		return
	}
	s.source.WriteString(piece)
	s.stale = true
}

// Close marks the text as complete and draws the rest. If there are definitions
// of links, everything is drawn again, since links may precede their definitions.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.update()
	if s.links.Forget() { // first with all definitions, then knowing which are used
		s.redraw()
		s.redraw()
	}
}

// redraw draws everything again with the definitions found so far.
func (s *Stream) redraw() {
	s.read, s.pending, s.column, s.blocks, s.due = 0, "", 0, blocks{}, 0
	s.lines, s.body, s.dirty = s.lines[:0], 0, 0
	s.update()
}

// Lines returns the lines drawn. No line is wider than the stream allows, and
// each ends with all styles reset. The slice is valid until another method is
// called.
func (s *Stream) Lines() []string {
	if s.stale {
		s.update()
	}
	return s.lines
}

// Changed returns the first line that may have changed since its last call, or
// the number of lines if none has. Call it after Lines.
func (s *Stream) Changed() int {
	first := min(s.dirty, len(s.lines))
	s.dirty = len(s.lines)
	return first
}

// Render draws a complete text.
func Render(src string, width int, theme layout.Theme) []string {
	s := New(width, width, theme)
	s.Write(src)
	s.Close()
	return s.Lines()
}

// update draws the text that has arrived. Once a line of code turns out to be
// longer than width, it draws everything again with wider code.
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
