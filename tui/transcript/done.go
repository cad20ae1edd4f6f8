package transcript

import (
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Done is what a saved turn did, or thought, before it said more. Each entry
// has one line; unfolded, as many as it needs.
type Done struct {
	Log      []agent.Logged
	Unfolded bool
}

func (d *Done) Folded() bool   { return !d.Unfolded }
func (d *Done) Fold(fold bool) { d.Unfolded = !fold }

func (d *Done) Render(width int, theme *draw.Theme) (lines []string) {
	for _, l := range d.Log {
		text := safetext.Line(l.String())
		if d.Unfolded {
			lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("· ", text, width))...)
		} else {
			lines = append(lines, theme.Dim.Render(draw.Truncate("· "+text, width)))
		}
	}
	return lines
}

func (d *Done) Copied() string {
	lines := make([]string, len(d.Log))
	for i, l := range d.Log {
		lines[i] = l.String()
	}
	return strings.Join(lines, "\n")
}
