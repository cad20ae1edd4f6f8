package frame

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/pull"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// Prompt is what is known of the last prompt that was sent.
type Prompt struct {
	Window transcript.Window
	Speed  float64 // tokens a second of its answer

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
		p.Speed = e.PerSecond
	}
}

// Forget begins another conversation with the same model.
func (p *Prompt) Forget() { *p = Prompt{allocated: p.allocated} }

// Figures are the parts of the status line, the one that matters most first.
func (p *Prompt) Figures(mode string, speed float64, s backend.Status) []string {
	var parts []string
	if mode != "" {
		parts = append(parts, safetext.Line(mode))
	}
	switch window := cmp.Or(p.allocated, s.Window); {
	case window > 0:
		parts = append(parts, fmt.Sprintf("ctx %s of %s", draw.Short(p.used), draw.Short(window)))
	case p.used > 0:
		parts = append(parts, "ctx "+draw.Short(p.used))
	}
	if speed > 0 {
		parts = append(parts, fmt.Sprintf("%.0f tok/s", speed))
	}
	return append(parts, draw.Bytes(s.Sent)+" left this machine")
}

// Progress tells terminals that know how (OSC 9;4) how far long work is.
func Progress(p *pull.Pulling, s backend.Status) *tea.ProgressBar {
	switch {
	case p != nil && p.Total > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, int(p.Done*100/p.Total))
	case s.Indexing && s.Notes > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, min(100, s.Indexed*100/s.Notes))
	}
	return nil
}
