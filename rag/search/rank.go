package search

import (
	"context"
	"math"
	"strconv"

	"lifehub/rag/encoder"
	"lifehub/rag/vectors"
)

const (
	// leastWeight is the weight of the vectors if a passage has enoughShare of the content
	// words of the question. The fewer words the best passage has, the more the vectors
	// count, up to 1 if no note has any: so they decide where the words cannot, as for a
	// question in another language (docs/figures/retrieval.md).
	leastWeight = 0.3
	enoughShare = 0.3
	// ngramWeight is small because n-grams match mostly what keywords match.
	ngramWeight = 0.22
)

// vectorWeight returns the weight of the vectors in a score.
func vectorWeight(found map[int64]*candidate) float64 {
	share := 0.0
	for _, c := range found {
		share = max(share, c.share)
	}
	return 1 - (1-leastWeight)*min(1, share/enoughShare)
}

// weights are the weight of the vectors in a score, that of n-grams in the rest, and that of
// guesses, which is added.
type weights struct{ semantic, ngrams, guesses float64 }

// minScore is the least score of the best passage.
const minScore = 0.01

// lastOfAll is the factor of a sync program's copy, which ranks below all other notes.
const lastOfAll = 1e-3

// fuse scores the candidates by keywords, n-grams and vectors. BM25 and the cosine of
// n-grams are divided by the best of the list. The best candidate gets the score of the
// vault, so that passages of several vaults can be compared.
func fuse(candidates []candidate, w weights, vault float64) {
	const tiny = math.SmallestNonzeroFloat64 // instead of 0, by which nothing can be divided
	keywords, guessed, ngrams := tiny, tiny, tiny
	for _, c := range candidates {
		keywords, guessed, ngrams = max(keywords, c.keywords), max(guessed, c.guessed), max(ngrams, c.ngrams)
	}
	top, byNgrams := 0.0, (1-w.semantic)*w.ngrams
	for i := range candidates {
		c := &candidates[i]
		c.score = (1-w.semantic-byNgrams)*c.keywords/keywords + byNgrams*c.ngrams/ngrams + w.semantic*c.near + c.boost
		c.score += w.guesses * c.guessed / guessed
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

// covers reports whether a model has vectors of enough passages, and knows the language of
// the question. If not, s.why is the reason.
func (s *search) covers(ctx context.Context, m vectors.Collection, model string) bool {
	if s.words.otherLanguage && !encoder.ManyLanguages(model) {
		s.why = model + " does not know the language of the question"
		return false
	}
	have, _, err := m.Size(ctx)
	if err != nil {
		s.withoutVectors(err)
		return false
	}
	passages := s.words.passages
	if tooFew(have, passages) { // passages of the same text have one vector; counting them takes longer
		if err := s.db.QueryRowContext(ctx, `SELECT count(DISTINCT key) FROM passages`).Scan(&passages); err != nil {
			s.why = err.Error()
			return false
		}
	}
	if tooFew(have, passages) {
		s.why = strconv.Itoa(have) + " of " + strconv.Itoa(passages) + " passages embedded"
		return false
	}
	return true
}
