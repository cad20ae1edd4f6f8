package tui

import (
	"fmt"
	"slices"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// question is what the user asked.
type question struct {
	text     string
	turn     string   // "" until it is kept
	after    string   // the turn before it
	siblings []string // the turns asked in its place, itself among them; nil: it alone
}

func keptQuestion(e agent.Exchange) *question {
	return &question{text: e.Question, turn: e.Turn, after: e.After, siblings: e.Siblings}
}

func (q *question) render(width int, look *theme) []string {
	lines := wrapped(look.You.Render("You")+"  ", safetext.Text(q.text), width)
	if n := len(q.siblings); n > 1 {
		lines = append(lines, look.Dim.Render(fit(fmt.Sprintf("     ‹ %d of %d ›", slices.Index(q.siblings, q.turn)+1, n), width)))
	}
	return lines
}

func (q *question) copied() string { return q.text }
