package tui

import (
	"fmt"
	"strings"
	"time"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// openThought is how many of its last lines an unfolded thought shows while it
// is still arriving.
const openThought = 8

// thinker is one of a team: the step whose task is worked on, and who does.
type thinker struct{ step, agent string }

// thinking is what the model thought before it answered. It is folded until
// the user wants to see it.
type thinking struct {
	who    string // "": the one who answers
	text   strings.Builder
	began  time.Time
	took   time.Duration // 0: it goes on
	hidden bool
}

func newThinking(now time.Time, fold bool) *thinking {
	return &thinking{began: now, hidden: fold}
}

func (t *thinking) end(now time.Time) {
	if t.took == 0 {
		t.took = max(1, now.Sub(t.began))
	}
}

func (t *thinking) folded() bool   { return t.hidden }
func (t *thinking) fold(fold bool) { t.hidden = fold }

func (t *thinking) render(width int, look *draw.Theme) []string {
	mark, title := "▸ ", "Thinking"
	if !t.hidden {
		mark = "▾ "
	}
	if t.took > 0 {
		title = "Thought for " + draw.Duration(t.took)
	}
	if t.who != "" {
		title = t.who + ": " + strings.ToLower(title)
	}
	head := draw.Fit(fmt.Sprintf("%s%s · %s", mark, title, draw.Count(len(strings.Fields(t.text.String())), "word")), width)
	lines := []string{look.Dim.Render(head)}
	if t.hidden {
		return lines
	}
	body := draw.Wrapped("  ", safetext.Text(strings.TrimSpace(t.text.String())), width)
	if t.took == 0 && len(body) > openThought {
		body = body[len(body)-openThought:]
	}
	return append(lines, draw.Styled(look.Dim.Render, body)...)
}

func (t *thinking) copied() string { return t.text.String() }
