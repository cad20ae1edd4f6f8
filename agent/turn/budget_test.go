package turn

import (
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

// After a question without an answer, the last six messages begin with an answer. It is
// left out, but not because the prompt is too long.
func TestAnswerWithoutItsQuestionIsNotTooLong(t *testing.T) {
	model := &script{lines: []line{say(`{"steps":[],"answer":"Hello."}`)}}
	shelf := &shelf{messages: []llm.Message{
		{Role: llm.Assistant, Text: "Of an earlier question."}, {Role: llm.User, Text: "One?"}, {Role: llm.User, Text: "Two?"}, {Role: llm.Assistant, Text: "Two."},
	}}
	events := collect(New(Options{Model: model, History: shelf, Window: func() int { return 16384 }}).Ask(t.Context(), "c1", "Hello"), nil)
	ended(t, events)
	if notices := bodies[agent.Noticed](events); len(notices) > 0 {
		t.Errorf("the user is told %v", notices)
	}
	for _, m := range model.requests[0].Messages {
		if m.Text == "Of an earlier question." {
			t.Error("the answer without its question is sent")
		}
	}
}
