package turn

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/citation"
	"lifehub/internal/testenv"
)

// Counts true answers that are wrongly said to name an unread path: answers made from
// what they cite, and notes on programming used as answers of a model that read
// nothing, which name many files that are not notes.
func TestTrueAnswersAreRarelyMarked(t *testing.T) {
	marks := func(said string, read ...agent.Source) int {
		answer := emptyTurn()
		answer.record.Read("search_notes", agent.Result{Sources: read})
		return len(answer.unread(t.Context(), said))
	}
	text, err := os.ReadFile(testenv.Shared(t, "data/claims/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, marked := 0, 0
	for line := range strings.Lines(string(text)) {
		var c struct {
			True    bool
			Answer  string
			Sources []string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if !c.True {
			continue
		}
		all++
		if marks(c.Answer, agent.Source{Path: "a.md", Line: 1, EndLine: 99}) > 0 {
			marked++
		}
	}
	t.Logf("%d of %d true answers name a page that was not read", marked, all)
	if all < 1000 || marked*100 > all {
		t.Errorf("%d of %d true answers are marked", marked, all)
	}
	all, marked = 0, 0
	for _, s := range agenttest.Passages(t, "data/corpora/til-jbranchaud", 3000) {
		all++
		if slices.ContainsFunc(citation.PlacesIn(s.Text), func(p citation.NamedPlace) bool { return !agent.OnWeb(p.Name) && !p.Bracketed }) {
			marked++
		}
	}
	t.Logf("%d of %d passages on programs name what could be a note, and do not link to one", marked, all)
	if all < 1000 || marked*100 > all {
		t.Errorf("%d of %d passages on programs are marked", marked, all)
	}
}

// nothingSaid is the History of an empty conversation.
type nothingSaid struct{ agent.History }

func (nothingSaid) Window(context.Context, string, int) (agent.Window, error) {
	return agent.Window{}, nil
}

// emptyTurn returns a turn in an empty conversation.
func emptyTurn() *turn {
	return newTurn(New(Options{Model: &script{}, History: nothingSaid{}}), "c1", nil)
}
