package search

import (
	"context"
	"strconv"

	"lifehub/rag/embed"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// startWeight is the weight of the vectors until their trust is measured. At 0.3 no
// embedder lost to keywords alone, not even random vectors (docs/design/search.md).
const startWeight = 0.3

const (
	// maxWeight is the weight of an embedder with a trust of 1.
	maxWeight = 0.6
	// ngramWeight is small because n-grams match mostly what keywords match.
	ngramWeight = 0.25
)

// minTrust is the least trust of an embedder that is used. One below it is broken,
// or made for another language than the notes'.
const minTrust = 0.15

// weights are the weight of the vectors in a score, that of n-grams in the rest, and that of
// guesses, which is added.
type weights struct{ semantic, ngrams, guesses float64 }

// minScore is the least score of the best passage.
const minScore = 0.01

// lastOfAll is the factor of a sync program's copy, which ranks below all other notes.
const lastOfAll = 1e-3

// fuse scores the candidates by keywords, n-grams and vectors. BM25 is divided by the
// best of the list; cosines count by how far they stand out. The best candidate gets
// the score of the vault, so that passages of several vaults can be compared.
func fuse(candidates []candidate, w weights, vault float64) {
	best, guessed := 0.0, 0.0
	for _, c := range candidates {
		best, guessed = max(best, c.keywords), max(guessed, c.guessed)
	}
	top, ngrams := 0.0, (1-w.semantic)*w.ngrams
	for i := range candidates {
		c := &candidates[i]
		keywords := 0.0
		if best > 0 {
			keywords = c.keywords / best
		}
		c.score = (1-w.semantic-ngrams)*keywords + ngrams*c.ngrams + w.semantic*c.near + c.boost
		if guessed > 0 {
			c.score += w.guesses * c.guessed / guessed
		}
		if c.copied {
			c.score *= lastOfAll
		}
		top = max(top, c.score)
	}
	for i := range candidates {
		if top > 0 {
			candidates[i].score *= vault / top
		} else {
			candidates[i].score = vault
		}
	}
}

// tooFew reports whether so many passages have no vector yet that vectors would only
// favour those that have one.
func tooFew(have, passages int) bool { return have*10 < passages*7 }

// weight returns the weight of the vectors in a score, by the trust that the model
// has earned on this vault. If it is 0, s.why is the reason.
func (s *search) weight(ctx context.Context, m vectors.Collection, model string) float64 {
	if s.words.otherLanguage && !embed.ManyLanguages(model) { // trust was measured with words of the notes
		s.why = model + " does not know the language of the question"
		return 0
	}
	have, _, err := m.Size(ctx)
	if _, ok := m.(vectors.Windowed); ok && err == nil {
		have, _ = strconv.Atoi(words.Meta(ctx, s.db, "embedded "+model)) //nolint:errcheck // 0: no sync has ended yet
	}
	if err != nil {
		s.withoutVectors(err)
		return 0
	}
	passages := s.words.passages
	if tooFew(have, passages) { // passages of the same text have one vector; counting them takes longer
		if err := s.db.QueryRowContext(ctx, `SELECT count(DISTINCT key) FROM passages`).Scan(&passages); err != nil {
			s.why = err.Error()
			return 0
		}
	}
	if tooFew(have, passages) {
		s.why = strconv.Itoa(have) + " of " + strconv.Itoa(passages) + " passages embedded"
		return 0
	}
	trust, err := strconv.ParseFloat(words.Meta(ctx, s.db, "trust "+model), 64)
	if err != nil {
		return startWeight // trust is not measured on few notes
	}
	if trust < minTrust {
		s.why = model + " does not understand these notes (trust " + strconv.FormatFloat(trust, 'f', 2, 64) + ")"
		return 0
	}
	return maxWeight * trust
}
