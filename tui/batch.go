package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
)

// batchWindow is the minimum time between two frames while events stream in: tokens that arrive
// within it are drawn together, and none waits longer. A frame costs about 10 bytes besides
// its text (docs/figures/screen.md).
const batchWindow = 32 * time.Millisecond

// batchMsg has the events that arrived since the last one.
type batchMsg struct {
	Turn   int
	Events []agent.Event
	Pieces int // of text, as the model sent them
	Over   bool
}

// nextEvents waits for an event, and then collects those that arrive within a window since the
// last batch, so that a burst of tokens costs one redraw. Consecutive pieces of text are
// joined.
func nextEvents(events <-chan agent.Event, turn int, last time.Time) tea.Cmd {
	return func() tea.Msg {
		b := batch{msg: batchMsg{Turn: turn}}
		first, open := <-events
		b.take(first, open)
		deadline := time.NewTimer(time.Until(last.Add(batchWindow)))
		defer deadline.Stop()
		for !b.urgent && !b.msg.Over {
			select { // an event that is ready precedes the deadline
			case e, open := <-events:
				b.take(e, open)
				continue
			default:
			}
			select {
			case e, open := <-events:
				b.take(e, open)
			case <-deadline.C:
				b.urgent = true
			}
		}
		b.flush()
		return b.msg
	}
}

// batch collects events and joins consecutive pieces of text.
type batch struct {
	msg    batchMsg
	joined *agent.Event // the current run of pieces; nil if there is none
	text   strings.Builder
	urgent bool // it must be drawn immediately
}

// take adds an event, or records that the channel is closed.
func (b *batch) take(e agent.Event, open bool) {
	if b.msg.Over = !open; open {
		b.add(e)
	}
}

func (b *batch) add(e agent.Event) {
	if said, ok := e.Body.(agent.Said); ok && said.Takes == 0 {
		if b.joined == nil {
			b.joined = &e
		}
		b.text.WriteString(said.Content)
		b.msg.Pieces++
		b.urgent = b.urgent || b.msg.Pieces >= 2048
		return
	}
	b.flush()
	b.msg.Events = append(b.msg.Events, e)
	switch e.Body.(type) {
	case agent.PermissionAsked, agent.InputAsked, agent.Ended, agent.Failed:
		b.urgent = true
	}
	b.urgent = b.urgent || len(b.msg.Events) >= 256
}

// flush ends a run of pieces.
func (b *batch) flush() {
	if b.joined == nil {
		return
	}
	e := *b.joined
	e.Body = agent.Said{Content: b.text.String()}
	b.msg.Events = append(b.msg.Events, e)
	b.joined = nil
	b.text.Reset()
}

// drainEvents reads the events of an open turn until it has ended, so that it can save what it has,
// or until a timeout.
func drainEvents(events <-chan agent.Event, most time.Duration) {
	late := time.After(most)
	for open := events != nil; open; {
		select {
		case _, open = <-events:
		case <-late:
			return
		}
	}
}

// streamSpeed measures how fast the text of an answer arrives.
type streamSpeed struct {
	PerSecond float64 // tokens; 0 if unknown

	pieces   int // of text so far, and when the first came
	first    time.Time
	measured time.Time // when PerSecond was computed
}

// newSpeed is how long a speed is shown before it is updated.
const newSpeed = 500 * time.Millisecond

// Count adds pieces of text.
func (s *streamSpeed) Count(pieces int, now time.Time) {
	if s.first.IsZero() {
		s.first = now
	}
	s.pieces += pieces
	if passed := now.Sub(s.first).Seconds(); s.pieces > 8 && passed > 0.3 && now.Sub(s.measured) >= newSpeed {
		s.PerSecond, s.measured = float64(s.pieces)/passed, now
	}
}

// nextOf waits for a value of a channel; nil if ch is nil.
func nextOf[T any](from <-chan T, msg func(T) tea.Msg) tea.Cmd {
	if from == nil {
		return nil
	}
	return func() tea.Msg {
		if sent, open := <-from; open {
			return msg(sent)
		}
		return nil
	}
}
