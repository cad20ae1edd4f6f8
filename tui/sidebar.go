package tui

import (
	"fmt"
	"strings"

	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// Width of a window from which it has a sidebar, and the width of the sidebar.
const (
	sidebarFrom  = 150
	sidebarWidth = 40
)

// sidebar shows the plan, the sources, the context gauge and what was sent.
type sidebar struct {
	Hidden bool // by the user

	stands  bool
	plan    *transcript.Plan // that it shows
	sources *transcript.Sources
	cut     bool               // some of them have no room
	listed  int                // the line of the first of them
	of      []transcript.Cited // which of them the lines from there on are
	key     string
	theme   *draw.Theme
	lines   []string
}

// Takes draws the sidebar and returns its width, which is 0 before the conversation has
// begun.
func (m *sidebar) Takes(width, height int, shown *transcript.Model, p *lastPrompt,
	s chat.Status, theme *draw.Theme,
) int {
	a := shown.Aside()
	// whether it has anything to show or not: nothing jumps
	m.stands = !m.Hidden && width >= sidebarFrom && len(shown.Entries) > 0
	if !m.stands {
		m.show(transcript.Aside{}, shown)
		return 0
	}
	if key := fmt.Sprint(height, s, p.Gauge(s, theme), a.Version()); key != m.key || theme != m.theme {
		m.key, m.theme = key, theme
		m.draw(height, a, p, s, theme)
	}
	if m.cut { // all of the sources must be visible
		a.Sources = nil
	}
	m.show(a, shown)
	return sidebarWidth
}

// show folds in the conversation what the sidebar shows.
func (m *sidebar) show(a transcript.Aside, in *transcript.Model) {
	if a.Plan != m.plan {
		for _, each := range []*transcript.Plan{m.plan, a.Plan} {
			if each != nil {
				each.Elsewhere = each == a.Plan
				in.Invalidate(each)
			}
		}
	}
	if a.Sources != m.sources {
		for _, each := range []*transcript.Sources{m.sources, a.Sources} {
			if each != nil {
				each.Elsewhere = each == a.Sources
				in.Invalidate(each)
			}
		}
	}
	m.plan, m.sources = a.Plan, a.Sources
}

// draw draws the lines of the sidebar.
func (m *sidebar) draw(height int, a transcript.Aside, p *lastPrompt, s chat.Status, theme *draw.Theme) {
	const width = sidebarWidth - draw.Gutter
	var above, below []string
	m.cut, m.listed, m.of = false, 0, nil
	if a.Plan != nil {
		above = append(above, theme.Strong.Render("Plan")+"  "+theme.Dim.Render(a.Plan.Progress()))
		above = append(above, a.Plan.Narrow(width, theme)...)
	}
	if a.Sources != nil {
		if len(above) > 0 {
			above = append(above, "")
		}
		above = append(above, theme.Strong.Render("Sources"))
		list, passage, of := a.Sources.Narrow(width, theme)
		m.listed, m.of = len(above), of
		above = append(above, list...)
		above = append(append(above, ""), passage...)
	}
	if gauge := p.Gauge(s, theme); gauge != "" {
		below = append(below, theme.Strong.Render("Context"), gauge, "")
	}
	below = append(below, theme.Strong.Render("Sent"))
	sent := sentText(s.Sent)
	switch {
	case s.Remote != "":
		sent += " · the model runs at " + safetext.Line(s.Remote)
	case s.IsLocal():
		sent += " · local model"
	}
	if to := a.SentTo(); to != "" {
		sent += "\n" + to
	}
	below = append(below, draw.StyleLines(theme.Dim.Render, draw.Hang("", sent, width))...)
	if room := max(0, height-len(below)-1); len(above) > room {
		m.cut = room <= m.listed+len(m.of)
		above = append(above[:max(0, room-1)], theme.Dim.Render("…"))
	}
	m.lines = draw.PadHeight(append(draw.PadHeight(above, max(0, height-len(below))), below...), height)
}

// Source returns the source on a line of the sidebar, if there is one.
func (m *sidebar) Source(line int) (c transcript.Cited, ok bool) {
	if at := line - m.listed; m.stands && !m.cut && at >= 0 && at < len(m.of) {
		return m.of[at], true
	}
	return c, false
}

// Beside appends the sidebar to the lines of the conversation, which have a given width.
func (m *sidebar) Beside(left []string, width int) {
	for i := range left {
		if i < len(m.lines) && m.lines[i] != "" {
			left[i] += strings.Repeat(" ", max(0, width-draw.Width(left[i]))) + m.lines[i]
		}
	}
}
