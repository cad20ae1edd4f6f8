package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// nextMode goes to the mode after the present one, around at the end.
func (m *Model) nextMode() tea.Cmd {
	modes := agent.Modes()
	at := slices.Index(modes, agent.Mode(m.mode))
	m.setMode(modes[(at+1)%len(modes)])
	return nil
}

// chooseMode takes what was typed after /mode.
func (m *Model) chooseMode(name string) tea.Cmd {
	said, mode := panel.ModeSaid(name, m.mode)
	for _, line := range said {
		m.transcript.Add(&transcript.Notice{Text: line})
	}
	if mode != "" {
		m.setMode(mode)
	}
	return nil
}

// setMode holds for later turns; one that is under way goes on as it began.
func (m *Model) setMode(mode agent.Mode) {
	m.mode = string(mode)
	m.UseMode(m.mode)
}
