package turn

import (
	"encoding/json"
	"reflect"
	"testing"

	"lifehub/agent"
)

// The log of a turn has the order of its events, even if the turn is interrupted and
// resumed.
func TestLogOfALoopIsInOrder(t *testing.T) {
	lines := []line{
		{text: "Let me look.", calls: calling("search_notes", `{"query":"running"}`).calls},
		{text: "Now the web.", calls: calling("brave_web_search", `{"query":"tips"}`).calls},
		say(goodAnswer),
	}
	asks, err := json.Marshal(map[string]string{"query": question})
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.Part{
		{Done: []agent.Logged{{Step: "1", Action: agent.ActionOf(agent.Step{Tool: "search_notes", Input: asks}), Result: "1 passage"}}},
		{Text: "Let me look.\n\n"},
		{Done: []agent.Logged{{At: 14, Step: "2", Action: `search_notes({"query":"running"})`, Result: "1 passage"}}},
		{Text: "Now the web.\n\n"},
		{Done: []agent.Logged{{At: 28, Step: "3", Action: `brave_web_search({"query":"tips"})`, Result: "1. Marathon guide: drink early."}}},
		{Text: goodAnswer},
	}
	for cut := 0; cut <= 15; cut++ { // 0: it is not interrupted
		o := Options{Tools: tools(reader{search()}, reader{web()}), Limits: Limits{Parallel: 1}, Session: inMode(agent.LoopMode), Model: &script{lines: lines}}
		var end agent.Ended
		if cut == 0 {
			o.History = &shelf{}
			end = ended(t, collect(New(o).Ask(t.Context(), "c1", question), nil))
		} else {
			kept := cutAt(t, cut, o)
			rounds := 0
			for _, e := range kept.entries {
				if e.Moment == agent.Planned {
					rounds++
				}
			}
			o.Model, o.Session = &script{lines: lines[max(0, rounds-1):]}, nil // the first search is the program's
			end = ended(t, resume(t, kept, o, nil))
		}
		if got := (agent.Answer{Text: end.Answer, Log: end.Log}).Parts(); !reflect.DeepEqual(got, want) {
			t.Errorf("cut after %d: got %+v", cut, got)
		}
	}
}
