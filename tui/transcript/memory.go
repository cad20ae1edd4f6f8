package transcript

import (
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Remembered is what came back from long-term memory, a line each.
type Remembered struct{ Remembered agent.Remembered }

func (r *Remembered) Render(width int, theme *draw.Theme) []string {
	var lines []string
	for _, line := range r.Lines(time.Now()) {
		lines = append(lines, theme.Dim.Render(draw.Truncate(line, width)))
	}
	return lines
}

func (r *Remembered) Copied() string { return strings.Join(r.Lines(time.Now()), "\n") }

func (r *Remembered) Lines(now time.Time) []string {
	var lines []string
	for _, f := range r.Remembered.Facts {
		if f.Fits {
			lines = append(lines, fmt.Sprintf("· remembered: “%s” %s:%d", safetext.Line(f.Text), safetext.Line(f.Path), f.Line))
		}
	}
	for _, past := range r.Remembered.Exchanges {
		line := "· remembered from " + draw.When(past.Asked, now) + ": “" + safetext.Line(past.Question) + "”"
		if past.Untrusted {
			line = "· remembered from " + draw.When(past.Asked, now) + ", with untrusted text: “" + safetext.Line(past.Question) + "”"
		}
		lines = append(lines, line)
	}
	return lines
}
