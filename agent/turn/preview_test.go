package turn

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

func TestImpossibleCallsAreNotAskedAbout(t *testing.T) {
	tool := agent.NewWriter(llm.ToolSpec{
		Name: "complete_task", Description: "tick a task", Schema: []byte(`{"type":"object","properties":{"task":{"type":"string"}}}`),
	}, &twoTasks{})
	model := llmtest.NewScript(
		llmtest.Answer{Match: "Plan for this", Text: `{"reasoning":"","steps":[{"id":"1","tool":"complete_task","input":{"task":"call"}}],"answer":""}`},
		llmtest.Answer{Match: "Answer this message", Text: "Which of the two?"},
	)
	a := New(Options{Model: model, Tools: tools(tool), History: nowhere{}})
	var failed string
	for event := range a.Ask(context.Background(), "c", "tick off call") {
		switch body := event.Body.(type) {
		case agent.PermissionAsked:
			body.Reply(agent.Reply{Decision: agent.AllowOnce})
			t.Error("a call that cannot be done was asked about")
		case agent.StepChanged:
			if body.Status == agent.StepFailed {
				failed = body.Reason
			}
		}
	}
	if failed != "two tasks are called so" {
		t.Errorf("the step failed with %q, want the tool's own words", failed)
	}
}

// twoTasks is a tool that cannot do what is requested.
type twoTasks struct{}

type taskArgs struct{ Task string }

func (*twoTasks) Prepare(context.Context, taskArgs) (agent.Change, error) {
	return nil, errors.New("two tasks are called so")
}

func (*twoTasks) Check(context.Context, json.RawMessage) (agent.Happened, []agent.Effect, error) {
	return agent.MayHaveHappened, nil, nil
}

// nowhere is a History that saves nothing.
type nowhere struct{}

func (nowhere) Begin(context.Context, string, string) (string, error)       { return "t", nil }
func (nowhere) Window(context.Context, string, int) (agent.Window, error)   { return agent.Window{}, nil }
func (nowhere) Exchanges(context.Context, string) ([]agent.Exchange, error) { return nil, nil }
func (nowhere) Finish(context.Context, string, agent.Answer) error          { return nil }
