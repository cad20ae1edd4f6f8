package tui

import "lifehub/tui/safetext"

// question is what the user asked.
type question struct{ text string }

func (q *question) render(width int, look *theme) []string {
	return wrapped(look.You.Render("You")+"  ", safetext.Text(q.text), width)
}

func (q *question) copied() string { return q.text }
