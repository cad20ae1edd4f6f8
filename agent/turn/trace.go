package turn

import (
	"encoding/json"
	"log/slog"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// prompted keeps a request in the trace.
func (t *turn) prompted(who string, req llm.Request) {
	if t.Trace == nil {
		return
	}
	body := agent.Prompted{Agent: who, Model: t.ModelName(), Messages: req.Messages, Schema: req.Schema, Think: req.Think, MaxTokens: req.MaxTokens}
	for _, spec := range req.Tools {
		body.Tools = append(body.Tools, spec.Name)
	}
	t.sending.Lock()
	defer t.sending.Unlock()
	t.record(agent.Event{Type: agent.TypeOf(body), Turn: t.id, Time: t.Now(), Body: body})
}

// together is the time within which pieces of text become one event of the
// trace: with one for each token they would be most of it.
const together = 250 * time.Millisecond

// record adds an event to the turn's trace, which begins with the first one
// after the message was kept. A piece of text waits for more. Hold t.sending.
// What cannot be kept is logged and disturbs no turn.
func (t *turn) record(e agent.Event) {
	if t.Trace == nil || t.id == "" || t.piece != nil && lengthen(t.piece, e) {
		return
	}
	t.recordPiece()
	switch e.Body.(type) {
	case agent.Said, agent.Thought:
		t.piece = &e
	default:
		t.write(e)
	}
}

// lengthen adds a piece of text to the one before it. It reports false if they
// are not to become one event.
func lengthen(e *agent.Event, next agent.Event) bool {
	if next.Time.Sub(e.Time) >= together {
		return false
	}
	switch piece := e.Body.(type) {
	case agent.Said:
		more, ok := next.Body.(agent.Said)
		piece.Content += more.Content
		e.Body = piece
		return ok
	case agent.Thought:
		more, ok := next.Body.(agent.Thought)
		if !ok || more.Agent != piece.Agent || more.Step != piece.Step {
			return false
		}
		piece.Content += more.Content
		e.Body = piece
		return true
	}
	return false
}

// recordPiece writes the text that waits for more.
func (t *turn) recordPiece() {
	if t.piece != nil {
		t.write(*t.piece)
		t.piece = nil
	}
}

func (t *turn) write(e agent.Event) {
	if t.trace == nil {
		t.trace = t.Trace(t.id)
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = t.trace.Write(append(line, '\n'))
	}
	if err != nil {
		slog.Warn("keep an event in the trace", "turn", t.id, "event", e.Type, "error", err)
	}
}

// endTrace says that the trace is whole.
func (t *turn) endTrace() {
	t.sending.Lock()
	defer t.sending.Unlock()
	t.recordPiece()
	if t.trace == nil {
		return
	}
	if err := t.trace.Close(); err != nil {
		slog.Warn("keep the trace", "turn", t.id, "error", err)
	}
	t.trace = nil
}
