package rag

import (
	"cmp"
	"math"
	"slices"
)

// Signals are what speaks for or against the notes holding an answer. Each is
// 0 to 1 but Near.
type Signals struct {
	Reach   float64 // BM25 of the best passage over the most that the question's words could reach
	Covered float64 // share of the question, by how much its words tell, in and around that passage
	Margin  float64 // how far the best note stands out from the next
	Named   float64 // a note has the question for its title or name: 1, or 0
	Near    float64 // how far the best passage's cosine stands out; 0.5 is chance; 0 also without an embedder
	Agree   float64 // words and meaning name the same best passage: 1, or 0
	Few     float64 // there are too few passages for the others to tell: the share of the question's words that the notes hold; else 0
}

// fewPassages is the size of an index below which a word in two notes is as
// common as "the": weights say nothing there.
const fewPassages = 12

// signals looks at ranked candidates, best first by words.
func (s *search) signals(ranked []candidate) Signals {
	var g Signals
	if s.words.passages < fewPassages && len(ranked) > 0 {
		g.Few = s.words.held()
	}
	if len(ranked) == 0 || s.words.bound == 0 {
		return g
	}
	byWords := slices.Clone(ranked)
	slices.SortFunc(byWords, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(a.id, b.id)) })
	best := byWords[0]
	g.Reach = min(1, best.words/(s.words.bound*(1+contextShare)))
	g.Covered = best.covered
	for _, c := range byWords[1:] {
		if c.note != best.note && best.words > 0 {
			g.Margin = 1 - c.words/best.words
			break
		}
	}
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

// LikelyAnswerable is the Answerable from which notes may be taken to hold an
// answer: at least 95 of 100 questions that they do answer lie above it.
const LikelyAnswerable = 0.165

// Likely tells whether the notes may be taken to hold an answer.
func (f Found) Likely() bool { return f.Answerable >= LikelyAnswerable }

// answerable turns signals into the likelihood that the notes hold an answer,
// by logistic regressions fitted on nine benches, each question once with its
// notes and once without them (docs/decisions/0014).
func (g Signals) answerable() float64 {
	var sum float64
	switch {
	case g.Named > 0:
		return 0.99
	case g.Few > 0:
		return g.Few
	case g.Near > 0:
		sum = -3.816 - 2.302*g.Reach + 3.233*g.Covered + 3.289*g.Margin + 3.083*min(g.Near, 2) + 0.587*g.Agree
	case g.Reach > 0:
		sum = -2.586 + 1.211*g.Reach + 2.453*g.Covered + 3.848*g.Margin
	default:
		return 0
	}
	return 1 / (1 + math.Exp(-sum))
}

// held is the share of the question's words that any note holds.
func (w wordQuery) held() float64 {
	held := 0
	for _, t := range w.terms {
		if t.df > 0 {
			held++
		}
	}
	return float64(held) / float64(max(1, len(w.terms)))
}
