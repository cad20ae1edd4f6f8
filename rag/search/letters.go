package search

import (
	"context"
	"math"

	"lifehub/llm"
	"lifehub/rag/passage"
	"lifehub/rag/vectors"
)

// Next to words and a model's meaning a search hears the letters: the built-in
// n-grams know a word by its parts where the words miss it for an ending, a
// typo, a compound or another language's spelling, and the model because it
// never saw it. They are taken of the candidates alone, from their texts, so
// that nothing more is stored (docs/design/search.md).

// letterSample is how many passages stand for the index when the usual likeness
// of letters is needed. With half as many the benches hardly change.
const letterSample = 200

// byLetters compares the letters of the question with those of the candidates
// that were looked at closely or that meaning found, and returns the weight of
// that against the words'. 0: a search of one side, or without any embedder.
func (s *search) byLetters(ctx context.Context, found map[int64]*candidate) (weight float64, err error) {
	if s.query.Side != Both || s.model == nil {
		return 0, nil
	}
	var ids []any
	for id, c := range found {
		if c.note != 0 || c.words == 0 {
			ids = append(ids, id)
		}
	}
	usual, question, err := s.usualLetters(ctx)
	if err != nil {
		return 0, err
	}
	looked, embeddings, err := s.lettersOf(ctx, `p.id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return 0, err
	}
	for i, id := range looked {
		found[id].letters = usual.near(float64(vectors.Dot(question, embeddings[i])))
	}
	return lettersWeight, nil
}

// usualLetters is how much the letters of the question are like those of any
// passage, and its vector.
func (s *search) usualLetters(ctx context.Context) (baseline, []float32, error) {
	sample, err := s.sampleLetters(ctx)
	if err != nil {
		return baseline{}, nil, err
	}
	question, err := llm.Ngrams{}.Embed(ctx, []string{s.query.Text})
	if err != nil {
		return baseline{}, nil, err
	}
	var all vectors.Cosines
	for _, vector := range sample {
		all.Add(float64(vectors.Dot(question[0], vector)))
	}
	u := baseline{count: s.words.passages}
	u.mean, u.deviation = all.Spread()
	return u, question[0], nil
}

// sampleLetters takes a sample of the passages, again when they have doubled or
// halved.
func (s *search) sampleLetters(ctx context.Context) ([][]float32, error) {
	if len(s.query.Without) > 0 { // which nothing may be learned of
		_, sample, err := s.lettersOf(ctx, oneIn+` AND p.note`+inList, 1+s.words.passages/letterSample, s.list)
		return sample, err
	}
	l := s.in.Letters
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := s.words.passages; l.sample != nil && n < 2*l.passages && l.passages < 2*n {
		return l.sample, nil
	}
	_, sample, err := s.lettersOf(ctx, oneIn, 1+s.words.passages/letterSample)
	if err != nil {
		return nil, err
	}
	l.passages, l.sample = s.words.passages, sample
	return sample, nil
}

// lettersOf are the passages that a condition holds for, in their order, and
// the vector of each, under its title and headings.
func (s *search) lettersOf(ctx context.Context, where string, args ...any) (ids []int64, embeddings [][]float32, err error) {
	places, err := placesOf(ctx, s.db, where, args...)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range places {
		text, err := s.texts.Of(ctx, p.note, p.start, p.stop)
		if err != nil {
			return nil, nil, err
		}
		made, err := llm.Ngrams{}.Embed(ctx, passage.Embedded(p.title, p.heading, text, math.MaxInt32))
		if err != nil {
			return nil, nil, err
		}
		ids, embeddings = append(ids, p.id), append(embeddings, made[0])
	}
	return ids, embeddings, nil
}
