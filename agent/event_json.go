package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"lifehub/llm"
)

// MarshalJSON encodes the event as one flat object.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event // without this method
	head, err := json.Marshal(plain(e))
	if err != nil {
		return nil, fmt.Errorf("write event %s: %w", e.Type, err)
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("write event %s: %w", e.Type, err)
	}
	if bytes.Equal(body, []byte("{}")) {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}

// Prompted is one request to the model, as sent. It is recorded in traces only
// and not emitted to front ends.
type Prompted struct {
	Agent     string          `json:"agent"`
	Model     string          `json:"model,omitempty"` // if known when the request is made
	Messages  []llm.Message   `json:"messages"`
	Tools     []string        `json:"tools,omitempty"`  // names of the tools offered for native calls
	Schema    json.RawMessage `json:"schema,omitempty"` // schema of the answer
	Think     string          `json:"think,omitempty"`
	MaxTokens int             `json:"max_tokens,omitempty"`
}

func (Prompted) name() string { return "prompt" }

// Kinds has a value of each kind of event, for decoding.
var Kinds = []Body{
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
	Reading{},
	Failed{},
	Ended{},
	Prompted{},
}

// UnmarshalJSON decodes what MarshalJSON encodes. Fields that JSON omits are
// nil, such as Reply and Err.
func (e *Event) UnmarshalJSON(data []byte) error {
	type plain Event // without this method
	var head plain
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	for _, kind := range Kinds {
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
	return fmt.Errorf("read an event: unknown kind %q", head.Type)
}
