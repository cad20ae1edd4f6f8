package search

import (
	"cmp"
	"math"
	"slices"
)

// Signals are what speaks for or against the notes holding an answer. Each is
// 0 to 1 but Strength, Words and Near.
type Signals struct {
	Reach           float64 // BM25 of the best passage over the most that the question's words could reach
	Strength        float64 // the same BM25, as ln(1 + it)
	Words           float64 // of the question, as ln(1 + their number): the longer, the less of it any note holds
	Covered         float64 // share of the question, by how much its words tell, in and around that passage
	Pairs           float64 // share of the question's neighbouring words that stand close together there
	Apart           float64 // how far the best note stands out from the nine next, on average
	Named           float64 // a note has the question for its title or name: 1, or 0
	Undated         float64 // the question asks for a time and no more, and no note is of that time: 1, or 0
	Near            float64 // how far the best passage's cosine stands out; 0.5 is chance; 0 also without an embedder
	Agree           float64 // words and meaning name the same best passage: 1, or 0
	UnknownLanguage float64 // the question is in a language that no note is in: 1, or 0
	Silent          float64 // no word that says what the question is about stands in the notes, and meaning answered: 1, or 0
	Everywhere      float64 // all known words that say what the question is about stand in half of the passages: their share of all that say it; else 0
	Few             float64 // there are too few passages for the others to tell: the share of the question's words that the notes hold; else 0
}

// fewPassages is the size of an index below which a word in two notes is as
// common as "the": weights say nothing there.
const fewPassages = 12

// runnersUp are the notes that the best must stand out from.
const runnersUp = 9

// signals looks at ranked candidates.
func (s *search) signals(ranked []candidate) Signals {
	var g Signals
	if s.words.otherLanguage {
		g.UnknownLanguage = 1
	}
	if s.dated {
		g.Named = 1
	}
	if s.words.passages < fewPassages && len(ranked) > 0 {
		g.Few = s.words.knownShare()
	}
	if len(ranked) > 0 {
		g.Everywhere = s.words.everywhere()
	}
	if s.silent {
		g.Silent = 1
		for _, c := range ranked {
			g.Near = max(g.Near, c.near)
		}
		return g
	}
	if len(ranked) == 0 || s.words.bound == 0 {
		return g
	}
	byWords := slices.Clone(ranked)
	slices.SortFunc(byWords, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(a.id, b.id)) })
	best := byWords[0]
	g.Reach = min(1, best.words/(s.words.bound*(1+contextShare)))
	g.Strength, g.Words = math.Log1p(best.words), math.Log1p(float64(len(s.words.terms)))
	g.Covered, g.Pairs = best.covered, best.pairs
	g.Apart = apart(byWords)
	if len(s.named) > 0 {
		g.Named = 1
	}
	nearest := best
	for _, c := range ranked {
		if c.near > nearest.near {
			nearest = c
		}
	}
	g.Near = nearest.near
	if nearest.near > 0 && nearest.note == best.note {
		g.Agree = 1
	}
	return g
}

// apart is how far the note of the first stands out from the notes that come
// next by words; 0: there are none.
func apart(byWords []candidate) float64 {
	best := byWords[0]
	others, sum := map[int64]bool{best.note: true, 0: true}, 0.0 // 0: not looked at closely
	for _, c := range byWords[1:] {
		if !others[c.note] && len(others)-2 < runnersUp {
			others[c.note] = true
			sum += c.words
		}
	}
	if len(others) == 2 || best.words == 0 {
		return 0
	}
	return 1 - sum/float64(len(others)-2)/best.words
}

// Answerable turns signals into the likelihood that the notes hold an answer,
// by a logistic regression fitted on nine benches, each question once with its
// notes and once without them (docs/design/search.md). What meaning adds was
// fitted on top, so that both kinds of search have one calibration.
func (g Signals) Answerable() float64 {
	switch {
	case g.Named > 0:
		return 0.99
	case g.Undated > 0:
		return 0.01
	case g.Silent > 0: // 0.13 at a nearness that one of ten questions on other subjects reaches
		return 1 / (1 + math.Exp(12.6-20*g.Near))
	case g.Few > 0:
		return g.Few
	case g.Everywhere > 0:
		return g.Everywhere
	case g.Near == 0 && g.Reach == 0:
		return 0
	}
	sum := -4.726 + 2.178*g.Covered + 3.796*g.Apart + 0.511*g.Pairs + 0.876*g.Strength - 0.438*g.Words
	if g.Near > 0 {
		sum += -0.598 + 1.447*min(g.Near, 2) + 0.640*g.Agree
	}
	return 1 / (1 + math.Exp(-sum))
}

// likelyShare is the share of Found from which notes may be taken to hold an
// answer: people ask in other words than their notes are written in. It was
// chosen on nine benches (docs/design/search.md).
const likelyShare = 0.2

// nearBound is the nearness from which a question without known words is
// answered: one of ten questions on other subjects reaches it.
const nearBound = 0.535

// verdict is that on a search which found something.
func (c calibration) verdict(g Signals) Verdict {
	likely := g.Answerable() >= likelyShare*c.Found
	if g.Silent > 0 {
		likely = g.Near >= nearBound
	}
	switch {
	case likely:
		return Likely
	case g.UnknownLanguage > 0 && g.Undated == 0:
		return OtherLanguage
	case g.Answerable() > c.Hidden:
		return Close
	}
	return NothingClose
}
