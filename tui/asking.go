package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/panel"
)

// uncovered reports whether no question waits, and says so if one does: nothing
// opens over it.
func (m *Model) uncovered() bool {
	if m.asks.Open() && m.player == nil {
		m.flash("answer the request first")
		return false
	}
	return true
}

// cover puts a list or a page over the transcript, unless a question waits.
func (m *Model) cover(by panel.Panel) bool {
	if !m.uncovered() {
		return false
	}
	m.panel = by
	return true
}

// askInput and askPermission put a question.
func (m *Model) askInput(e agent.InputAsked) tea.Cmd {
	return m.askUser(func() { m.asks.AskInput(e) })
}

func (m *Model) askPermission(e agent.PermissionAsked) tea.Cmd {
	return m.askUser(func() { m.asks.AskPermission(e) })
}

func (m *Model) askUser(ask func()) tea.Cmd {
	if !m.asks.Open() {
		m.returnLetters() // of an offer
	}
	ask()
	m.panel = nil
	m.unfocus()
	return m.redrawWhenArmed()
}

// takenLetters takes every choice back and returns the letters that questions took.
func (m *Model) takenLetters() []tea.KeyPressMsg {
	typed := m.asks.GiveBack()
	if m.offer != nil {
		typed = append(typed, m.offer.GiveBack()...)
	}
	return typed
}

// returnLetters gives the composer what questions took of a text.
func (m *Model) returnLetters() { m.typeLetters(m.takenLetters()) }

func (m *Model) typeLetters(letters []tea.KeyPressMsg) {
	for _, pressed := range letters {
		m.composer.Press(pressed)
	}
}
