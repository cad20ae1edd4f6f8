package turn

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
	"lifehub/llm"
)

// passagesOf cuts real notes into sources of a dozen lines.
func passagesOf(t *testing.T, folder string, most int) (sources []agent.Source) {
	for _, p := range testenv.Passages(t, folder, most) {
		sources = append(sources, agent.Source{Path: p.Path, Line: p.Line, EndLine: p.EndLine, Text: p.Text})
	}
	return sources
}

// What the offline provider quotes is verified, on every passage.
func TestOfflineAnswersAreVerified(t *testing.T) {
	passages := passagesOf(t, "data/corpora/til-jbranchaud", 400/share)
	verdicts := map[agent.Verdict]int{}
	for _, p := range passages {
		sentences := text.Sentences(p.Text)
		if len(sentences) == 0 || strings.HasPrefix(p.Text[sentences[0].Start:], "![") {
			continue // an empty code block, or a picture, which nobody asks about by its address
		}
		p.N, p.Score = 1, 0.9
		question := "What do my notes say about " + p.Text[sentences[0].Start:sentences[0].End] + "?"
		answer, _, err := llm.Collect(llm.NewOffline().Stream(t.Context(), llm.Request{Task: &llm.Task{
			Kind: llm.ExplainTask, Question: question, Sources: []llm.Source{{N: 1, Title: p.Title(), Text: p.Text, Score: 0.9}},
			Results: []llm.Result{{Tool: "search_notes", Status: "done", Cited: true}},
		}}))
		if err != nil {
			t.Fatal(err)
		}
		answered := newTurn(New(Options{History: &shelf{}}), "c", nil)
		answered.seen.result(agent.Result{Sources: []agent.Source{p}})
		for _, c := range answered.unread(t.Context(), answer.Text) {
			t.Errorf("%s is %s, in\n%s\nof\n%s", c.Place(), c.Detail, answer.Text, p.Text)
		}
		for _, c := range citation.Check(answer.Text, []agent.Source{p}, nil) {
			if c.Words != "" && (&turn{question: question}).wasSaid(c.Words) {
				continue
			}
			verdicts[c.Verdict]++
			if c.Verdict == agent.NotFound {
				t.Errorf("%s: in\n%s\nof\n%s", c.Verdict, answer.Text, p.Text)
			}
		}
	}
	t.Logf("%d answers: %v", len(passages), verdicts)
	if verdicts[agent.Verified]*20 < 19*(verdicts[agent.Verified]+verdicts[agent.Cites]) {
		t.Errorf("verdicts %v", verdicts)
	}
}
