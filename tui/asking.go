package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/panel"
)

// asked reports whether a question waits for the user.
func (m *Model) asked() bool { return m.permission.Open() || m.input.Open() }

// asksInput reports whether what a server asks is the question in sight.
func (m *Model) asksInput() bool { return m.input.Open() && (m.inputFirst || !m.permission.Open()) }

// asksPermission reports whether the question in sight is a permission.
func (m *Model) asksPermission() bool { return m.permission.Open() && !m.asksInput() }

// uncovered reports whether no question waits, and says so if one does: nothing
// opens over it.
func (m *Model) uncovered() bool {
	if m.asked() && m.player == nil {
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

// askInput and askPermission put a question. It waits behind one that is in
// sight, of whichever kind.
func (m *Model) askInput(e agent.InputAsked) tea.Cmd {
	if !m.asked() {
		m.returnLetters() // of an offer
	}
	if !m.input.Open() {
		m.inputFirst = !m.permission.Open()
	}
	m.input.Ask(e)
	m.panel = nil
	m.unfocus()
	return m.rearm()
}

func (m *Model) askPermission(e agent.PermissionAsked) tea.Cmd {
	if !m.asked() {
		m.returnLetters() // of an offer
	}
	if !m.permission.Open() {
		m.inputFirst = m.input.Open()
	}
	m.permission.Ask(e)
	m.panel = nil
	m.unfocus()
	return m.rearm()
}

// takenLetters takes every choice back and returns the letters that questions took.
func (m *Model) takenLetters() []tea.KeyPressMsg {
	typed := slices.Concat(m.permission.GiveBack(), m.input.GiveBack())
	if m.offer != nil {
		typed = append(typed, m.offer.GiveBack()...)
	}
	return typed
}

// returnLetters gives the composer what questions took of a text.
func (m *Model) returnLetters() {
	for _, pressed := range m.takenLetters() {
		m.composer.Press(pressed)
	}
}

// withdraw takes questions away that the user did not answer. Letters that one
// of them had taken are the composer's.
func (m *Model) withdraw(settle func()) {
	typed := slices.Concat(m.permission.Typed, m.input.Typed)
	settle()
	if len(m.permission.Typed)+len(m.input.Typed) == 0 {
		for _, pressed := range typed {
			m.composer.Press(pressed)
		}
	}
}
