package tui

import (
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// remembered is what came back from long-term memory, a line each.
type remembered struct{ agent.Remembered }

func (r *remembered) render(width int, look *draw.Theme) []string {
	var lines []string
	for _, line := range r.lines(time.Now()) {
		lines = append(lines, look.Dim.Render(draw.Fit(line, width)))
	}
	return lines
}

func (r *remembered) copied() string { return strings.Join(r.lines(time.Now()), "\n") }

func (r *remembered) lines(now time.Time) []string {
	var lines []string
	for _, f := range r.Facts {
		if f.Fits {
			lines = append(lines, fmt.Sprintf("· remembered: “%s” %s:%d", safetext.Line(f.Text), safetext.Line(f.Path), f.Line))
		}
	}
	for _, past := range r.Exchanges {
		line := "· remembered from " + draw.When(past.Asked, now) + ": “" + safetext.Line(past.Question) + "”"
		if past.Foreign {
			line = "· remembered from " + draw.When(past.Asked, now) + ", with text from outside: “" + safetext.Line(past.Question) + "”"
		}
		lines = append(lines, line)
	}
	return lines
}
