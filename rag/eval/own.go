package eval

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/embed"
)

// OwnQuestion is a question made from a user's own notes, with the note that it should
// find.
type OwnQuestion struct {
	Text    string
	Vault   string
	Path    string
	Heading bool // from a heading; otherwise from a title
}

// OwnQuestions makes questions from titles and headings that occur only once in a
// folder, at most most of them, spread evenly over the notes.
func OwnQuestions(ctx context.Context, folder *notes.Folder, most int) ([]OwnQuestion, error) {
	entries, _, err := folder.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("make questions: %w", err)
	}
	var all []OwnQuestion
	owners := map[string]int{} // number of notes with a title or heading
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if notes.IsPicture(entry.Path) {
			continue // reading one takes seconds, and its name is rarely a title
		}
		note, err := folder.Read(entry.Path)
		if err != nil {
			continue // `lifehub index` reports unreadable notes
		}
		of := func(text string, heading bool) OwnQuestion {
			return OwnQuestion{Text: text, Vault: folder.Dir(), Path: entry.Path, Heading: heading}
		}
		mine := []OwnQuestion{of(note.Title, false)}
		for _, h := range note.Headings {
			mine = append(mine, of(h.Text, true))
		}
		seen := map[string]bool{}
		for _, q := range mine {
			key := strings.ToLower(strings.TrimSpace(q.Text))
			if !tells(key) || seen[key] {
				continue
			}
			seen[key] = true
			owners[key]++
			all = append(all, q)
		}
	}
	all = slices.DeleteFunc(all, func(q OwnQuestion) bool { return owners[strings.ToLower(strings.TrimSpace(q.Text))] > 1 })
	if len(all) <= most {
		return all, nil
	}
	some := make([]OwnQuestion, most)
	for i := range some {
		some[i] = all[i*len(all)/most]
	}
	return some, nil
}

// tells reports whether a title or heading is more than a single name or number: two
// words, or some characters of a script without spaces.
func tells(text string) bool {
	letters := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune("-_/.: ", r) {
			return -1
		}
		return r
	}, text)
	return letters != "" && (len(strings.Fields(text)) > 1 || len(text) > len([]rune(text))*2)
}

// Setting is the result of one kind of search.
type Setting struct {
	Name     string    `json:"name"`      // words (keyword), meaning (semantic), both
	First    float64   `json:"recall_1"`  // share of questions whose note was first
	InFive   float64   `json:"recall_5"`  // … among the first five notes
	InTen    float64   `json:"recall_10"` // … among the first ten
	MRR      float64   `json:"mrr"`       // mean of 1 / rank; 0 beyond ten
	ndcg     []float64 // nDCG@10 of each question
	embedder string
}

// Searcher finds passages. *rag.Index and rag.Library implement it.
type Searcher interface {
	Search(ctx context.Context, q rag.Query) (rag.Found, error)
}

// depth is the number of passages requested, so that ten different notes are among
// them.
const depth = 40

// AskOwn asks every question with one kind of search.
func AskOwn(ctx context.Context, searcher Searcher, questions []OwnQuestion, name string, side rag.Side) (Setting, error) {
	s := Setting{Name: name, ndcg: make([]float64, len(questions))}
	for i, question := range questions {
		found, err := searcher.Search(ctx, rag.Query{Text: question.Text, Limit: depth, Side: side})
		if err != nil {
			return s, fmt.Errorf("ask %q: %w", question.Text, err)
		}
		s.embedder = found.Coverage.Embedder
		place := placeOf(found, question)
		if place == 0 {
			continue
		}
		s.ndcg[i] = 1 / math.Log2(float64(place+1))
		s.MRR += 1 / float64(place)
		s.InTen++
		if place <= 5 {
			s.InFive++
		}
		if place == 1 {
			s.First++
		}
	}
	for _, sum := range []*float64{&s.First, &s.InFive, &s.InTen, &s.MRR} {
		*sum /= float64(max(1, len(questions)))
	}
	return s, nil
}

// placeOf returns the rank, counted from 1, of the right note among the first ten; 0 if
// it is not among them.
func placeOf(found rag.Found, question OwnQuestion) int {
	seen := map[string]bool{}
	for _, p := range found.Passages {
		if note := p.Vault + "\x00" + p.Path; !seen[note] {
			seen[note] = true
			if len(seen) > 10 {
				return 0
			}
			if p.Path == question.Path && p.Vault == question.Vault {
				return len(seen)
			}
		}
	}
	return 0
}

// Advice explains the figures to the user in one or two sentences.
func Advice(keyword, semantic, both Setting) string {
	switch d := Compare(keyword.ndcg, both.ndcg); {
	case len(keyword.ndcg) < 20:
		return "Too few notes have a title or heading of their own to tell much."
	case strings.HasPrefix(both.embedder, "keyword search only"):
		return "Meaning took no part (" + both.embedder + "). An embedding model finds notes that say it in other words: `ollama pull nomic-embed-text`."
	case d.High < 0:
		return "Words alone find more than both together: this embedding model does not suit your notes; another may."
	case embed.IsBuiltIn(both.embedder):
		return "The built-in encoder knows single English words. An embedding model understands sentences, and other languages: `ollama pull nomic-embed-text`."
	case semantic.InTen < keyword.InTen/2:
		return "The embedding model hardly knows these notes, so words decide; one made for their language may find more."
	case d.Low > 0:
		return "Both together find more than words alone; keep this embedding model."
	}
	return "Titles and headings are found by their words as it is; meaning shows with questions in other words, and costs nothing here."
}
