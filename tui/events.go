package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/batch"
	"lifehub/tui/transcript"
)

// startedMsg says that a turn is under way.
type startedMsg struct {
	turn         int
	conversation string
	events       <-chan agent.Event
	err          error
}

// turn is what the screen knows of the turn that is under way.
type turn struct {
	*transcript.Turn
	number   int
	events   <-chan agent.Event // nil until it has started
	cancel   func()
	abandon  func() // leaves it open, for LifeHub ends
	question string
	failed   bool

	speed  batch.Speed
	missed string // the model that was not there

	streams bool // text came since the last beat
	rested  int  // beats since the spinner turned
}

// receive shows a batch of events and asks for the next.
func (m *Model) receive(msg batch.Msg) tea.Cmd {
	t := m.turn
	if t == nil || msg.Turn != t.number {
		return nil
	}
	now := m.now()
	if msg.Pieces > 0 {
		t.speed.Count(msg.Pieces, now)
		t.streams = true
	}
	var cmds []tea.Cmd
	for _, e := range msg.Events {
		if !e.Time.IsZero() {
			now = e.Time // of a batch each has its own
		}
		cmds = append(cmds, m.show(e, now))
	}
	if msg.Over {
		return tea.Batch(append(cmds, m.turnOver(now))...)
	}
	return tea.Batch(append(cmds, batch.Next(t.events, t.number, time.Now()))...)
}

// show takes an event to the transcript, and to what else of the screen it is for.
func (m *Model) show(e agent.Event, now time.Time) tea.Cmd {
	m.turn.Take(e, now)
	turnID := e.Turn
	switch e := e.Body.(type) {
	case agent.Started:
		if m.UseMode == nil {
			m.mode = e.Mode
		}
		m.kept(turnID)
	case agent.InputAsked:
		return tea.Batch(m.askInput(e), m.notify("a server asks for something"))
	case agent.InputGiven:
		m.typeLetters(m.asks.SettleInput(e.ID))
		return m.redrawWhenArmed()
	case agent.PermissionAsked:
		return tea.Batch(m.askPermission(e), m.notify("a tool asks to run"))
	case agent.PermissionGiven:
		m.typeLetters(m.asks.SettlePermission(e.Call))
		return m.redrawWhenArmed()
	case agent.ContextCounted:
		m.window.Count(e)
		m.used, m.allocated = e.Used, e.Allocated
	case agent.Used:
		m.window.Count(e)
		if e.Prompt > 0 { // else the server does not say, and what was counted here holds
			m.used = e.Prompt + e.Answer
		}
		m.speed = e.PerSecond
	case agent.Failed:
		m.failed(e, now)
		if e.Unkept {
			m.returnDue()
		}
	case agent.Ended:
		m.ended(e, now)
	}
	return nil
}

// kept notes under which id the question is kept.
func (m *Model) kept(turn string) {
	q := m.turn.Asked
	q.Turn = turn
	if turn != "" {
		m.draft.sending = ""
	}
	if len(q.Siblings) > 0 && turn != "" && !slices.Contains(q.Siblings, turn) {
		q.Siblings = append(slices.Clip(q.Siblings), turn)
	}
	m.transcript.Touch(q)
}
