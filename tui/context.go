package tui

import (
	tea "charm.land/bubbletea/v2"
)

// showContext puts the bars into the transcript.
func (m *Model) showContext() tea.Cmd {
	if m.window.Agent == "" {
		m.flash("no prompt was sent yet in this conversation")
		return nil
	}
	shown := m.window
	m.transcript.Add(&shown)
	m.transcript.ToEnd()
	return nil
}
