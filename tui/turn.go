package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/batch"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// ask shows a question and starts its turn.
func (m *Model) ask(text string) tea.Cmd { return m.askAt(text, nil) }

// askAt asks in another place of the tree than the end of what is shown; nil:
// there.
func (m *Model) askAt(text string, at *branch) tea.Cmd {
	return m.startTurn(text, at, m.Assistant.Ask)
}

// startTurn begins a turn in a way of its own.
func (m *Model) startTurn(text string, at *branch, begin func(ctx context.Context, conversation, text string) <-chan agent.Event) tea.Cmd {
	m.suggest("")
	ctx := m.newTurn(text)
	q := &transcript.Question{Text: text, After: m.lastTurn()}
	if at != nil {
		q.After, q.Siblings = at.after, at.siblings
	}
	m.turn.Asked = q
	m.transcript.Add(q)
	m.transcript.ToEnd()
	if m.title == "" {
		m.title = agent.PlainLine(text)
	}
	number, id := m.turns, m.conversation
	m.draft.sending = text
	keep := m.draftSaver()
	return func() tea.Msg {
		msg := startedMsg{turn: number, conversation: id}
		if id == "" && m.Conversations != nil {
			if msg.conversation, msg.err = m.Conversations.New(ctx); msg.err != nil {
				return msg
			}
		}
		if at != nil {
			if msg.err = m.Branches.GoOn(ctx, id, at.after); msg.err != nil {
				return msg
			}
		}
		_ = keep(ctx, msg.conversation) // the next change of what is typed says why it cannot be
		msg.events = begin(ctx, msg.conversation, text)
		return msg
	}
}

// started begins to read the events of a turn.
func (m *Model) started(msg startedMsg) tea.Cmd {
	if m.turn == nil || m.turn.number != msg.turn {
		return nil
	}
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		question := m.turn.question
		m.draft.sending = ""
		m.turn.cancel()
		m.turn = nil
		m.composer.Set(safetext.Text(question)) // nothing is lost
		return nil
	}
	m.conversation = msg.conversation
	m.turn.events = msg.events
	return batch.Next(msg.events, msg.turn, time.Time{})
}

// stop ends the running turn and keeps what was streamed. It reports whether
// there was anything to stop.
func (m *Model) stop() bool {
	if m.pulling != nil {
		m.pulling.Cancel()
		return true
	}
	t := m.turn
	if t == nil || t.Stopped {
		return t != nil
	}
	m.closeTurn("stopped", time.Now())
	t.Stopped = true
	t.cancel()
	return true
}

// clear is Ctrl+C: it clears what is written, else stops what runs, else
// leaves when pressed once more.
func (m *Model) clear(parting bool) tea.Cmd {
	switch {
	case parting:
		return m.leave(backend.Interrupted)
	case m.editing != nil:
		m.stopEditing()
		return nil
	case !m.composer.Empty():
		m.composer.Clear()
		m.palette.Rows = nil
		return nil
	case m.turn != nil && !m.turn.Stopped, m.pulling != nil:
		m.stop()
	}
	m.parting = true
	m.flash("ctrl+c once more quits")
	return nil
}

// leave ends the program.
func (m *Model) leave(how backend.Ended) tea.Cmd {
	m.exit, m.exited = how, true
	switch {
	case m.turn != nil && how == backend.Terminated && !m.turn.Stopped:
		m.turn.abandon()
	case m.turn != nil:
		m.turn.cancel()
	}
	if m.pulling != nil {
		m.pulling.Cancel()
	}
	return tea.Quit
}

type leaveMsg backend.Ended
