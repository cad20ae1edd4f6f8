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

// fuse scores candidates by words, letters and meaning and returns how strong
// the best of them is, from 0 to 1. All are normalised before they are added:
// BM25 by the best of the list, the cosines by the whole collection. The best is
// at least as strong as least.
func fuse(candidates []candidate, w weights, bound, least float64) (strength float64) {
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
		if bound > 0 {
			strength = max(strength, c.words/bound)
		}
		strength = max(strength, letters*min(1, c.letters), w.meaning*min(1, c.near), min(c.boost, 0.9))
	}
	strength = min(1, max(strength, least))
	for i := range candidates {
		if top > 0 {
			candidates[i].score *= strength / top
		} else {
			candidates[i].score = strength
		}
	}
	return strength
}

// fewStrength is how strong a match of all words is in an index of too few
// passages for their rareness to tell how much they say: where a word stands in
// the one note there is, BM25 takes it for one that says nothing.
const fewStrength = 0.5

// fewPassages is the size of an index below which a word in two notes is as
// common as "the": weights say nothing there.
const fewPassages = 12

// leastStrength is how strong the best match is at the least.
func (s *search) leastStrength() float64 {
	if s.words.passages >= fewPassages {
		return 0
	}
	return fewStrength * s.words.knownShare()
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
