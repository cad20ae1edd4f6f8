package tui

import (
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// done is what a kept turn did, or thought, before it said more. Each entry
// has one line; unfolded, as many as it needs.
type done struct {
	log      []agent.Logged
	unfolded bool
}

func (d *done) folded() bool   { return !d.unfolded }
func (d *done) fold(fold bool) { d.unfolded = !fold }

func (d *done) render(width int, look *draw.Theme) (lines []string) {
	for _, l := range d.log {
		text := safetext.Line(l.String())
		if d.unfolded {
			lines = append(lines, draw.Styled(look.Dim.Render, draw.Wrapped("· ", text, width))...)
		} else {
			lines = append(lines, look.Dim.Render(draw.Fit("· "+text, width)))
		}
	}
	return lines
}

func (d *done) copied() string {
	lines := make([]string, len(d.log))
	for i, l := range d.log {
		lines[i] = l.String()
	}
	return strings.Join(lines, "\n")
}
