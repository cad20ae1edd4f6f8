package agent

import (
	"strings"
	"testing"

	"lifehub/llm"
)

// The query of a search is understood without the conversation, whatever the
// planner writes.
func TestAFollowUpIsSearchedForAsAWhole(t *testing.T) {
	talk := []llm.Message{{Role: llm.User, Text: "When was the boiler serviced?"}, {Role: llm.Assistant, Text: "On 3 May by Anna [1]."}}
	tests := map[string]struct{ message, query, want string }{
		"a model that writes only the pronoun":   {"And who did it?", "who did it", "boiler serviced"},
		"a model that repeats the question":      {"And how much did it cost?", "And how much did it cost?", "boiler serviced cost"},
		"a model that writes it out":             {"And who did it?", "who serviced the boiler", "who serviced the boiler"},
		"a question that stands alone":           {"Which shoes did I buy for running?", "running shoes", "running shoes"},
		"a query of words from the conversation": {"What about the chimney?", "chimney service date", "chimney service date"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tool := search()
			model := &script{lines: []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"` + tc.query + `"}}]}`), say("Anna [1].")}}
			events := collect(New(Options{Model: model, History: &shelf{messages: talk}, Tools: tools(tool)}).Ask(t.Context(), "c1", tc.message), nil)
			if got := tool.ran(); len(got) != 1 || got[0] != `{"query":"`+tc.want+`"}` {
				t.Errorf("searched for %v, want %q", got, tc.want)
			}
			changed := strings.Contains(strings.Join(bodies[PlanMade](events)[0].Dropped, ";"), "leans on what was said before")
			if changed != (tc.query != tc.want) {
				t.Errorf("told: %v", bodies[PlanMade](events)[0].Dropped)
			}
		})
	}
}
