package search

import (
	"context"
	"strconv"

	"lifehub/rag/embed"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// startWeight is the share of meaning before its trust was measured. At 0.3 no
// embedder lost to words alone, random vectors included (docs/design/search.md).
const startWeight = 0.3

const (
	// mostWeight is the share of an embedder that is trusted fully.
	mostWeight = 0.6
	// lettersWeight is that of n-grams: they see what the words do, so that
	// agreeing with them proves little.
	lettersWeight = 0.25
)

// leastTrust is what an embedder must earn to be heard at all: below it is
// broken, or speaks another language than the notes.
const leastTrust = 0.15

// weights are the share of meaning in a score, and that of letters in what is
// left to the words.
type weights struct{ meaning, letters float64 }

// leastScore is that of the best passage where nothing speaks for it.
const leastScore = 0.01

// fuse scores candidates by words, letters and meaning, each normalised before
// they are added: BM25 by the best of the list, the cosines by the whole
// collection. The best gets the score of its vault, so that those of several
// vaults can be compared.
func fuse(candidates []candidate, w weights, vault float64) {
	best := 0.0
	for _, c := range candidates {
		best = max(best, c.words)
	}
	top, letters := 0.0, (1-w.meaning)*w.letters
	for i := range candidates {
		c := &candidates[i]
		words := 0.0
		if best > 0 {
			words = c.words / best
		}
		c.score = (1-w.meaning-letters)*words + letters*c.letters + w.meaning*c.near + c.boost
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

// tooFew reports whether so many passages have no meaning yet that scores by
// meaning would only favour those that have.
func tooFew(have, passages int) bool { return have*10 < passages*7 }

// weight is the share of meaning in a score, by the trust that the model has
// earned on this vault. 0: none, and s.why says why.
func (s *search) weight(ctx context.Context, m vectors.Collection, model string) float64 {
	if s.understood = s.understands(); s.understood == 0 {
		s.why = model + " does not know the words of the question"
		return 0
	}
	have, _, err := m.Size(ctx)
	if _, ok := m.(vectors.Windowed); ok && err == nil {
		have, _ = strconv.Atoi(words.Meta(ctx, s.db, "embedded "+model)) //nolint:errcheck // 0: no sync has ended yet
	}
	if err != nil {
		s.away(err)
		return 0
	}
	passages := s.words.passages
	if tooFew(have, passages) { // or many say the same, which counts as one, and takes longer
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
		if embed.IsBuiltIn(model) {
			s.understood *= s.englishShare(ctx) // few notes measure no trust
		}
		if s.understood == 0 {
			s.why = model + " does not understand these notes"
		}
		return startWeight * s.understood
	}
	if trust < leastTrust {
		s.why = model + " does not understand these notes (trust " + strconv.FormatFloat(trust, 'f', 2, 64) + ")"
		return 0
	}
	return mostWeight * trust * s.understood
}

// understands is the share of the question that the model knows, as far as that
// can be told: trust was measured with the notes' own words.
func (s *search) understands() float64 {
	if s.words.otherLanguage && !embed.ManyLanguages(s.model.Name()) {
		return 0
	}
	if e, ok := s.model.(interface{ Understands(question string) float64 }); ok {
		return e.Understands(s.meant())
	}
	return 1
}

// englishShare is the share of the notes that are in English, or not known to be in
// another language.
func (s *search) englishShare(ctx context.Context) (share float64) {
	if err := s.db.QueryRowContext(ctx, `SELECT coalesce(avg(language = ''), 1) FROM notes`).Scan(&share); err != nil {
		return 0 // the search says what is wrong
	}
	return share
}
