package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"lifehub/rag/words"
)

// rescored is the number of keyword candidates that are scored again.
const rescored = 40

// termCounts are the terms of a question in a candidate.
type termCounts struct {
	id, note int64
	counts   []int // by term
	length   int   // of the candidate, in terms
}

// rescore scores the best candidates again from their texts, by all terms of the
// question, and not only by those that are rare enough to be asked for.
func (s *search) rescore(ctx context.Context, found map[int64]*candidate) error {
	best := make([]*candidate, 0, len(found))
	for _, c := range found {
		best = append(best, c)
	}
	slices.SortFunc(best, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.keywords, a.keywords), cmp.Compare(a.id, b.id))
	})
	rest := best[min(rescored, len(best)):]
	best = best[:min(rescored, len(best))]
	counted, err := s.countTerms(ctx, best)
	if err != nil {
		return err
	}
	average := words.AverageLength(ctx, s.db)
	lowest := math.Inf(1)
	for _, count := range counted {
		c := found[count.id]
		c.keywords, c.guessed = s.words.score(count.counts, float64(count.length)/average)
		c.note, c.share = count.note, s.words.share(count.counts)
		lowest = min(lowest, c.keywords)
	}
	for i, c := range rest { // below the others, in their order
		c.keywords = lowest * (1 - float64(i+1)/float64(len(rest)+1)) / 2
	}
	return nil
}

// countTerms counts the terms of the question in passages.
func (s *search) countTerms(ctx context.Context, candidates []*candidate) ([]termCounts, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	ids := make([]any, len(candidates))
	for i, c := range candidates {
		ids[i] = c.id
	}
	locations, err := passagesWhere(ctx, s.db, `p.id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return nil, err
	}
	index := make(map[string]int, len(s.words.terms))
	for i, t := range s.words.terms {
		for _, form := range t.forms {
			index[form] = i
		}
	}
	counted := make([]termCounts, 0, len(locations))
	notes := make([]int64, len(locations))
	for i, p := range locations {
		notes[i] = p.note
	}
	if err := s.texts.Load(ctx, notes...); err != nil {
		return nil, err
	}
	for _, p := range locations {
		start := p.start
		if p.first { // front matter belongs to the first passage
			start = 0
		}
		text, err := s.texts.Of(ctx, p.note, start, p.stop)
		if err != nil {
			return nil, err
		}
		count := termCounts{id: p.id, note: p.note, counts: make([]int, len(s.words.terms))}
		for _, t := range words.Terms(strings.Join([]string{p.title, words.SpacedName(p.path), p.heading, text}, "\n"), p.language) {
			count.length++
			if i, asked := index[t.Text]; asked {
				count.counts[i]++
			}
		}
		counted = append(counted, count)
	}
	return counted, nil
}
