package eval

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"lifehub/rag"
)

// WriteNotes writes each document as a Markdown note below dir, with its title as the
// first heading and its scope as a folder. It returns the document of each note.
func (b Bench) WriteNotes(dir string) (map[string]string, error) {
	ids := make(map[string]string, len(b.Documents))
	for i, d := range b.Documents {
		name := fmt.Sprintf("%05d.md", i)
		if d.Scope != "" {
			name = d.Scope + "/" + name
		}
		text := d.Text + "\n"
		if d.Title != "" {
			text = "# " + d.Title + "\n\n" + text
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("write bench: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write bench: %w", err)
		}
		ids[name] = d.ID
	}
	return ids, nil
}

// Run asks every question with one or both sides of the search, and returns the figures
// in order. ids maps notes to documents, as returned by WriteNotes.
func (b Bench) Run(ctx context.Context, searcher Searcher, ids map[string]string, side rag.Side) ([]Figures, error) {
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

// RunWithout asks every question with its answering notes left out, and returns the
// verdicts.
func (b Bench) RunWithout(ctx context.Context, searcher Searcher, ids map[string]string, side rag.Side) ([]Figures, error) {
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
