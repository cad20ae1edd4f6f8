package agent

import (
	"encoding/json"
	"log/slog"
	"time"
)

// Prompted writes a request to the trace.
func (s *Stream) Prompted(body Prompted) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.record(Event{Type: TypeOf(body), Turn: s.Turn, Time: s.Now(), Body: body})
}

// together is the interval in which pieces of text become one event of the
// trace. One event for each token would be most of the trace.
const together = 250 * time.Millisecond

// record adds an event to the trace, which starts with the first event after
// the message was saved. A piece of text is held back to be merged with the
// next. Errors are logged and do not affect the turn. The caller must hold
// s.sending.
func (s *Stream) record(e Event) {
	if s.Trace == nil || s.Turn == "" || s.piece != nil && lengthen(s.piece, e) {
		return
	}
	s.recordPiece()
	switch e.Body.(type) {
	case Said, Thought:
		s.piece = &e
	default:
		s.write(e)
	}
}

// lengthen appends a piece of text to the one before it. It reports false if
// they should remain separate events.
func lengthen(e *Event, next Event) bool {
	if next.Time.Sub(e.Time) >= together {
		return false
	}
	switch piece := e.Body.(type) {
	case Said:
		more, ok := next.Body.(Said)
		if more.Takes > 0 {
			return false
		}
		piece.Content += more.Content
		e.Body = piece
		return ok
	case Thought:
		more, ok := next.Body.(Thought)
		if !ok || more.Agent != piece.Agent || more.Step != piece.Step {
			return false
		}
		piece.Content += more.Content
		e.Body = piece
		return true
	}
	return false
}

// recordPiece writes the text that was held back.
func (s *Stream) recordPiece() {
	if s.piece != nil {
		s.write(*s.piece)
		s.piece = nil
	}
}

func (s *Stream) write(e Event) {
	if s.trace == nil {
		s.trace = s.Trace.Begin(s.Turn)
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = s.trace.Write(append(line, '\n'))
	}
	if err != nil {
		slog.Warn("keep an event in the trace", "turn", s.Turn, "event", e.Type, "error", err)
	}
}

// EndTrace completes and closes the trace.
func (s *Stream) EndTrace() {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.recordPiece()
	if s.trace == nil {
		return
	}
	if err := s.trace.Close(); err != nil {
		slog.Warn("keep the trace", "turn", s.Turn, "error", err)
	}
	s.trace = nil
}
