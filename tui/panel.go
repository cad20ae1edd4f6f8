package tui

import (
	"lifehub/tui/panel"

	tea "charm.land/bubbletea/v2"
)

// updatePanel gives a message to the panel, and does what it asks for.
func (m *Model) updatePanel(msg tea.Msg) tea.Cmd {
	if m.panel == nil {
		return nil
	}
	before := m.panel
	next, did, cmd := before.Update(msg, &m.keys)
	if m.panel == before { // else the key has opened another one
		m.panel = next
	}
	return tea.Batch(cmd, m.panelDid(did))
}

// panelDid does what a panel asks for.
func (m *Model) panelDid(did tea.Msg) tea.Cmd {
	switch did := did.(type) {
	case panel.Flash:
		m.flash(string(did))
	case panel.Failed:
		return m.showPage(pageMsg{err: did.Err})
	case panel.NotMine:
		return m.pasteText(did.Content)
	case panel.Show:
		return m.showTurn(did.Turn, false)
	case panel.GoOn:
		return m.goOn(did.Turn)
	case panel.Fork:
		return m.fork(did.Turn)
	case panel.Consent:
		return m.giveConsent(did.Server)
	case panel.Pull:
		return m.pull(did.Model)
	case panel.Later:
		if m.pulling == nil {
			return m.leaveFirstRun()
		}
		m.stop()
	case panel.NotesTaken:
		return m.notesTaken(did.Offer)
	}
	return nil
}
