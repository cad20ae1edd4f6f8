package eval

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/benches"
	"lifehub/llm"
	"lifehub/llm/offline"
	"lifehub/rag"
)

// TestFollowUpsStandAlone: for a question in a conversation, the offline planner's
// query finds more than the question alone and than all the user's turns joined, also
// after a change of subject.
func TestFollowUpsStandAlone(t *testing.T) {
	t.Parallel()
	x, bench, ids := indexedOnce(t, "mtrag-un-pool")
	if os.Getenv("LIFEHUB_EVAL") == "" {
		bench = bench.Share(4)
	}
	run := func(name string, query func(benches.Question) string) []Figures {
		asked := bench
		asked.Questions = slices.Clone(bench.Questions)
		for i, q := range bench.Questions {
			asked.Questions[i].Text = query(q)
		}
		figures, err := run(t.Context(), asked, x, ids, rag.KeywordsAlone)
		if err != nil {
			t.Fatal(err)
		}
		m := Mean(figures)
		t.Logf("%-40s nDCG@10 %.4f, recall@10 %.4f, MRR %.4f", name, m.NDCG, m.Recall, m.MRR)
		return figures
	}
	alone := run("the question alone", func(q benches.Question) string { return q.Text })
	joined := run("all the user's turns joined", joinTurns)
	offline := run("offline", func(q benches.Question) string { return planned(t, q) })
	strange := run("offline, after talk of something else", func(q benches.Question) string {
		at := slices.IndexFunc(bench.Questions, func(other benches.Question) bool { return other.ID == q.ID })
		q.History = bench.Questions[(at+len(bench.Questions)/3)%len(bench.Questions)].History
		return planned(t, q)
	})
	for name, other := range map[string][]Figures{"the question alone": alone, "the joined turns": joined} {
		d := compared(other, offline)
		t.Logf("offline against %s: %+.4f (%+.4f to %+.4f)", name, d.Mean, d.Low, d.High)
		if d.Mean <= 0 {
			t.Errorf("offline does not beat %s: %+v", name, d)
		}
	}
	if d := compared(alone, strange); d.Mean < -0.02 {
		t.Errorf("talk of something else costs %+v", d)
	}
}

// joinTurns joins all that the user said, the question last.
func joinTurns(q benches.Question) string {
	var texts []string
	for _, turn := range q.History {
		if turn.Role == "user" {
			texts = append(texts, turn.Text)
		}
	}
	return strings.Join(append(texts, q.Text), " ")
}

// said returns the part of the conversation that a planner gets.
func said(q benches.Question) []llm.Message {
	var history []llm.Message
	for _, turn := range q.History {
		role := llm.Assistant
		if turn.Role == "user" {
			role = llm.User
		}
		history = append(history, llm.Message{Role: role, Text: turn.Text})
	}
	const window = 6
	return history[max(0, len(history)-window):]
}

// planned returns the offline planner's query for a question.
func planned(t *testing.T, q benches.Question) string {
	spec := llm.ToolSpec{Name: "search_notes", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}
	answer, _, err := llm.Collect(offline.New().Stream(t.Context(), llm.Request{Task: &llm.Task{Kind: llm.PlanTask, Question: q.Text, History: said(q), Tools: []llm.ToolSpec{spec}}}))
	if err != nil {
		t.Fatal(err)
	}
	var plan struct {
		Steps []struct {
			Tool  string
			Input struct{ Query string }
		}
	}
	if err := json.Unmarshal([]byte(answer.Text), &plan); err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Steps {
		if s.Tool == "search_notes" {
			return s.Input.Query
		}
	}
	return q.Text
}
