package tui

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// question is what the user asked.
type question struct {
	text     string
	turn     string   // "" until it is kept
	after    string   // the turn before it
	siblings []string // the turns asked in its place, itself among them; nil: it alone
	whole    bool     // all of a long one is shown
}

// A question of more than longQuestion lines shows the first few of them.
const (
	longQuestion  = 24
	shownQuestion = 12
)

func (q *question) folded() bool { return !q.whole }

func (q *question) fold(on bool) { q.whole = !on }

func keptQuestion(e agent.Exchange) *question {
	return &question{text: e.Question, turn: e.Turn, after: e.After, siblings: e.Siblings}
}

func (q *question) render(width int, look *draw.Theme) []string {
	text, hidden := q.text, 0
	if all := strings.Count(text, "\n") + 1; !q.whole && all > longQuestion {
		text, hidden = strings.Join(strings.SplitN(text, "\n", shownQuestion+1)[:shownQuestion], "\n"), all-shownQuestion
	}
	lines := draw.Wrapped(look.You.Render("You")+"  ", safetext.Text(text), width)
	if hidden > 0 {
		lines = append(lines, look.Dim.Render(draw.Fit("     … "+draw.Count(hidden, "more line"), width)))
	}
	if n := len(q.siblings); n > 1 {
		lines = append(lines, look.Dim.Render(draw.Fit(fmt.Sprintf("     ‹ %d of %d ›", slices.Index(q.siblings, q.turn)+1, n), width)))
	}
	return lines
}

func (q *question) copied() string { return q.text }
