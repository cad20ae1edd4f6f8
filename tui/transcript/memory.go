package transcript

import (
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
)

// Remembered is what came back from long-term memory, a line each.
type Remembered struct{ Remembered agent.Remembered }

func (r *Remembered) Render(width int, theme *draw.Theme) []string {
	var lines []string
	for _, line := range chat.Recalled(r.Remembered, time.Now()) {
		lines = append(lines, theme.Dim.Render(draw.Truncate("· "+line, width)))
	}
	return lines
}

func (r *Remembered) Copied() string {
	return strings.Join(chat.Recalled(r.Remembered, time.Now()), "\n")
}
