package tui

import (
	"context"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/transcript"
)

// resumable is the last turn of the conversation, which did not come to its end.
type resumable struct {
	turn    string
	asked   *transcript.Question
	offered bool // a line says so
	quiet   time.Time
}

// leftOver finds out whether the last of the turns shown can be resumed.
// What was killed or cut off is offered; what the user stopped is not, but
// /continue knows of it.
func (m *Model) leftOver(exchanges []agent.Exchange) {
	m.resumable = nil
	if len(exchanges) == 0 || m.Resume == nil {
		return
	}
	last := exchanges[len(exchanges)-1]
	if last.Running || last.Undone || !last.Open && !last.Answer.Cut && last.Answer.Error == "" {
		return
	}
	for _, e := range m.transcript.Entries {
		if q, ok := e.Item.(*transcript.Question); ok && q.Turn == last.Turn {
			m.resumable = &resumable{turn: last.Turn, asked: q, offered: last.Open, quiet: time.Now()}
		}
	}
}

// turnLeft keeps in mind what a turn that was stopped or failed has not done.
func (m *Model) turnLeft(t *turn) {
	if m.Resume != nil && t.Asked != nil && t.Asked.Turn != "" {
		m.resumable = &resumable{turn: t.Asked.Turn, asked: t.Asked, offered: t.failed && t.Answer != nil, quiet: time.Now()}
	}
}

// pressLeft takes Enter on an empty composer, after a time without any key,
// as a yes to the offer.
func (m *Model) pressLeft(pressed tea.KeyPressMsg, now time.Time) (tea.Cmd, bool) {
	armed := now.Sub(m.resumable.quiet) >= dialog.Guard
	m.resumable.quiet = now
	if !armed || !m.resumable.offered || m.turn != nil || !m.composer.Empty() || !key.Matches(pressed, m.keys.Send) {
		return nil, false
	}
	return m.proceed(), true
}

// view is the offer.
func (l *resumable) view(width int, keys *keys.Map, theme *draw.Theme, empty bool) []string {
	enter := keys.Send.Help().Key + " goes on with it"
	if !empty {
		return dialog.Offered("? This was cut off. ", "", "With nothing written, "+enter, width, theme)
	}
	return dialog.Offered("? This was cut off. ", enter, " · or ask something else", width, theme)
}

// proceed resumes the turn that did not come to its end.
func (m *Model) proceed() tea.Cmd {
	l := m.resumable
	if l == nil || m.Resume == nil {
		m.flash("there is nothing to go on with")
		return nil
	}
	if m.busy() {
		return nil
	}
	ctx := m.newTurn(l.asked.Text)
	m.turn.Asked = l.asked
	m.transcript.ForgetEnding(l.asked)
	m.transcript.ToEnd()
	number, id := m.turns, m.conversation
	return func() tea.Msg {
		return startedMsg{turn: number, conversation: id, events: m.Resume(ctx, id, l.turn)}
	}
}

// newTurn makes the turn that is under way from now on.
func (m *Model) newTurn(text string) context.Context {
	m.turns++
	m.resumable = nil
	ctx, stop := context.WithCancelCause(m.base)
	m.turn = &turn{
		Turn:   m.transcript.Begin(),
		number: m.turns, cancel: func() { stop(nil) }, abandon: func() { stop(agent.ErrShutdown) }, question: text,
	}
	return ctx
}
