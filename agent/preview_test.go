package agent

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

func TestWhatCannotBeDoneIsNotAskedAbout(t *testing.T) {
	w := &twoTasks{}
	tool := NewWriter(llm.ToolSpec{
		Name: "complete_task", Description: "tick a task", Schema: []byte(`{"type":"object","properties":{"task":{"type":"string"}}}`),
	}, w)
	model := llmtest.NewScript(
		llmtest.Answer{Match: "You plan", Text: `{"reasoning":"","steps":[{"id":"1","tool":"complete_task","input":{"task":"call"}}],"answer":""}`},
		llmtest.Answer{Match: "You answer", Text: "Which of the two?"},
	)
	a := New(Options{Model: model, Tools: func() []Tool { return []Tool{tool} }, History: nowhere{}})
	var failed string
	for event := range a.Ask(context.Background(), "c", "tick off call") {
		switch body := event.Body.(type) {
		case PermissionAsked:
			body.Reply(Reply{Decision: AllowOnce})
			t.Error("a call that cannot be done was asked about")
		case StepChanged:
			if body.Status == Broken {
				failed = body.Reason
			}
		}
	}
	if failed != "two tasks are called so" || w.ran {
		t.Errorf("the step failed with %q, ran %v; want the tool's own words, and not run", failed, w.ran)
	}
}

// twoTasks cannot do what it is asked for.
type twoTasks struct{ ran bool }

type taskArgs struct{ Task string }

func (*twoTasks) Preview(context.Context, taskArgs) (Preview, error) {
	return Preview{}, errors.New("two tasks are called so")
}

func (w *twoTasks) Run(context.Context, taskArgs) (Result, error) {
	w.ran = true
	return Result{}, nil
}

func (*twoTasks) Mark(context.Context, taskArgs) (json.RawMessage, error) { return nil, nil }

func (*twoTasks) Check(context.Context, json.RawMessage) (Happened, []Effect, error) {
	return MayHaveHappened, nil, nil
}

// nowhere is a History that keeps nothing.
type nowhere struct{}

func (nowhere) Begin(context.Context, string, string) (string, error)      { return "t", nil }
func (nowhere) Recent(context.Context, string, int) ([]llm.Message, error) { return nil, nil }
func (nowhere) Exchanges(context.Context, string) ([]Exchange, error)      { return nil, nil }
func (nowhere) Finish(context.Context, string, Answer) error               { return nil }
