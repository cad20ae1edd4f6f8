package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"lifehub/rag/words"
)

// rescored is the number of keyword candidates that are scored again.
const rescored = 40

// rescore scores the best candidates again from their texts, by all terms of the
// question, and not only by those that are rare enough to be asked for. The others are
// below them, in their order.
func (s *search) rescore(ctx context.Context, found map[int64]*candidate) error {
	best := slices.SortedFunc(maps.Values(found), func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.keywords, a.keywords), cmp.Compare(a.id, b.id))
	})
	for i, c := range best {
		c.rescored, c.keywords = i < rescored, leastIDF/float64(1+i)
	}
	locations, err := s.located(ctx, found, func(c *candidate) bool { return c.rescored })
	if err != nil {
		return err
	}
	notes := make([]int64, len(locations))
	for i, p := range locations {
		notes[i] = p.note
	}
	if err := s.texts.Load(ctx, notes...); err != nil {
		return err
	}
	index := make(map[string]int, len(s.words.terms))
	for i, t := range s.words.terms {
		for _, form := range t.forms {
			index[form] = i
		}
	}
	average := words.AverageLength(ctx, s.db)
	for _, p := range locations {
		start := p.start
		if p.first { // front matter belongs to the first passage
			start = 0
		}
		text, err := s.texts.Of(ctx, p.note, start, p.stop)
		if err != nil {
			return err
		}
		counts, length := make([]int, len(s.words.terms)), 0
		for _, t := range words.Terms(strings.Join([]string{p.title, words.SpacedName(p.path), p.heading, text}, "\n"),
			p.language) {
			length++
			if i, asked := index[t.Text]; asked {
				counts[i]++
			}
		}
		c := found[p.id]
		c.keywords, c.guessed = s.words.score(counts, float64(length)/average)
		c.share = s.words.share(counts)
	}
	return nil
}
