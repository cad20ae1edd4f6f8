package search

import (
	"context"
	"strings"

	"lifehub/internal/database"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/rag/embed"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

const (
	// trustQuestions is the number of questions that measure an embedder, each of
	// which it has to embed.
	trustQuestions = 100
	// minQuestions is the number below which nothing is measured.
	minQuestions = 20
	// trustDepth is the number of nearest passages that may contain the right one.
	trustDepth = 10
)

// Trust measures how far an embedder can be trusted on these notes, without judged
// questions. It asks for every second word of some sentences, and returns the share of
// these questions whose best passage by keywords is among the nearest by vectors,
// corrected for chance. On nine benches this had a correlation of 0.84 with the same
// measure of real questions (docs/design/search.md). measured is false if there is too
// little to ask, or if the embedder stopped answering.
func Trust(ctx context.Context, db database.Querier, m vectors.Collection, embedder llm.Embedder, progress func(done, total int)) (trust float64, measured bool, err error) {
	count, _, err := m.Size(ctx)
	if err != nil || count <= 2*trustDepth {
		return 0, false, err
	}
	questions, err := sampleQuestions(ctx, db)
	if err != nil || len(questions) < minQuestions {
		return 0, false, err
	}
	agreed := 0
	for i, question := range questions {
		progress(i, len(questions))
		agrees, err := agrees(ctx, db, m, embedder, question)
		if err != nil {
			return 0, false, ctx.Err() // nil: the embedder stopped answering, so the next sync measures
		}
		if agrees {
			agreed++
		}
	}
	chance := float64(trustDepth) / float64(count)
	return max(0, (float64(agreed)/float64(len(questions))-chance)/(1-chance)), true, nil
}

// agrees reports whether the best passage by keywords is among the nearest by vectors,
// and nearer than the first that is not: equal cosines say nothing.
func agrees(ctx context.Context, db database.Querier, m vectors.Collection, embedder llm.Embedder, question string) (bool, error) {
	one := newSearch(Vault{DB: db}, Query{Text: question})
	var err error
	if one.words, err = readWords(ctx, db, question); err != nil || one.words.empty() {
		return false, err
	}
	found := map[int64]*candidate{}
	if err := one.byKeywords(ctx, found); err != nil {
		return false, err
	}
	best := candidate{}
	for _, c := range found {
		if c.keywords > best.keywords || (c.keywords == best.keywords && c.id < best.id) {
			best = *c
		}
	}
	vector, err := embed.Question(ctx, embedder, question)
	if err != nil {
		return false, err
	}
	nearest, err := m.Nearest(ctx, vector, trustDepth+1)
	if err != nil {
		return false, err
	}
	keys, err := one.keys(ctx, `id = ?`, best.id)
	for _, n := range nearest {
		if len(keys[n.Key]) > 0 && n.Cosine > nearest[len(nearest)-1].Cosine {
			return true, err
		}
	}
	return false, err
}

// sampleQuestions returns questions made from sentences of the notes.
func sampleQuestions(ctx context.Context, db database.Querier) ([]string, error) {
	var passages int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&passages); err != nil {
		return nil, err
	}
	// More passages than needed, since some have no sentence.
	every := max(1, passages/(3*trustQuestions))
	locations, err := passagesWhere(ctx, db, oneIn, every)
	if err != nil {
		return nil, err
	}
	var questions []string
	for _, p := range locations {
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

// halfSentence returns every second word of the first sentence of at least eight
// words; "" if there is none.
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
				return string(runes[len(runes)/4 : len(runes)*3/4]) // without spaces: the middle half
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
