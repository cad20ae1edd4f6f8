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

// OwnQuestion is a question made of a user's own notes. The note it was taken
// from is the one to find.
type OwnQuestion struct {
	Text    string
	Vault   string
	Path    string
	Heading bool // taken from a heading; else from a title
}

// OwnQuestions makes at most so many questions of the titles and headings in
// a folder that no other note has, spread evenly over the notes.
func OwnQuestions(ctx context.Context, folder *notes.Folder, most int) ([]OwnQuestion, error) {
	entries, _, err := folder.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("make questions: %w", err)
	}
	var all []OwnQuestion
	owners := map[string]int{} // how many notes have a title or heading
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		note, err := folder.Read(entry.Path)
		if err != nil {
			continue // index says which notes cannot be read
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

// tells says whether a title or heading is more than a bare name or number:
// two words, or some characters of a script without spaces.
func tells(text string) bool {
	letters := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune("-_/.: ", r) {
			return -1
		}
		return r
	}, text)
	return letters != "" && (len(strings.Fields(text)) > 1 || len(text) > len([]rune(text))*2)
}

// Setting is how one way of searching did.
type Setting struct {
	Name     string  `json:"name"`      // words, meaning, both
	First    float64 `json:"recall_1"`  // share of questions whose note came first
	InFive   float64 `json:"recall_5"`  // … among the first five notes
	InTen    float64 `json:"recall_10"` // … among the first ten
	MRR      float64 `json:"mrr"`       // mean of 1 over its place, 0 beyond ten
	figures  []Figures
	embedder string
}

// Searcher finds passages. *rag.Index and rag.Library are the real ones.
type Searcher interface {
	Search(ctx context.Context, q rag.Query) (rag.Found, error)
}

// depth is how many passages are asked for, so that ten different notes are
// among them.
const depth = 40

// AskOwn asks every question of one side of a search.
func AskOwn(ctx context.Context, searcher Searcher, questions []OwnQuestion, name string, side rag.Side) (Setting, error) {
	s := Setting{Name: name, figures: make([]Figures, len(questions))}
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
		s.figures[i].NDCG = 1 / math.Log2(float64(place+1))
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

// placeOf is the place, from 1, of the right note among the ten first; 0: it
// is not there.
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

// Advice says in a sentence or two what the figures mean for the one whose
// notes they are.
func Advice(words, meaning, both Setting) string {
	switch d := Compare(words.figures, both.figures); {
	case len(words.figures) < 20:
		return "Too few notes have a title or heading of their own to tell much."
	case strings.HasPrefix(both.embedder, "keyword search only"):
		return "Meaning took no part (" + both.embedder + "). An embedding model finds notes that say it in other words: `ollama pull nomic-embed-text`."
	case d.High < 0:
		return "Words alone find more than both together: this embedding model does not suit your notes; another may."
	case embed.IsBuiltIn(both.embedder):
		return "The built-in encoder knows single English words. An embedding model understands sentences, and other languages: `ollama pull nomic-embed-text`."
	case meaning.InTen < words.InTen/2:
		return "The embedding model hardly knows these notes, so words decide; one made for their language may find more."
	case d.Low > 0:
		return "Both together find more than words alone; keep this embedding model."
	}
	return "Titles and headings are found by their words as it is; meaning shows with questions in other words, and costs nothing here."
}
