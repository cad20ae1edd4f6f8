package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lifehub/internal/benches"
	"lifehub/rag"
)

// run asks every question with one or both sides of the search, and returns the figures
// in order. ids maps notes to documents, as returned by [benches.Bench.WriteNotes].
func run(ctx context.Context, b benches.Bench, searcher Searcher, ids map[string]string, side rag.Side) ([]Figures, error) {
	figures := make([]Figures, len(b.Questions))
	for i, question := range b.Questions {
		query := rag.Query{Text: question.Text, Limit: depth, Side: side}
		if question.Scope != "" {
			query.Paths = []string{question.Scope}
		}
		found, err := searcher.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s, question %s: %w", b.Name, question.ID, err)
		}
		figures[i] = measure(rankedNotes(found, ids), question.Relevant)
		figures[i].Verdict, figures[i].SemanticOnly = found.Verdict, found.SemanticOnly
	}
	return figures, nil
}

// runWithout asks every question with its answering notes left out, and returns the
// verdicts.
func runWithout(ctx context.Context, b benches.Bench, searcher Searcher, ids map[string]string, side rag.Side) ([]Figures, error) {
	paths := map[string]string{}
	for path, id := range ids {
		paths[id] = path
	}
	figures := make([]Figures, len(b.Questions))
	for i, question := range b.Questions {
		query := rag.Query{Text: question.Text, Limit: 5, Side: side}
		if question.Scope != "" {
			query.Paths = []string{question.Scope}
		}
		for id := range question.Relevant {
			query.Without = append(query.Without, paths[id])
		}
		found, err := searcher.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s, question %s: %w", b.Name, question.ID, err)
		}
		figures[i] = Figures{Verdict: found.Verdict, SemanticOnly: found.SemanticOnly}
	}
	return figures, nil
}

// rankedNotes returns the documents of the passages found, each once.
func rankedNotes(found rag.Found, ids map[string]string) []string {
	var ranked []string
	seen := map[string]bool{}
	for _, p := range found.Passages {
		if id := ids[p.Path]; !seen[id] {
			seen[id] = true
			ranked = append(ranked, id)
		}
	}
	return ranked
}

func measure(ranked []string, relevant map[string]int) Figures {
	var f Figures
	dcg := 0.0
	for i, id := range ranked[:min(10, len(ranked))] {
		grade, right := relevant[id]
		dcg += float64(grade) / math.Log2(float64(i+2))
		if right {
			f.Recall += 1 / float64(len(relevant))
			if f.MRR == 0 {
				f.MRR = 1 / float64(i+1)
			}
		}
	}
	ideal, grades := 0.0, make([]int, 0, len(relevant))
	for _, grade := range relevant {
		grades = append(grades, grade)
	}
	slices.SortFunc(grades, func(a, b int) int { return b - a })
	for i, grade := range grades[:min(10, len(grades))] {
		ideal += float64(grade) / math.Log2(float64(i+2))
	}
	if ideal > 0 {
		f.NDCG = dcg / ideal
	}
	return f
}
