package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/transcript"
)

// batchWindow is the least time between two pictures while events stream in: tokens
// that arrive within it are drawn together. A picture costs about 27 bytes for
// the cursor besides its text (docs/figures/screen.md), and its length is what
// a token may wait before it shows.
const batchWindow = 25 * time.Millisecond

type (
	// eventsMsg is all that arrived since the last one.
	eventsMsg struct {
		turn   int
		events []agent.Event
		pieces int // of text, as the model sent them
		over   bool
	}
	// startedMsg says that a turn is under way.
	startedMsg struct {
		turn         int
		conversation string
		events       <-chan agent.Event
		err          error
	}
)

// next waits for an event and then takes along what arrives until a frame
// after the last batch has passed, so that a burst of tokens costs one redraw.
// Pieces of text that follow one another become one.
func next(events <-chan agent.Event, turn int, last time.Time) tea.Cmd {
	return func() tea.Msg {
		msg := eventsMsg{turn: turn}
		first, open := <-events
		if !open {
			msg.over = true
			return msg
		}
		deadline := time.NewTimer(time.Until(last.Add(batchWindow)))
		defer deadline.Stop()
		b := batch{msg: &msg}
		b.add(first)
		for !b.urgent {
			select {
			case e, open := <-events:
				if !open {
					msg.over = true
					b.flush()
					return msg
				}
				b.add(e)
				continue
			default:
			}
			select {
			case e, open := <-events:
				if !open {
					msg.over = true
					b.flush()
					return msg
				}
				b.add(e)
			case <-deadline.C:
				b.flush()
				return msg
			}
		}
		b.flush()
		return msg
	}
}

// batch collects events and joins the text of pieces in a row.
type batch struct {
	msg    *eventsMsg
	said   *agent.Event // the open run of pieces; nil: none
	text   strings.Builder
	urgent bool // something came that must be seen at once
}

func (b *batch) add(e agent.Event) {
	if said, ok := e.Body.(agent.Said); ok {
		if b.said == nil {
			b.said = &e
		}
		b.text.WriteString(said.Content)
		b.msg.pieces++
		b.urgent = b.urgent || b.msg.pieces >= 2048
		return
	}
	b.flush()
	b.msg.events = append(b.msg.events, e)
	switch e.Body.(type) {
	case agent.PermissionAsked, agent.InputAsked, agent.Ended, agent.Failed:
		b.urgent = true
	}
	b.urgent = b.urgent || len(b.msg.events) >= 256
}

// flush closes the run of pieces.
func (b *batch) flush() {
	if b.said == nil {
		return
	}
	e := *b.said
	e.Body = agent.Said{Content: b.text.String()}
	b.msg.events = append(b.msg.events, e)
	b.said = nil
	b.text.Reset()
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

	pieces   int // of text so far, and when the first came
	first    time.Time
	speed    float64 // tokens a second, and when that was worked out
	measured time.Time
	missed   string // the model that was not there

	streams bool // text came since the last beat
	rested  int  // beats since the spinner turned
}

// newSpeed is how long a speed is shown: each other one is bytes for the
// terminal, and nobody reads faster.
const newSpeed = 500 * time.Millisecond

// count takes pieces of text into the speed.
func (t *turn) count(pieces int, now time.Time) {
	if t.first.IsZero() {
		t.first = now
	}
	t.pieces += pieces
	t.streams = true
	if passed := now.Sub(t.first).Seconds(); t.pieces > 8 && passed > 0.3 && now.Sub(t.measured) >= newSpeed {
		t.speed, t.measured = float64(t.pieces)/passed, now
	}
}

// receive shows a batch of events and asks for the next.
func (m *Model) receive(msg eventsMsg) tea.Cmd {
	t := m.turn
	if t == nil || msg.turn != t.number {
		return nil
	}
	now := m.now()
	if msg.pieces > 0 {
		t.count(msg.pieces, now)
	}
	var cmds []tea.Cmd
	for _, e := range msg.events {
		if !e.Time.IsZero() {
			now = e.Time // of a batch each has its own
		}
		cmds = append(cmds, m.show(e, now))
	}
	if msg.over {
		return tea.Batch(append(cmds, m.turnOver(now))...)
	}
	return tea.Batch(append(cmds, next(t.events, t.number, time.Now()))...)
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
