package transcript

import (
	"strings"
	"time"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// openThought is the number of lines of a growing thought that are shown unfolded.
const openThought = 8

// Thinker is an agent that works on a step.
type Thinker struct{ Step, Agent string }

// Thinking is the reasoning of a model. It is folded unless the user unfolds it.
type Thinking struct {
	Who    string // "": the one who answers
	Text   strings.Builder
	began  time.Time
	Took   time.Duration // 0 while it continues
	Beat   int           // turns the spinner
	hidden bool
}

func (t *Thinking) End(now time.Time) {
	if t.Took == 0 {
		t.Took = max(1, now.Sub(t.began))
	}
}

func (t *Thinking) Folded() bool   { return t.hidden }
func (t *Thinking) Fold(fold bool) { t.hidden = fold }

func (t *Thinking) Render(width int, theme *draw.Theme) []string {
	mark, title, fold := theme.Running.Render(draw.Spinner[t.Beat%len(draw.Spinner)])+" ", "thinking", " ▾"
	if t.hidden {
		fold = " ▸"
	}
	switch {
	case t.Took >= time.Millisecond:
		mark, title = theme.Dim.Render("· "), "thought for "+draw.Duration(t.Took)
	case t.Took > 0: // or it is unknown
		mark, title = theme.Dim.Render("· "), "thought"
	default:
		title += " · " + draw.Count(len(strings.Fields(t.Text.String())), "word")
	}
	if t.Who != "" {
		title = t.Who + ": " + title
	}
	head := draw.Truncate(title, width-4) + fold
	lines := []string{mark + theme.Dim.Render(head)}
	if t.hidden {
		return lines
	}
	body := draw.Hang("  ", safetext.Text(strings.TrimSpace(t.Text.String())), width)
	if t.Took == 0 && len(body) > openThought {
		body = body[len(body)-openThought:]
	}
	return append(lines, draw.StyleLines(theme.Dim.Render, body)...)
}

func (t *Thinking) Copied() string { return t.Text.String() }
