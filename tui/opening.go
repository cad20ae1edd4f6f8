package tui

import (
	"context"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
)

// opener is the state of a screen whose options are still being opened. Text is inserted at
// once; any other key, and what follows it, waits.
type opener struct {
	Opener  chat.Opener // nil if the options are complete
	Reading bool        // the conversation to resume is being read
	Held    []held      // waiting messages, in order
	Err     error       // why it could not be opened
}

// held is a message that waits, and when it came.
type held struct {
	msg tea.Msg
	at  time.Time
}

// openedMsg has the opened options.
type openedMsg struct {
	Options chat.Options
	Err     error
}

// Begin opens the options.
func (o *opener) Begin(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		options, err := o.Opener.Open(ctx)
		return openedMsg{options, err}
	}
}

// Holds reports whether a message waits until the options are open.
func (o *opener) Holds(msg tea.Msg, keys *draw.Keys) bool {
	if o.Opener == nil && !o.Reading {
		return false
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if key.Matches(msg, keys.Clear) || len(o.Held) == 0 && msg.Text != "" && !key.Matches(msg, keys.HelpOnEmpty) {
			return false
		}
	case tea.PasteMsg, tea.MouseMsg:
	default:
		return false
	}
	o.Held = append(o.Held, held{msg, time.Now()})
	return true
}
