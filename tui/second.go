package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
)

// followTurn shows the events of a turn in the second view, the page of /serve, as well.
func (m *Model) followTurn(conversation string, events <-chan agent.Event) <-chan agent.Event {
	if m.Options.Second == nil {
		return events
	}
	return m.Options.Second.Follow(conversation, events)
}

// sentMsg has what was sent in the second view.
type sentMsg chat.Sent

// nextSent waits for what is sent there.
func (m *Model) nextSent() tea.Cmd {
	if m.Options.Second == nil {
		return nil
	}
	return nextOf(m.Options.Second.Sent(), func(s chat.Sent) tea.Msg { return sentMsg(s) })
}

// sent sends a message of the second view, or queues it. What was typed into the composer stays there.
func (m *Model) sent(s sentMsg) tea.Cmd {
	switch {
	case s.Stop:
		m.stop()
		return nil
	case s.Resume && m.turn != nil:
		return nil
	case s.Resume:
		return m.proceed()
	case m.turn != nil:
		m.composer.Wait(s.Message, -1)
		return nil
	}
	return m.ask(s.Message)
}
