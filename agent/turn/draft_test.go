package turn

import (
	"testing"

	"lifehub/agent"
)

func TestAnswerBeforeStepsComesFirst(t *testing.T) {
	model := &script{lines: []line{say(`{"answer":"I'll look.","steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`), say("Three times [1].")}}
	events := collect(New(Options{Model: model, History: &shelf{}, Tools: tools(search())}).Ask(t.Context(), "c1", "go"), nil)
	if end := ended(t, events); end.Answer != "I'll look.\n\nThree times [1]." || end.ModelCalls != 2 {
		t.Errorf("end %+v", end)
	}
}

func TestSmallTalkArrivesBeforeItsPlanIsComplete(t *testing.T) {
	model := &script{lines: []line{{text: `{"reasoning":"","steps":[],"answer":"Hello there`, hangs: true}}}
	ctx, cancel := contextWithCancel(t)
	var shown string
	for e := range New(Options{Model: model, History: &shelf{}}).Ask(ctx, "c1", "how is it going") {
		if piece, ok := e.Body.(agent.Said); ok {
			if shown += piece.Content; shown == "Hello there" {
				cancel() // reached only if the answer was not held back
			}
		}
	}
	if shown != "Hello there" {
		t.Errorf("said %q", shown)
	}
}
