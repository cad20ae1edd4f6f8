package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"lifehub/rag/words"
)

// rescored is how many of the word index's candidates are looked at again.
const rescored = 40

// contextShare is the weight of the words around a passage against its own: a
// question's words often stand partly in the passage, partly next to it
// (docs/design/search.md).
const contextShare = 0.6

// windowPassages is how long a passage with its neighbours is taken to be on
// average, in passages. Lower favours short notes.
const windowPassages = 1.7

// termCounts is what a candidate's text and surroundings hold of a question.
type termCounts struct {
	id, note       int64
	own, around    []int // how often each term stands there
	length, window int   // terms of the passage, and of it with its neighbours
}

// rescore looks at the text of the best candidates: counts every term, also
// those too frequent to be asked for, in the passage and in what stands
// around it.
func (s *search) rescore(ctx context.Context, found map[int64]*candidate) error {
	best := make([]*candidate, 0, len(found))
	for _, c := range found {
		best = append(best, c)
	}
	slices.SortFunc(best, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(a.id, b.id))
	})
	rest := best[min(rescored, len(best)):]
	best = best[:min(rescored, len(best))]
	counts, err := s.countTerms(ctx, best)
	if err != nil {
		return err
	}
	average := words.AverageLength(ctx, s.db)
	lowest := math.Inf(1)
	for _, l := range counts {
		c := found[l.id]
		c.words = s.words.score(l.own, float64(l.length)/average) +
			contextShare*s.words.score(l.around, float64(l.window)/(average*windowPassages))
		c.note, c.share = l.note, s.words.share(l.around)
		lowest = min(lowest, c.words)
	}
	for i, c := range rest { // below all that were looked at, in their order
		c.words = lowest * (1 - float64(i+1)/float64(len(rest)+1)) / 2
	}
	return nil
}

// countTerms counts the terms of the question in passages and around them.
func (s *search) countTerms(ctx context.Context, candidates []*candidate) ([]termCounts, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	ids := make([]any, len(candidates))
	for i, c := range candidates {
		ids[i] = c.id
	}
	places, err := placesOf(ctx, s.db, `p.id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return nil, err
	}
	index := make(map[string]int, len(s.words.terms))
	for i, t := range s.words.terms {
		for _, form := range t.forms {
			index[form] = i
		}
	}
	counts := make([]termCounts, 0, len(places))
	notes := make([]int64, len(places))
	for i, p := range places {
		notes[i] = p.note
	}
	if err := s.texts.Load(ctx, notes...); err != nil {
		return nil, err
	}
	for _, p := range places {
		text, err := s.texts.Of(ctx, p.note, p.from, p.to)
		if err != nil {
			return nil, err
		}
		counts = append(counts, p.countTerms(text, s.words.terms, index))
	}
	return counts, nil
}

// countTerms counts the terms of a question, by their index, in the text from the
// neighbour before to the one after.
func (p place) countTerms(text string, asked []weighed, index map[string]int) termCounts {
	l := termCounts{id: p.id, note: p.note, own: make([]int, len(asked)), around: make([]int, len(asked))}
	for _, t := range words.Terms(strings.Join([]string{p.title, words.SpacedName(p.path), p.heading}, "\n"), p.language) {
		l.count(index, t.Text, true)
	}
	for _, t := range words.Terms(text, p.language) {
		own := p.first || t.Start >= p.start-p.from // front matter belongs to the first passage
		l.count(index, t.Text, own && t.End <= p.stop-p.from)
	}
	return l
}

func (l *termCounts) count(index map[string]int, text string, own bool) {
	i, asked := index[text]
	l.window++
	if asked {
		l.around[i]++
	}
	if !own {
		return
	}
	l.length++
	if asked {
		l.own[i]++
	}
}
