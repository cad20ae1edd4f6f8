package agent

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"lifehub/llm"
)

// Prompted is one request to the model, as it was sent. It stands only in
// traces: no front end is told.
type Prompted struct {
	Agent     string          `json:"agent"`
	Model     string          `json:"model,omitempty"` // as far as it is known when the request is made
	Messages  []llm.Message   `json:"messages"`
	Tools     []string        `json:"tools,omitempty"`  // offered for native calls, by name
	Schema    json.RawMessage `json:"schema,omitempty"` // the shape that the answer has to have
	Think     string          `json:"think,omitempty"`
	MaxTokens int             `json:"max_tokens,omitempty"`
}

func (Prompted) name() string { return "prompt" }

// prompted keeps a request in the trace.
func (t *turn) prompted(who string, req llm.Request) {
	if t.Trace == nil {
		return
	}
	body := Prompted{Agent: who, Model: t.ModelName(), Messages: req.Messages, Schema: req.Schema, Think: req.Think, MaxTokens: req.MaxTokens}
	for _, spec := range req.Tools {
		body.Tools = append(body.Tools, spec.Name)
	}
	t.sending.Lock()
	defer t.sending.Unlock()
	t.record(Event{Type: TypeOf(body), Turn: t.id, Time: t.Now(), Body: body})
}

// together is the time within which pieces of text become one event of the
// trace: with one for each token they would be most of it.
const together = 250 * time.Millisecond

// record adds an event to the turn's trace, which begins with the first one
// after the message was kept. A piece of text waits for more. Hold t.sending.
// What cannot be kept is logged and disturbs no turn.
func (t *turn) record(e Event) {
	if t.Trace == nil || t.id == "" || t.piece != nil && lengthen(t.piece, e) {
		return
	}
	t.recordPiece()
	switch e.Body.(type) {
	case Said, Thought:
		t.piece = &e
	default:
		t.write(e)
	}
}

// lengthen adds a piece of text to the one before it. It reports false if they
// are not to become one event.
func lengthen(e *Event, next Event) bool {
	if next.Time.Sub(e.Time) >= together {
		return false
	}
	switch piece := e.Body.(type) {
	case Said:
		more, ok := next.Body.(Said)
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

// recordPiece writes the text that waits for more.
func (t *turn) recordPiece() {
	if t.piece != nil {
		t.write(*t.piece)
		t.piece = nil
	}
}

func (t *turn) write(e Event) {
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

// kinds has one of each kind of event, for reading them back.
var kinds = []Body{
	Started{},
	PhaseStarted{},
	PhaseEnded{},
	Evaluated{},
	ArtifactChanged{},
	Remembered{},
	PlanMade{},
	StepChanged{},
	ToolStarted{},
	ToolProgressed{},
	ToolEnded{},
	InputAsked{},
	InputGiven{},
	PermissionAsked{},
	PermissionGiven{},
	Thought{},
	Said{},
	ContextCounted{},
	Used{},
	Cited{},
	Noticed{},
	Failed{},
	Ended{},
	Prompted{},
}

// UnmarshalJSON reads an event as MarshalJSON writes it. What JSON does not
// hold is nil: Reply of a question, Err of a failure.
func (e *Event) UnmarshalJSON(data []byte) error {
	type plain Event // without this method
	var head plain
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	for _, kind := range kinds {
		if kind.name() != head.Type {
			continue
		}
		body := reflect.New(reflect.TypeOf(kind))
		if err := json.Unmarshal(data, body.Interface()); err != nil {
			return fmt.Errorf("read event %s: %w", head.Type, err)
		}
		head.Body = body.Elem().Interface().(Body)
		*e = Event(head)
		return nil
	}
	return fmt.Errorf("read an event: %q is of no kind that is known", head.Type)
}
