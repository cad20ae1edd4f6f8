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
