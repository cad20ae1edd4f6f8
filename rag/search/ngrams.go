package search

import (
	"context"
	"math"

	"lifehub/llm"
	"lifehub/rag/passage"
	"lifehub/rag/vectors"
)

// byNgrams compares the n-grams of the question with those of the best candidates, and
// returns their weight against that of the keywords. They match where keywords fail
// because of an ending, a typo or a compound, and an embedder because it does not know
// the word. They are computed from the texts, so that nothing is stored. The weight is
// 0 in a search of one side, or without an embedder.
func (s *search) byNgrams(ctx context.Context, found map[int64]*candidate) (weight float64, err error) {
	if s.query.Side != Both || s.model == nil {
		return 0, nil
	}
	question, err := llm.Ngrams{}.Embed(ctx, []string{s.query.Text})
	if err != nil {
		return 0, err
	}
	locations, err := s.located(ctx, found, func(c *candidate) bool { return c.rescored || c.keywords == 0 })
	if err != nil {
		return 0, err
	}
	for _, p := range locations {
		text, err := s.texts.Of(ctx, p.note, p.start, p.stop)
		if err != nil {
			return 0, err
		}
		embedded, err := llm.Ngrams{}.Embed(ctx, []string{passage.Embedded(p.title, p.heading, text, math.MaxInt32)})
		if err != nil {
			return 0, err
		}
		found[p.id].ngrams = max(0, float64(vectors.Dot(question[0], embedded[0])))
	}
	return ngramWeight, nil
}
