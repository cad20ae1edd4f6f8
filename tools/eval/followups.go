package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/llm"
	"lifehub/llm/offline"
	"lifehub/rag"
)

// followUps searches for questions of a conversation by the offline planner's query, which must find more
// than the question alone and than all the user's turns joined, also after a change of subject.
func followUps(ctx context.Context, dir string) error {
	v, err := openBench(ctx, "mtrag-un-pool", dir)
	if err != nil {
		return err
	}
	defer v.close()
	printHead("query", "nDCG@10", "R@10", "MRR")
	asked := slices.Clone(v.bench.Questions)
	run := func(name string, query func(i int) (string, error)) ([]figures, error) {
		for i := range asked {
			if v.bench.Questions[i].Text, err = query(i); err != nil {
				return nil, err
			}
		}
		all, err := v.ask(ctx, rag.KeywordsAlone, false)
		if err == nil {
			m := mean(all)
			printRow(name, m.NDCG, m.Recall, m.MRR)
		}
		return all, err
	}
	alone, err := run("the question alone", func(i int) (string, error) { return asked[i].Text, nil })
	if err != nil {
		return err
	}
	joined, err := run("all the user's turns joined", func(i int) (string, error) { return joinTurns(asked[i]), nil })
	if err != nil {
		return err
	}
	planned, err := run("offline", func(i int) (string, error) { return plannedQuery(ctx, asked[i]) })
	if err != nil {
		return err
	}
	strange, err := run("offline, after another subject", func(i int) (string, error) {
		q := asked[i]
		q.History = asked[(i+len(asked)/3)%len(asked)].History
		return plannedQuery(ctx, q)
	})
	if err != nil {
		return err
	}
	var missed misses
	fmt.Println()
	for _, other := range []struct {
		name string
		all  []figures
	}{{"the question alone", alone}, {"the joined turns", joined}} {
		d := compare(other.all, planned)
		fmt.Printf("offline against %s: %v\n", other.name, d)
		if d.Mean <= 0 {
			missed.add("offline does not beat %s: %v", other.name, d)
		}
	}
	if d := compare(alone, strange); d.Mean < -0.02 {
		missed.add("another subject costs %v", d)
	}
	return missed.err()
}

// joinTurns joins all that the user said, the question last.
func joinTurns(q question) string {
	var texts []string
	for _, turn := range q.History {
		if turn.Role == "user" {
			texts = append(texts, turn.Text)
		}
	}
	return strings.Join(append(texts, q.Text), " ")
}

// recentTurns returns the part of the conversation that a planner gets.
func recentTurns(q question) []llm.Message {
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

// plannedQuery returns the offline planner's query for a question.
func plannedQuery(ctx context.Context, q question) (string, error) {
	spec := llm.ToolSpec{Name: "search_notes", Schema: json.RawMessage(`{"type":"object",` +
		`"properties":{"query":{"type":"string"}},"required":["query"]}`)}
	answer, _, err := llm.Collect(offline.New().Stream(ctx, llm.Request{Task: &llm.Task{
		Kind:     llm.PlanTask,
		Question: q.Text, History: recentTurns(q), Tools: []llm.ToolSpec{spec},
	}}))
	if err != nil {
		return "", err
	}
	var plan struct {
		Steps []struct {
			Tool  string
			Input struct{ Query string }
		}
	}
	if err := json.Unmarshal([]byte(answer.Text), &plan); err != nil {
		return "", err
	}
	for _, s := range plan.Steps {
		if s.Tool == "search_notes" {
			return s.Input.Query, nil
		}
	}
	return q.Text, nil
}
