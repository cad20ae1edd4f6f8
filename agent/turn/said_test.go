package turn

import (
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

// Words of the user or of a step may be quoted, and if nothing was searched an answer
// may quote anything.
func TestQuotationsOfTheConversationAreNotClaims(t *testing.T) {
	for name, test := range map[string]struct {
		question, earlier, answer string
		plan                      string
		want                      []agent.Verdict
	}{
		"words of the user":      {question: "what does “the early bird gets worms” mean for my running?", answer: "You ask about “the early bird gets worms”."},
		"words of a turn before": {question: "and my running?", earlier: "I always run before breakfast with Ines", answer: "You said “I always run before breakfast”."},
		"the words of a note":    {question: "my running?", answer: "“The long run is on Sunday.”", want: []agent.Verdict{agent.Verified}},
		"words of nobody":        {question: "my running?", answer: "Your note says “The long run is on Saturday.”", want: []agent.Verdict{agent.NotFound}},
		"nothing was looked for": {question: "who said to be or not?", answer: "Hamlet: “To be, or not to be, that is the question”.", plan: `{"steps":[],"answer":"Hamlet: “To be, or not to be, that is the question”."}`},
	} {
		t.Run(name, func(t *testing.T) {
			plan := test.plan
			if plan == "" {
				plan = `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`
			}
			history := &shelf{}
			if test.earlier != "" {
				history.messages = []llm.Message{{Role: llm.User, Text: test.earlier}, {Role: llm.Assistant, Text: "Well."}}
			}
			found := &fakeTool{name: "search_notes", reads: true, result: agent.Result{Sources: []agent.Source{{Path: "run.md", Line: 3, EndLine: 3, Text: "The long run is on Sunday."}}}}
			a := New(Options{Model: &script{lines: []line{say(plan), say(test.answer)}}, History: history, Tools: tools(found)})
			var got []agent.Verdict
			for _, c := range bodies[agent.Cited](collect(a.Ask(t.Context(), "c", test.question), nil)) {
				got = append(got, c.Verdict)
			}
			if len(got) != len(test.want) || len(got) > 0 && got[0] != test.want[0] {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
