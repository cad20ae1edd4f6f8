package agent_test

import (
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

// Whatever a log contains, the parts have every byte of the answer and every entry
// once.
func TestPartsHoldTheWholeAnswer(t *testing.T) {
	call := func(at int, step string) agent.Logged { return agent.Logged{At: at, Step: step, Action: "f({})"} }
	for name, tc := range map[string]struct {
		answer agent.Answer
		want   []string // text, or the steps done
	}{
		"no log":  {agent.Answer{Text: "Hello."}, []string{"Hello."}},
		"nothing": {agent.Answer{}, nil},
		"calls before the words": {
			agent.Answer{Text: "Hello.", Log: []agent.Logged{call(0, "1"), call(0, "2")}},
			[]string{"[1 2]", "Hello."},
		},
		"calls between": {
			agent.Answer{
				Text: "One.\n\nTwo.",
				Log:  []agent.Logged{call(0, "1"), call(6, "2"), call(6, "3")},
			},
			[]string{"[1]", "One.\n\n", "[2 3]", "Two."},
		},
		"calls after": {
			agent.Answer{Text: "One.\n\n", Log: []agent.Logged{call(6, "1")}},
			[]string{"One.\n\n", "[1]"},
		},
		"only white space": {
			agent.Answer{Text: "\n\nTwo.", Log: []agent.Logged{call(0, "1"), call(2, "2")}},
			[]string{"[1 2]", "Two."},
		},
		"places that are beyond": {
			agent.Answer{Text: "One.", Log: []agent.Logged{call(99, "1"), call(2, "2")}},
			[]string{"One.", "[1 2]"},
		},
		"a thought and a call": {
			agent.Answer{Text: "One.", Log: []agent.Logged{{Thought: "hm"}, call(0, "1")}},
			[]string{"[ 1]", "One."},
		},
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
