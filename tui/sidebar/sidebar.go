// Package sidebar is what stands right of the conversation in a wide window: the
// plan, the checked sources, the context window, what was sent.
package sidebar

import (
	"fmt"
	"strings"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/frame"
	"lifehub/tui/plan"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// From how many cells of a window on there is a sidebar, and how many it takes.
const (
	From  = 150
	Width = 40
)

// Model keeps the lines as they were drawn last.
type Model struct {
	hidden bool // by the user

	aside transcript.Aside
	plan  *plan.Plan // that it shows
	key   string
	theme *draw.Theme
	lines []string
}

// Takes is how many cells of a window the sidebar of a conversation takes.
func (m *Model) Takes(width int, shown *transcript.Model) int {
	if m.hidden || width < From || len(shown.Entries) == 0 {
		m.show(nil, shown)
		return 0
	}
	m.aside = shown.Aside()
	m.show(m.aside.Plan, shown)
	return Width
}

// Toggle hides or shows it, and says where it cannot be shown.
func (m *Model) Toggle(width int) (says string) {
	if width < From {
		return fmt.Sprintf("the sidebar needs a window of %d columns", From)
	}
	m.hidden = !m.hidden
	return ""
}

// show has the steps of a plan shown here, and not in the conversation.
func (m *Model) show(p *plan.Plan, in *transcript.Model) {
	if m.plan == p {
		return
	}
	for _, each := range []*plan.Plan{m.plan, p} {
		if each != nil {
			each.Elsewhere = each == p
			in.Invalidate(each)
		}
	}
	m.plan = p
}

// View returns exactly height lines, none wider than the sidebar less its gutter.
func (m *Model) View(height int, p *frame.Prompt, s backend.Status, theme *draw.Theme) []string {
	a := m.aside
	key := fmt.Sprint(height, s, p.Gauge(s, theme), a.Version())
	if key != m.key || theme != m.theme {
		m.key, m.theme, m.lines = key, theme, lines(height, a, p, s, theme)
	}
	return m.lines
}

func lines(height int, a transcript.Aside, p *frame.Prompt, s backend.Status, theme *draw.Theme) []string {
	const width = Width - frame.Gutter
	var above, below []string
	if a.Plan != nil {
		above = append(above, theme.Strong.Render("Plan")+"  "+theme.Dim.Render(a.Plan.Progress()))
		above = append(above, a.Plan.Narrow(width, theme)...)
	}
	if a.Sources != nil {
		if len(above) > 0 {
			above = append(above, "")
		}
		above = append(above, theme.Strong.Render("Sources"))
		above = append(above, a.Sources.Narrow(width, theme)...)
	}
	if gauge := p.Gauge(s, theme); gauge != "" {
		below = append(below, theme.Strong.Render("Context"), gauge, "")
	}
	below = append(below, theme.Strong.Render("Sent"))
	sent := frame.Sent(s.Sent)
	switch {
	case s.Remote != "":
		sent += " · the model runs at " + safetext.Line(s.Remote)
	case s.Provider == "ollama" || s.Provider == "openai":
		sent += " · the model runs here"
	}
	if to := a.SentTo(); to != "" {
		sent += "\n" + to
	}
	below = append(below, draw.StyleLines(theme.Dim.Render, draw.Hang("", sent, width))...)
	if room := max(0, height-len(below)-1); len(above) > room {
		above = append(above[:max(0, room-1)], theme.Dim.Render("…"))
	}
	return draw.PadHeight(append(draw.PadHeight(above, max(0, height-len(below))), below...), height)
}

// Beside sets the lines of the sidebar right of those of the conversation, which
// are so many cells wide.
func Beside(left, right []string, width int) {
	for i := range left {
		if i < len(right) && right[i] != "" {
			left[i] += strings.Repeat(" ", max(0, width-draw.Width(left[i]))) + right[i]
		}
	}
}
