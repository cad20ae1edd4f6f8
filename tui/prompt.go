package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
)

// Prompt is what is known of the last prompt that was sent.
type Prompt struct {
	Window panel.Context

	used, allocated int // tokens of the context window
}

// Count takes in what an event says of it.
func (p *Prompt) Count(body agent.Body) {
	p.Window.Count(body)
	switch e := body.(type) {
	case agent.ContextCounted:
		p.used, p.allocated = e.Used, e.Allocated
	case agent.Used:
		if e.Prompt > 0 { // else the server does not say, and what was counted here holds
			p.used = e.Prompt + e.Answer
		}
	}
}

// Forget begins another conversation with the same model.
func (p *Prompt) Forget() { *p = Prompt{allocated: p.allocated} }

// Gauge is how full the context window is, in the lower edge of the composer:
// "ctx ■■□□□□□□ 2.4k of 16k"; "" while nothing is known of it.
func (p *Prompt) Gauge(s backend.Status, theme *draw.Theme) string {
	const cells = 8
	window := cmp.Or(p.allocated, s.Window)
	switch {
	case window == 0 && p.used == 0:
		return ""
	case window == 0:
		return theme.Dim.Render("ctx " + draw.Short(p.used))
	}
	full := min(cells, (p.used*cells+window-1)/window)
	bar, style := strings.Repeat("■", full)+strings.Repeat("□", cells-full), theme.Dim
	if p.used*5 > window*4 {
		style = theme.Warning
	}
	return theme.Dim.Render("ctx ") + style.Render(bar) + theme.Dim.Render(fmt.Sprintf(" %s of %s", draw.Short(p.used), draw.Short(window)))
}

// Sent says how much left this machine.
func Sent(bytes int64) string {
	if bytes == 0 {
		return "nothing sent"
	}
	return "sent out: " + draw.Bytes(bytes)
}

// Progress tells terminals that know how (OSC 9;4) how far long work is.
func Progress(p *Pulling, s backend.Status) *tea.ProgressBar {
	switch {
	case p != nil && p.Total > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, int(p.Done*100/p.Total))
	case s.Indexing && s.Notes > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, min(100, s.Indexed*100/s.Notes))
	}
	return nil
}
