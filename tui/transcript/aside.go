package transcript

import (
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Aside is the part of the last turn that a sidebar shows.
type Aside struct {
	Plan    *Plan         // nil: none
	Sources *Sources      // nil: none
	Done    agent.Effects // of all turns in memory
}

// Aside returns what the sidebar shows. Focused sources take precedence over the last ones.
func (t *Model) Aside() (a Aside) {
	for _, e := range t.Entries[t.afterQuestion(len(t.Entries)):] {
		switch i := e.Item.(type) {
		case *Plan:
			a.Plan = i
		case *Sources:
			if len(i.List) > 0 {
				a.Sources = i
			}
		}
	}
	if s, ok := t.Item(t.Chosen).(*Sources); ok && len(s.List) > 0 {
		a.Sources = s
	}
	for _, e := range t.Entries {
		if end, ok := e.Item.(*Sources); ok {
			a.Done = append(a.Done, end.did...)
		}
	}
	return a
}

// Version changes with the contents.
func (a Aside) Version() string {
	var v strings.Builder
	if p := a.Plan; p != nil {
		fmt.Fprintf(&v, "%p %d %d", p, p.State.Took, len(p.State.Steps))
		if p.State.Took == 0 {
			fmt.Fprint(&v, " ", p.Beat)
		}
		for i := range p.State.Steps {
			v.WriteString(string(p.State.Steps[i].Status))
		}
	}
	if s := a.Sources; s != nil {
		fmt.Fprintf(&v, "%p %d", s, s.chosen)
		for _, c := range s.List {
			fmt.Fprint(&v, c.Citation.N, c.Citation.Line, c.Citation.Label())
		}
	}
	fmt.Fprint(&v, len(a.Done))
	return v.String()
}

// Narrow draws the sources in a column, and the passage of the chosen or else the first
// one. of has the source of each line.
func (s *Sources) Narrow(width int, theme *draw.Theme) (lines, passage []string, of []Cited) {
	shown := max(0, s.chosen)
	for i, c := range s.List {
		place, verdict := c.shown(s.host, width-8), verdictMark(c.Citation, theme)
		left := theme.Reference.Render(c.mark()) + " " + place
		if i == s.chosen {
			left = theme.Selected.Render("› "+c.mark()+" ") + place
		}
		if draw.Width(left)+2+draw.Width(verdict) <= width {
			lines, of = append(lines, left+"  "+verdict), append(of, c)
			continue
		}
		lines, of = append(lines, draw.Truncate(left, width)), append(of, c)
		for _, line := range c.verdictBelow("    ", width, theme) {
			lines, of = append(lines, line), append(of, c)
		}
	}
	if shown < len(s.List) {
		passage = s.List[shown].passage(width, theme)
	}
	return lines, passage, of
}

// SentTo describes what was sent to whom, by the journals of the turns; "" for nothing.
func (a Aside) SentTo() string {
	var sent []agent.Effect
	for _, e := range a.Done {
		if e.Kind == agent.RequestSent || e.Kind == agent.MailSent {
			sent = append(sent, e)
		}
	}
	if len(sent) == 0 {
		return ""
	}
	return strings.TrimSpace(safetext.Line(agent.Sum(sent).String()))
}
