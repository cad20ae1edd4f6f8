package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
)

// lastPrompt describes the last prompt that was sent, and the largest of the conversation.
type lastPrompt struct {
	Window panel.Context

	used, allocated int // tokens of the largest prompt, and of the context window
	summary         int // of which the summary of older messages has so many
}

// Count updates it from an event. The prompts of a turn differ by what was found, but the
// largest one never gets smaller, unless older messages were summarised, of which there is a
// notice, or the window is another. Those of workers are not the conversation's.
func (p *lastPrompt) Count(body agent.Body) {
	p.Window.Count(body)
	switch e := body.(type) {
	case agent.ContextCounted:
		if e.Step != "" {
			return
		}
		summary := cmp.Or(e.Parts["summary"], p.summary) // not every prompt has it
		if e.Allocated != p.allocated || summary != p.summary {
			p.used, p.allocated, p.summary = 0, e.Allocated, summary
		}
		p.used = max(p.used, e.Used)
	case agent.Used:
		if e.Step == "" {
			p.used = max(p.used, e.Prompt+e.Answer)
		}
	}
}

// Forget resets it for another conversation with the same model.
func (p *lastPrompt) Forget() { *p = lastPrompt{allocated: p.allocated} }

// Gauge shows how full the context window is: "ctx ■■□□□□□□ 2.4k of 16k". It is
// empty while that is unknown or no model is connected.
func (p *lastPrompt) Gauge(s chat.Status, theme *draw.Theme) string {
	const cells = 8
	window := cmp.Or(p.allocated, s.Window)
	switch {
	case s.Provider == "offline":
		return ""
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
	return theme.Dim.Render("ctx ") + style.Render(bar) + theme.Dim.Render(fmt.Sprintf(" %s of %s",
		draw.Short(p.used), draw.Short(window)))
}

// sentText describes how much data left this machine.
func sentText(bytes int64) string {
	if bytes == 0 {
		return "nothing sent"
	}
	return "sent out: " + draw.Bytes(bytes)
}

// progressBar returns the progress of a pull or of indexing for terminals that show it
// (OSC 9;4), or nil.
func progressBar(p *pull, s chat.Status) *tea.ProgressBar {
	switch {
	case p != nil && p.step.total > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, int(p.step.done*100/p.step.total))
	case s.Indexing && s.Notes > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, min(100, s.Indexed*100/s.Notes))
	}
	return nil
}
