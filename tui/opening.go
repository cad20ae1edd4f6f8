package tui

import (
	"context"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/keys"
)

// opening is the time in which the screen is there and what it works with is
// not yet. What is typed is written at once; every other key, and what follows
// it, waits.
type opening struct {
	open    func(ctx context.Context) (backend.Options, error) // nil: all is there
	reading bool                                               // the conversation to resume is not there yet
	held    []tea.Msg                                          // what waits, in order
	err     error                                              // why it could not be opened
}

// openMsg brings what was opened.
type openMsg struct {
	options backend.Options
	err     error
}

// begin opens what the screen works with.
func (o *opening) begin(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		options, err := o.open(ctx)
		return openMsg{options, err}
	}
}

// holds reports whether a message waits until all is there.
func (o *opening) holds(msg tea.Msg, keys *keys.Map) bool {
	if o.open == nil && !o.reading {
		return false
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if key.Matches(msg, keys.Clear) || len(o.held) == 0 && msg.Text != "" && !key.Matches(msg, keys.HelpOnEmpty) {
			return false
		}
	case tea.PasteMsg, tea.MouseMsg:
	default:
		return false
	}
	o.held = append(o.held, msg)
	return true
}

// ready resumes what was opened, and then with what waited for it.
func (m *Model) ready(msg openMsg) tea.Cmd {
	if msg.err != nil {
		m.opening.err = msg.err
		return m.leave(backend.Quit)
	}
	m.opening = opening{held: m.opening.held}
	m.Options = msg.options
	m.applyOptions()
	start := m.start()
	if m.reads() {
		m.opening.reading = true // a question asked now would stand above what was said before
		return tea.Batch(m.follow(), start)
	}
	return tea.Batch(m.follow(), start, m.goOnWithHeld())
}

// goOnWithHeld takes what waited, in its order.
func (m *Model) goOnWithHeld() tea.Cmd {
	held := m.opening.held
	m.opening = opening{}
	var cmds []tea.Cmd
	for _, waited := range held {
		if pressed, ok := waited.(tea.KeyPressMsg); ok && m.panel != nil {
			m.writeBehind(pressed)
			continue
		}
		cmds = append(cmds, m.handleTerminal(waited))
	}
	return tea.Batch(cmds...)
}

// writeBehind gives a key that was meant for the composer to it, though a list
// that nobody had seen is over it now. Nothing is sent from there.
func (m *Model) writeBehind(pressed tea.KeyPressMsg) {
	if !key.Matches(pressed, m.keys.Send) {
		m.composer.Press(pressed)
	}
}
