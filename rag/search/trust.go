package search

import (
	"context"
	"database/sql"
	"strings"

	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/rag/embed"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

const (
	// trustQuestions is how many stand-in questions measure an embedder, at the
	// cost of as many embeddings.
	trustQuestions = 100
	// leastQuestions is how few still say something.
	leastQuestions = 20
	// trustDepth is how deep among the nearest the right passage may be.
	trustDepth = 10
)

// Trust finds out how far this embedder can be trusted on these notes,
// without any judged question: every second word of a sentence is asked, and
// the share of such questions whose best passage by words is among the
// nearest by meaning, chance taken off, is the trust. On nine benches it
// followed what real questions gave (correlation 0.84,
// docs/design/search.md). measured is false where there is too little to ask,
// or the embedder went away.
func Trust(ctx context.Context, db *sql.DB, m vectors.Collection, embedder llm.Embedder, progress func(done, total int)) (trust float64, measured bool, err error) {
	count, _, err := m.Size(ctx)
	if err != nil || count <= 2*trustDepth {
		return 0, false, err
	}
	questions, err := standIns(ctx, db)
	if err != nil || len(questions) < leastQuestions {
		return 0, false, err
	}
	agreed := 0
	for i, question := range questions {
		progress(i, len(questions))
		agrees, err := agrees(ctx, db, m, embedder, question)
		if err != nil {
			return 0, false, ctx.Err() // nil: the embedder went away, the next sync measures
		}
		if agrees {
			agreed++
		}
	}
	chance := float64(trustDepth) / float64(count)
	return max(0, (float64(agreed)/float64(len(questions))-chance)/(1-chance)), true, nil
}

// agrees reports whether the best passage by words is among the nearest by
// meaning.
func agrees(ctx context.Context, db *sql.DB, m vectors.Collection, embedder llm.Embedder, question string) (bool, error) {
	one := newSearch(Vault{DB: db}, Query{Text: question})
	var err error
	if one.words, err = readWords(ctx, db, question); err != nil || one.words.empty() {
		return false, err
	}
	found := map[int64]*candidate{}
	if err := one.byWords(ctx, found); err != nil {
		return false, err
	}
	best := candidate{}
	for _, c := range found {
		if c.words > best.words || (c.words == best.words && c.id < best.id) {
			best = *c
		}
	}
	vector, err := embed.Question(ctx, embedder, question)
	if err != nil {
		return false, err
	}
	nearest, err := m.Nearest(ctx, vector, trustDepth)
	if err != nil {
		return false, err
	}
	keys, err := one.keys(ctx, `id = ?`, best.id)
	for _, n := range nearest {
		if len(keys[n.Key]) > 0 {
			return true, err
		}
	}
	return false, err
}

// standIns are questions made of the notes' own sentences, every second word.
func standIns(ctx context.Context, db *sql.DB) ([]string, error) {
	var passages int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&passages); err != nil {
		return nil, err
	}
	// One in so many passages; more are taken than needed, since some hold
	// no sentence.
	every := max(1, passages/(3*trustQuestions))
	places, err := placesOf(ctx, db, oneIn, every)
	if err != nil {
		return nil, err
	}
	var questions []string
	for _, p := range places {
		if len(questions) == trustQuestions {
			break
		}
		texts := words.Texts{DB: db}
		text, err := texts.Of(ctx, p.note, p.start, p.stop)
		if err != nil {
			return nil, err
		}
		if question := halfSentence(text); question != "" {
			questions = append(questions, question)
		}
	}
	return questions, nil
}

// halfSentence takes every second word of the first proper sentence; "": the
// text has none.
func halfSentence(passage string) string {
	for len(passage) > 0 {
		end := text.SentenceEnd(passage)
		sentence := strings.TrimSpace(passage[:end])
		passage = passage[end:]
		if strings.HasPrefix(sentence, "#") || strings.HasPrefix(sentence, "```") {
			continue
		}
		words := strings.Fields(sentence)
		if len(words) < 8 {
			if runes := []rune(sentence); len(runes) > 16 && text.Unspaced(runes[0]) {
				return string(runes[len(runes)/4 : len(runes)*3/4]) // no spaces: its middle half
			}
			continue
		}
		var half []string
		for i := 0; i < min(len(words), 40); i += 2 {
			half = append(half, words[i])
		}
		return strings.Join(half, " ")
	}
	return ""
}
