package gate

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/llm"
)

// testGuard returns the guard of a turn in which the user typed a message, and whose
// questions are answered with reply. asked ends the turn and returns the questions.
func testGuard(t *testing.T, gate *Gate, conversation, typed string,
	reply agent.Decision,
) (guard *Guard, asked func() []agent.PermissionAsked) {
	t.Helper()
	sent, answered := make(chan agent.Event), make(chan []agent.PermissionAsked)
	go func() { // ends when sent is closed
		var list []agent.PermissionAsked
		for event := range sent {
			if question, ok := event.Body.(agent.PermissionAsked); ok {
				list = append(list, question)
				question.Reply(agent.Reply{Decision: reply})
			}
		}
		answered <- list
	}()
	asked = sync.OnceValue(func() []agent.PermissionAsked {
		close(sent)
		return <-answered
	})
	t.Cleanup(func() { asked() })
	guard = &Guard{
		Gate: gate, Schemas: &agent.Schemas{},
		Record: &Record{
			Stream: agent.NewStream(sent, saturday), Conversation: conversation,
			Marks: agenttest.NewMarks(),
		},
	}
	guard.Record.AddMessage(typed)
	return guard, asked
}

// saturday is the time of these tests.
func saturday() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

// fakeTool is a read-only tool that is never run.
type fakeTool struct {
	name, schema string
	level        agent.Level
	outward      bool
	bounds       []string
}

func (f *fakeTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: f.name, Description: "does " + f.name, Schema: json.RawMessage(f.schema)}
}

func (f *fakeTool) Properties() agent.Properties {
	return agent.Properties{Level: f.level, ReadOnly: true, Outward: f.outward, Bounds: append([]string{}, f.bounds...)}
}

func (*fakeTool) Run(context.Context, json.RawMessage) (agent.Result, error) {
	return agent.Result{}, nil
}

// opener is a tool that opens an address.
type opener struct{ *fakeTool }

func (opener) Address(raw json.RawMessage) string {
	var args struct{ URL string }
	_ = json.Unmarshal(raw, &args)
	return args.URL
}

func mustRule(t *testing.T, text string) Rule {
	t.Helper()
	rule, err := ParseOne(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// writer is a tool with a prepared change.
type writer struct{ diff string }

func (writer) Spec() llm.ToolSpec           { return llm.ToolSpec{Name: "edit_note"} }
func (writer) Properties() agent.Properties { return agent.Properties{Level: agent.Confirm} }

func (writer) Run(context.Context, json.RawMessage) (agent.Result, error) {
	return agent.Result{}, nil
}

func (w writer) Prepare(context.Context, json.RawMessage) (agent.Change, error) { return w, nil }
func (w writer) Preview() agent.Preview {
	return agent.Preview{Path: "a.md", Diff: w.diff}
}
func (writer) Mark(context.Context) (json.RawMessage, error) { return nil, nil }
func (writer) Apply(context.Context) (agent.Result, error)   { return agent.Result{}, nil }
