package search

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/rag/encoder"
	"lifehub/rag/vectors"
)

// asked is the vector of the question.
type asked struct {
	vector []float32 // nil: none, and s.why is the reason
	among  vectors.Collection
}

// ask asks the embedder for the vector of the question.
func (s *search) ask(ctx context.Context) error {
	m, embedder := s.collection()
	if m == nil {
		return nil
	}
	if s.query.Side == Both && !s.covers(ctx, m, embedder.Name()) || len(s.words.required) > 0 {
		return nil
	}
	vector, err := encoder.Question(ctx, embedder, s.query.Text)
	if err != nil {
		s.why = err.Error()
		return ctx.Err()
	}
	s.asked = asked{vector, m}
	return nil
}

// byVectors adds the passages nearest to the question to those that keywords found, and
// returns the weight of their nearness in a score. If it is 0, no vectors were used, and
// s.why is the reason.
func (s *search) byVectors(ctx context.Context, found map[int64]*candidate) (weight float64, err error) {
	m, vector := s.asked.among, s.asked.vector
	if vector == nil {
		return 0, nil
	}
	hits, err := s.hits(ctx, m, vector, found)
	if err != nil {
		s.withoutVectors(err)
		return 0, ctx.Err()
	}
	s.embedder = s.model.Name()
	for id, cosine := range hits {
		if found[id] == nil {
			found[id] = &candidate{id: id}
		}
		s.nearest = max(s.nearest, cosine)
	}
	for id, near := range scaled(hits) {
		found[id].near = near
	}
	return vectorWeight(found), nil
}

// collection returns the vectors and their embedder. If they are nil, s.why is the
// reason.
func (s *search) collection() (vectors.Collection, llm.Embedder) {
	if s.query.Side == KeywordsAlone {
		s.why = "asked for keywords only"
		return nil, nil
	}
	m, embedder, err := s.in.Meaning.Vectors()
	s.model = embedder
	switch {
	case err != nil:
		s.why = err.Error()
		return nil, nil
	case m == nil:
		s.why = "no embedding model"
	}
	return m, embedder
}

// scaled scales the cosines of passages from 0 for the least to 1 for the greatest. If all
// are equal they tell nothing, and are 0.
func scaled(cosines map[int64]float64) map[int64]float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, cosine := range cosines {
		least, most = min(least, cosine), max(most, cosine)
	}
	near := make(map[int64]float64, len(cosines))
	for id, cosine := range cosines {
		near[id] = (cosine - least) / max(most-least, math.SmallestNonzeroFloat64)
	}
	return near
}

// withoutVectors records why no vectors were used.
func (s *search) withoutVectors(err error) {
	s.why = err.Error()
	s.unavailable = errors.As(err, new(*vectors.UnavailableError))
}

// hits returns the cosines of the passages nearest to the question, and of those that
// keywords found.
func (s *search) hits(ctx context.Context, m vectors.Collection, vector []float32,
	found map[int64]*candidate,
) (map[int64]float64, error) {
	cosines, err := s.nearestTo(ctx, m, vector, nearCandidates)
	if err != nil {
		return nil, err
	}
	args := make([]any, 0, len(found))
	for id := range found {
		args = append(args, id)
	}
	keys, err := s.keys(ctx, `id IN (`+marks(len(args))+`)`, args...)
	if err != nil {
		return nil, err
	}
	among, err := m.Among(ctx, vector, slices.Collect(maps.Keys(keys)), len(keys))
	setCosines(cosines, among, keys, len(among))
	return cosines, err
}

// nearestTo returns the cosines of the passages nearest to a vector, among those that match
// the filter. If many match, it tests so many of all passages that enough should match.
func (s *search) nearestTo(ctx context.Context, m vectors.Collection, vector []float32, limit int) (map[int64]float64,
	error,
) {
	cosines := map[int64]float64{}
	if s.filter.notes == "" || s.many {
		wanted := limit
		if s.many {
			wanted = int(1.25 * float64(limit) / s.share)
		}
		nearest, err := m.Nearest(ctx, vector, wanted)
		if err != nil {
			return nil, err
		}
		n, err := s.setNearest(ctx, cosines, nearest, limit)
		if err != nil || !s.many || n == limit {
			return cosines, err
		} // otherwise the nearest are in notes that the filter does not keep
	}
	// Fetching the keys row by row would cost more than comparing the vectors.
	var raw []byte
	if err := s.db.QueryRowContext(ctx, `SELECT CAST(group_concat(key, '') AS BLOB) FROM passages WHERE note`+inList,
		s.list).Scan(&raw); err != nil {
		return nil, err
	}
	keys := make([]vectors.Key, 0, len(raw)/len(vectors.Key{}))
	for key := range slices.Chunk(raw, len(vectors.Key{})) {
		keys = append(keys, vectors.KeyOf(key))
	}
	nearest, err := m.Among(ctx, vector, keys, limit)
	if err == nil {
		_, err = s.setNearest(ctx, cosines, nearest, limit)
	}
	return cosines, err
}

// setNearest sets the cosines of the first hits that match the filter, up to a limit,
// and returns their number.
func (s *search) setNearest(ctx context.Context, cosines map[int64]float64, hits []vectors.Match, limit int) (n int,
	err error,
) {
	for part := range slices.Chunk(hits, 500) {
		args := make([]any, len(part))
		for i := range part {
			args[i] = part[i].Key[:]
		}
		keys, err := s.keys(ctx, `key IN (`+marks(len(args))+`)`, args...)
		if err != nil {
			return n, err
		}
		if n += setCosines(cosines, part, keys, limit-n); n == limit {
			break
		}
	}
	return n, nil
}

// setCosines sets the cosines of the passages of some hits, up to a limit of keys, and
// returns the number of keys.
func setCosines(cosines map[int64]float64, hits []vectors.Match, passages map[vectors.Key][]int64, limit int) (n int) {
	for _, h := range hits {
		if len(passages[h.Key]) == 0 || n == limit {
			continue
		}
		n++
		for _, id := range passages[h.Key] {
			cosines[id] = h.Cosine
		}
	}
	return n
}

// keys returns the passages for which a condition holds and that match the filter, by
// key.
func (s *search) keys(ctx context.Context, where string, args ...any) (map[vectors.Key][]int64, error) {
	note := "0"
	if s.filter.notes != "" {
		note = "note" // which is not in the index by key
	}
	keys := map[vectors.Key][]int64{}
	for scan := range files.Rows(ctx, s.db, `SELECT id, key, `+note+` FROM passages WHERE `+where, args...) {
		var id, note int64
		var raw []byte
		if err := scan(&id, &raw, &note); err != nil {
			return nil, err
		}
		if s.matches(note) {
			keys[vectors.KeyOf(raw)] = append(keys[vectors.KeyOf(raw)], id)
		}
	}
	return keys, nil
}
