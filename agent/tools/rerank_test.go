package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/rag"
)

// foundPassages is a search that always finds a to h.
type foundPassages struct{ asked *rag.Query }

func (f foundPassages) Search(_ context.Context, q rag.Query) (rag.Found, error) {
	*f.asked = q
	var found rag.Found
	for i := range min(q.Limit, 8) {
		name := string(rune('a' + i))
		found.Passages = append(found.Passages, rag.Passage{Path: name + ".md", Text: "text of " + name, Score: 1 - float64(i)/10})
	}
	return found, nil
}

func TestTheModelPutsPassagesInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		answer llmtest.Answer
		want   string
	}{
		"as it says":                 {llmtest.Answer{Text: `{"order": [3, 1, 8]}`}, "c a h"},
		"the rest follows":           {llmtest.Answer{Text: `{"order": [2]}`}, "b a c"},
		"numbers twice and beyond":   {llmtest.Answer{Text: `{"order": [4, 4, 99, 0, -1, 2]}`}, "d b a"},
		"nothing fits":               {llmtest.Answer{Text: `{"order": []}`}, "a b c"},
		"no JSON":                    {llmtest.Answer{Text: `The best is 3.`}, "a b c"},
		"the server is away":         {llmtest.Answer{Err: llm.ErrUnreachable}, "a b c"},
		"an answer cut at its bound": {llmtest.Answer{Text: `{"order": [3]}`, Usage: &llm.Usage{Stopped: llm.StopLength}}, "a b c"},
		"an answer that broke off":   {llmtest.Answer{Text: `{"order": [3`, Err: errors.New("reset")}, "a b c"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked rag.Query
			script := llmtest.NewScript(c.answer)
			found, err := Reranked{foundPassages{&asked}, script}.Search(t.Context(), rag.Query{Text: "who?", Limit: 3})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range found.Passages {
				names = append(names, strings.TrimSuffix(p.Path, ".md"))
			}
			if got := fmt.Sprint(names); got != "["+c.want+"]" {
				t.Errorf("the passages are %s, want %s", got, c.want)
			}
			if !slices.IsSortedFunc(found.Passages, func(a, b rag.Passage) int { return int(10 * (b.Score - a.Score)) }) {
				t.Errorf("scores do not fall: %v", found.Passages)
			}
			if asked.Limit != rerankDepth || len(script.Requests()) != 1 {
				t.Errorf("asked for %d passages with %d model calls", asked.Limit, len(script.Requests()))
			}
		})
	}
}

// TestRerankingTakesNoCallForNothing: a listing by filters has no question.
func TestRerankingTakesNoCallForNothing(t *testing.T) {
	var asked rag.Query
	script := llmtest.NewScript()
	found, err := Reranked{foundPassages{&asked}, script}.Search(t.Context(), rag.Query{Tags: []string{"home"}})
	if err != nil || len(found.Passages) != 5 || len(script.Requests()) != 0 {
		t.Errorf("%d passages, %v, %d model calls; want 5 and none", len(found.Passages), err, len(script.Requests()))
	}
}
