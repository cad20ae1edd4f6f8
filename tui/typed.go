package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

const (
	// atOnce is the time between two keys of a text that arrives at once: by a terminal that does not mark pastes, or
	// by a program. Nobody types as fast for more than a few keys.
	atOnce = 5 * time.Millisecond
	// afterEnter is how long an Enter in such a text waits for more of it.
	afterEnter = 30 * time.Millisecond
	// textOver is the silence after which such a text is inserted and drawn, which costs more the longer it is.
	textOver = 16 * time.Millisecond
)

// pasted is the length of what follows an Enter in such a text from which on it is a line break. Less may be keys that
// a busy machine could not handle in time.
const pasted = 8

// burst is a text that arrives at once. Its line breaks are text; only an Enter that ends a single line is a key.
type burst struct {
	last  time.Time // when the last of it was handled, which may take longer than it took to come
	lines bool      // it has several lines, or a marked paste
	enter tea.Msg   // an Enter that waits for what follows; nil: none
	text  string    // of it that is not in the composer yet; behind enter, if one waits
	due   bool      // a message will insert it
}

// Messages of a burst: whether an Enter ended it, and that its text is to be inserted.
type (
	enterDueMsg struct{}
	textDueMsg  struct{}
)

// collects takes a key of a burst that is only text for the composer, and reports whether it was one.
func (m *Model) collects(msg tea.Msg, now time.Time) bool {
	pressed, ok := msg.(tea.KeyPressMsg)
	b := &m.burst
	if !ok || now.Sub(b.last) >= atOnce || b.enter == nil && !m.writes() {
		return false
	}
	text := pressed.Text
	if key.Matches(pressed, m.keys.Newline) || (b.lines || b.enter != nil) && key.Matches(pressed, m.keys.Send) {
		text = "\n"
	}
	if text == "" {
		return false
	}
	b.last, b.text = now, b.text+text
	b.lines = b.lines || b.enter == nil && text == "\n"
	if b.enter != nil && len(b.text) >= pasted {
		b.enter, b.lines, b.text = nil, true, "\n"+b.text
	}
	return true
}

// writes reports whether all letters go to the composer.
func (m *Model) writes() bool {
	opening := m.opening.Opener != nil || m.opening.Reading
	covered := m.panel != nil || m.focused || m.lists.Open()
	written := !m.composer.Empty() || m.burst.text != "" // the first letter may be a key
	return written && !opening && !covered && !m.asks.Open()
}

// insertTyped inserts what was collected, unless an Enter before it waits.
func (m *Model) insertTyped() tea.Cmd {
	text := m.burst.text
	if text == "" || m.burst.enter != nil {
		return nil
	}
	m.burst.text = ""
	m.returnLetters()
	m.composer.Type(text)
	return m.follow()
}

// textDue asks for a message that inserts what was collected.
func (m *Model) textDue() tea.Cmd {
	if m.burst.due {
		return nil
	}
	m.burst.due = true
	return tea.Tick(textOver, func(time.Time) tea.Msg { return textDueMsg{} })
}

// pressTyped handles a key, as a part of a burst if it came that fast.
func (m *Model) pressTyped(pressed tea.KeyPressMsg, now time.Time) tea.Cmd {
	b := &m.burst
	fast := now.Sub(b.last) < atOnce
	newline := key.Matches(pressed, m.keys.Newline)
	b.lines = fast && (b.lines || newline)
	enter := fast && key.Matches(pressed, m.keys.Send) && m.panel == nil && !m.focused
	if pressed.Text != "" || enter || newline {
		b.last = now
	}
	before := m.pressEnter()
	switch {
	case enter && b.lines:
		m.returnLetters()
		m.composer.Newline()
		return tea.Batch(before, m.follow())
	case enter:
		b.enter = pressed
		return enterDue()
	}
	return tea.Batch(before, m.press(pressed))
}

// enterDue asks for a message that presses the Enter, if nothing follows it.
func enterDue() tea.Cmd {
	return tea.Tick(afterEnter, func(time.Time) tea.Msg { return enterDueMsg{} })
}

// pressEnter presses the Enter that waits, and what came after it.
func (m *Model) pressEnter() tea.Cmd {
	pressed, waits := m.burst.enter.(tea.KeyPressMsg)
	if !waits {
		return nil
	}
	rest := m.burst.text
	m.burst.enter, m.burst.text = nil, ""
	cmds := []tea.Cmd{m.press(pressed)}
	for _, letter := range rest {
		next := tea.KeyPressMsg{Code: letter, Text: string(letter)}
		if letter == '\n' {
			next = pressed
		}
		cmds = append(cmds, m.press(next))
	}
	return tea.Batch(cmds...)
}
