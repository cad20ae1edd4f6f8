package tui

import tea "charm.land/bubbletea/v2"

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
	case Flash:
		m.flash(string(did))
	case Failed:
		return m.showPage(pageMsg{err: did.Err})
	case NotMine:
		return m.pasteText(did.Content)
	case Show:
		return m.showTurn(did.Turn, false)
	case GoOn:
		return m.goOn(did.Turn)
	case Fork:
		return m.fork(did.Turn)
	case Consent:
		return m.giveConsent(did.Server)
	case Pull:
		return m.pull(did.Model)
	case Later:
		if m.pulling == nil {
			return m.leaveFirstRun()
		}
		m.stop()
	case NotesTaken:
		return m.notesTaken(did.Offer)
	}
	return nil
}
