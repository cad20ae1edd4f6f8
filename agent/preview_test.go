package agent

import (
	"context"
	"errors"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

func TestWhatCannotBeDoneIsNotAskedAbout(t *testing.T) {
	type args struct{ Task string }
	ran := false
	tool := NewWriter(
		llm.ToolSpec{Name: "complete_task", Description: "tick a task", Schema: []byte(`{"type":"object","properties":{"task":{"type":"string"}}}`)},
		func(context.Context, args) (Preview, error) {
			return Preview{}, errors.New("two tasks are called so")
		},
		func(context.Context, args) (Result, error) { ran = true; return Result{}, nil },
	)
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
	if failed != "two tasks are called so" || ran {
		t.Errorf("the step failed with %q, ran %v; want the tool's own words, and not run", failed, ran)
	}
}

// nowhere is a History that keeps nothing.
type nowhere struct{}

func (nowhere) Begin(context.Context, string, string) (string, error)      { return "t", nil }
func (nowhere) Recent(context.Context, string, int) ([]llm.Message, error) { return nil, nil }
func (nowhere) Finish(context.Context, string, Answer) error               { return nil }
