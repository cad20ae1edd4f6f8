package turn

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

// Whatever a log says, no byte of the answer is lost and no entry twice there.
func TestPartsHoldTheWholeAnswer(t *testing.T) {
	call := func(at int, step string) agent.Logged { return agent.Logged{At: at, Step: step, Action: "f({})"} }
	for name, tc := range map[string]struct {
		answer agent.Answer
		want   []string // text, or the steps done
	}{
		"no log":                 {agent.Answer{Text: "Hello."}, []string{"Hello."}},
		"nothing":                {agent.Answer{}, nil},
		"calls before the words": {agent.Answer{Text: "Hello.", Log: []agent.Logged{call(0, "1"), call(0, "2")}}, []string{"[1 2]", "Hello."}},
		"calls between":          {agent.Answer{Text: "One.\n\nTwo.", Log: []agent.Logged{call(0, "1"), call(6, "2"), call(6, "3")}}, []string{"[1]", "One.\n\n", "[2 3]", "Two."}},
		"calls after":            {agent.Answer{Text: "One.\n\n", Log: []agent.Logged{call(6, "1")}}, []string{"One.\n\n", "[1]"}},
		"only white space":       {agent.Answer{Text: "\n\nTwo.", Log: []agent.Logged{call(0, "1"), call(2, "2")}}, []string{"[1 2]", "Two."}},
		"places that are beyond": {agent.Answer{Text: "One.", Log: []agent.Logged{call(99, "1"), call(2, "2")}}, []string{"One.", "[1 2]"}},
		"a thought and a call":   {agent.Answer{Text: "One.", Log: []agent.Logged{{Thought: "hm"}, call(0, "1")}}, []string{"[ 1]", "One."}},
	} {
		var got []string
		for _, p := range tc.answer.Parts() {
			if p.Done == nil {
				got = append(got, p.Text)
				continue
			}
			var steps []string
			for _, l := range p.Done {
				steps = append(steps, l.Step)
			}
			got = append(got, "["+strings.Join(steps, " ")+"]")
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// What is kept of a turn stands in the order of its events, also when the turn
// is cut and resumed in between.
func TestTheLogOfALoopIsKeptInOrder(t *testing.T) {
	lines := []line{
		{text: "Let me look.", calls: calling("search_notes", `{"query":"running"}`).calls},
		{text: "Now the web.", calls: calling("brave_web_search", `{"query":"tips"}`).calls},
		say(goodAnswer),
	}
	want := []agent.Part{
		{Text: "Let me look.\n\n"},
		{Done: []agent.Logged{{At: 14, Step: "1", Action: `search_notes({"query":"running"})`, Result: "1 passage"}}},
		{Text: "Now the web.\n\n"},
		{Done: []agent.Logged{{At: 28, Step: "2", Action: `brave_web_search({"query":"tips"})`, Result: "1. Marathon guide: drink early."}}},
		{Text: goodAnswer},
	}
	for cut := 0; cut <= 10; cut++ { // 0: it is not cut
		o := Options{Tools: tools(reader{search()}, reader{web()}), Limits: Limits{Parallel: 1}, Mode: inMode(agent.LoopMode), Model: &script{lines: lines}}
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
			o.Model, o.Mode = &script{lines: lines[rounds:]}, nil
			end = ended(t, resume(t, kept, o, nil))
		}
		if got := (agent.Answer{Text: end.Answer, Log: end.Log}).Parts(); !reflect.DeepEqual(got, want) {
			t.Errorf("cut after %d: got %+v", cut, got)
		}
	}
}
