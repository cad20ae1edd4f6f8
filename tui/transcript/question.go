package transcript

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Question is what the user asked.
type Question struct {
	Text     string   // with what was sent while it was answered
	Turn     string   // "" until it is saved
	After    string   // the turn before it
	Siblings []string // the turns asked in its place, itself among them; nil: it alone
	unfolded bool     // all of a long one is shown, and what is attached

	folded struct{ text, shown string } // what is shown of a text while it is folded
}

// A question of more than longQuestion lines shows the first few of them.
const (
	longQuestion  = 24
	shownQuestion = 12
)

func (q *Question) Folded() bool { return !q.unfolded }

func (q *Question) Fold(on bool) { q.unfolded = !on }

func (q *Question) Render(width int, theme *draw.Theme) []string {
	text, hidden := q.shown(), 0
	if q.unfolded {
		text = q.typed()
	}
	if all := strings.Count(text, "\n") + 1; !q.unfolded && all > longQuestion {
		text, hidden = strings.Join(strings.SplitN(text, "\n", shownQuestion+1)[:shownQuestion], "\n"),
			all-shownQuestion
	}
	lines := draw.Wrap(safetext.Text(text), width)
	if hidden > 0 {
		lines = append(lines, theme.Dim.Render(draw.Truncate("… "+draw.Count(hidden, "more line"), width)))
	}
	if n := len(q.Siblings); n > 1 {
		of := theme.Dim.Render(fmt.Sprintf("‹ %d of %d ›", slices.Index(q.Siblings, q.Turn)+1, n))
		last := len(lines) - 1
		if draw.Width(lines[last])+2+draw.Width(of) > width {
			lines, last = append(lines, ""), last+1
		}
		lines[last] = draw.Justify(lines[last], of, width)
	}
	return lines
}

// shortens reports whether less than the whole question is shown while it is folded.
func (q *Question) shortens() bool {
	return q.shown() != q.typed() || strings.Count(q.shown(), "\n")+1 > longQuestion
}

func (q *Question) Copied() string { return q.typed() }

// typed returns the question without messages sent while it was answered.
func (q *Question) typed() string {
	typed, _ := agent.SplitSteering(q.Text)
	return typed
}

// shown returns what was typed, with the names of what was attached in place of the texts.
func (q *Question) shown() string {
	if q.folded.text != q.Text {
		q.folded.text, q.folded.shown = q.Text, withNames(q.typed())
	}
	return q.folded.shown
}

// withNames returns a message with the names of what is attached in place of the texts.
func withNames(text string) string {
	m := agent.ParseMessage(text)
	if len(m.Attached) == 0 {
		return text
	}
	for _, a := range m.Attached {
		if name := "[" + a.Name + "]"; !strings.Contains(m.Text, name) {
			m.Text += "\n" + name
		}
	}
	return m.Text
}

// Steering is a message that the user sent to the turn while it ran.
type Steering struct{ Text string }

func (s *Steering) Render(width int, theme *draw.Theme) []string {
	return draw.Hang(theme.You.Render("▌ "), safetext.Text(withNames(s.Text)), width)
}

func (s *Steering) Copied() string { return s.Text }

// Sibling returns the previous or next alternative of the question, or the reason why
// there is none. q may be nil.
func (q *Question) Sibling(by int) (turn, problem string) {
	if q == nil || len(q.Siblings) < 2 {
		return "", "no other branch here"
	}
	at := slices.Index(q.Siblings, q.Turn) + by
	if at < 0 || at >= len(q.Siblings) {
		return "", "no further branch"
	}
	return q.Siblings[at], ""
}

// ShowsQuestion reports whether the first question, if it is the title, is visible.
func (t *Model) ShowsQuestion(title string) bool {
	at := slices.IndexFunc(t.Entries, func(e Entry) bool { _, is := e.Item.(*Question); return is })
	first, is := t.Item(at).(*Question)
	return is && title == agent.PlainLine(first.Text) && !(Spot{Entry: at}).before(t.Start())
}

// QuestionAbove returns, on one line, the question that the first visible line answers; ""
// if the question itself is visible.
func (t *Model) QuestionAbove() string {
	if len(t.Entries) == 0 {
		return ""
	}
	first := t.Start()
	asked, at := last[*Question](t, first.Entry)
	if asked == nil || at == first.Entry && first.Line < len(t.Lines(at))-1 {
		return ""
	}
	return draw.Summary(asked.shown(), t.width)
}
