package search

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lifehub/llm"
	"lifehub/rag/embed"
	"lifehub/rag/vectors"
)

// byMeaning asks the collection, and returns the weight of its answer
// against that of the words. 0: it could not be asked, and s.why says why.
func (s *search) byMeaning(ctx context.Context, found map[int64]*candidate) (weight float64, err error) {
	m, embedder := s.collection()
	if m == nil {
		return 0, nil
	}
	s.silent = s.silent && !embed.IsBuiltIn(embedder.Name()) // n-grams know letters, not meaning
	weight = 1
	if s.query.Side == Both {
		weight = s.weight(ctx, m, embedder.Name())
	}
	if weight == 0 || len(s.words.required) > 0 {
		return 0, nil
	}
	vector, err := embed.Question(ctx, embedder, s.query.Text)
	if err != nil {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		s.why = err.Error()
		return 0, nil
	}
	if s.resized(ctx, m, embedder.Name(), len(vector)) {
		return 0, nil
	}
	hits, err := s.hits(ctx, m, vector, found)
	if err != nil {
		s.away(err)
		return 0, ctx.Err()
	}
	s.embedder = embedder.Name()
	usual, err := usualCosine(ctx, m, vector)
	if err != nil {
		s.away(err)
		return 0, ctx.Err()
	}
	for id, cosine := range hits {
		near := usual.near(cosine)
		switch c := found[id]; {
		case c != nil:
			c.near = near
		case near >= 0.5 || s.silent || s.query.Side == MeaningAlone: // less is what chance brings
			found[id] = &candidate{id: id, near: near}
		}
	}
	return weight, nil
}

// collection is the one to ask, and its embedder; nil: there is none, and
// s.why says why.
func (s *search) collection() (vectors.Collection, llm.Embedder) {
	if s.query.Side == WordsAlone {
		s.why = "asked for keywords only"
		return nil, nil
	}
	m, embedder, err := s.in.Meaning()
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

// resized reports whether a question's vector has another dimension than the
// collection: the next sync embeds the notes again.
func (s *search) resized(ctx context.Context, m vectors.Collection, embedder string, dimension int) bool {
	_, before, err := m.Size(ctx)
	if err != nil || before == dimension || before == 0 {
		return false
	}
	s.why = fmt.Sprintf("%s now makes vectors of %d numbers, not of %d: the next sync embeds the notes again", embedder, dimension, before)
	s.trouble = Resized
	return true
}

// baseline is how near to a question the vectors of a collection are on the whole.
type baseline struct {
	mean, deviation float64
	count           int // of vectors
}

func usualCosine(ctx context.Context, m vectors.Collection, vector []float32) (u baseline, err error) {
	if u.mean, u.deviation, err = m.Spread(ctx, vector); err != nil {
		return u, err
	}
	u.count, _, err = m.Size(ctx)
	return u, err
}

// near is how far a cosine stands out; 0.5 is what chance reaches among so many.
func (u baseline) near(cosine float64) float64 {
	if u.deviation == 0 {
		return 0
	}
	chance := 2 * math.Sqrt(2*math.Log(float64(max(2, u.count))))
	return max(0, cosine-u.mean) / u.deviation / chance
}

// away says why meaning took no part.
func (s *search) away(err error) {
	s.why = err.Error()
	if away := (*vectors.AwayError)(nil); errors.As(err, &away) {
		s.trouble = Away
	}
}

// hits are the cosines of the passages nearest to the question, and of those
// that the words found.
func (s *search) hits(ctx context.Context, m vectors.Collection, vector []float32, found map[int64]*candidate) (map[int64]float64, error) {
	if s.filter.where != "" {
		return s.hitsKept(ctx, m, vector, found)
	}
	cosines, err := s.nearest(ctx, m, vector, nearCandidates)
	if err != nil {
		return nil, err
	}
	args := make([]any, 0, len(found))
	for id := range found {
		args = append(args, id)
	}
	keys, err := s.keys(ctx, `SELECT id, key FROM passages WHERE id IN (`+marks(len(args))+`)`, args)
	if err != nil {
		return nil, err
	}
	among, err := m.Among(ctx, vector, slices.Collect(maps.Keys(keys)))
	setCosines(cosines, among, keys)
	return cosines, err
}

// nearest are the cosines of the passages nearest to a vector.
func (s *search) nearest(ctx context.Context, m vectors.Collection, vector []float32, limit int) (map[int64]float64, error) {
	cosines := map[int64]float64{}
	nearest, err := m.Nearest(ctx, vector, limit)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(nearest, 100) {
		args := make([]any, len(part))
		for i := range part {
			args[i] = part[i].Key[:]
		}
		keys, err := s.keys(ctx, `SELECT id, key FROM passages WHERE key IN (`+marks(len(args))+`)`, args)
		if err != nil {
			return nil, err
		}
		setCosines(cosines, part, keys)
	}
	return cosines, nil
}

// hitsKept are the same among the passages that the filter keeps: all of them
// are compared.
func (s *search) hitsKept(ctx context.Context, m vectors.Collection, vector []float32, found map[int64]*candidate) (map[int64]float64, error) {
	keys, err := s.keys(ctx, `SELECT id, key FROM passages WHERE note IN (SELECT id FROM notes WHERE `+s.filter.where+`)`, s.filter.args)
	if err != nil {
		return nil, err
	}
	among, err := m.Among(ctx, vector, slices.Collect(maps.Keys(keys)))
	if err != nil {
		return nil, err
	}
	cosines := map[int64]float64{}
	nearest := vectors.TopK{Limit: nearCandidates}
	for _, n := range among {
		nearest.Offer(n.Key, float32(n.Cosine))
		for _, id := range keys[n.Key] {
			if found[id] != nil {
				cosines[id] = n.Cosine
			}
		}
	}
	setCosines(cosines, nearest.Sorted(), keys)
	return cosines, nil
}

// setCosines gives each passage of a key its cosine.
func setCosines(cosines map[int64]float64, hits []vectors.Match, passages map[vectors.Key][]int64) {
	for _, n := range hits {
		for _, id := range passages[n.Key] {
			cosines[id] = n.Cosine
		}
	}
}

// keys reads what a query for id and key gives. SQLite joins the rows to two
// texts: fetched one by one they would cost more than comparing the vectors.
func (s *search) keys(ctx context.Context, query string, args []any) (map[vectors.Key][]int64, error) {
	var ids, hexes sql.NullString
	err := s.db.QueryRowContext(ctx, `SELECT group_concat(id, ' '), group_concat(hex(key), '') FROM (`+query+`)`, args...).Scan(&ids, &hexes)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(hexes.String)
	if err != nil {
		return nil, fmt.Errorf("read keys of passages: %w", err)
	}
	keys := make(map[vectors.Key][]int64, len(raw)/len(vectors.Key{}))
	alone := make([]int64, 0, len(raw)/len(vectors.Key{})) // holds those that share their key with none
	for text := range strings.FieldsSeq(ids.String) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || len(raw) < len(vectors.Key{}) {
			return nil, fmt.Errorf("read keys of passages: %q has none", text)
		}
		k := vectors.KeyOf(raw)
		raw = raw[len(k):]
		if others, shared := keys[k]; shared {
			keys[k] = append(others, id)
			continue
		}
		alone = append(alone, id)
		keys[k] = alone[len(alone)-1 : len(alone) : len(alone)]
	}
	return keys, nil
}
