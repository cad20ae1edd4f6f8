package vectors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/philippgille/chromem-go"
)

// floatsUpTo is the number of vectors that are stored as float32s, in a [vectorFile]
// that chromem-go searches. For more, chromem-go's overhead per document costs more
// than the vectors themselves (docs/figures), so they are quantised, and the vector
// file has only later ones.
const floatsUpTo = 20_000

// manyNew is the number of quantised vectors per new one below which the new ones are
// quantised too, after all notes are embedded. That writes the whole file again.
const manyNew = 16

// localVectors is a collection on this machine. A vector is either in file or in
// quantised.
type localVectors struct {
	file      *vectorFile
	quantised *quantised          // nil: none yet
	chromem   *chromem.Collection // over file; nil: more than floatsUpTo vectors
	status    os.FileInfo         // of the file at quantisedPath, to notice a replacement; nil: none
	lost      atomic.Bool         // another program truncated that file
	mu        sync.RWMutex        // searches read, put and forget write
}

// openLocal reads the vectors of a model from path.
func openLocal(path, model string) (*localVectors, error) {
	// In this order, so that vectors that another process quantises meanwhile are read
	// twice rather than never.
	file, err := openVectors(path, model)
	if err != nil {
		return nil, err
	}
	m := &localVectors{file: file}
	if m.quantised, m.status, err = openQuantised(quantisedPath(path), model); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := m.fill(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// quantisedPath returns the path of the quantised file that belongs to a vector file.
func quantisedPath(path string) string { return path + "12" }

// fill merges the two files and, if there are few vectors, adds them to a chromem
// collection that has only IDs and the memory into which the file was read.
func (m *localVectors) fill() (err error) {
	defer m.cutShort(&err)()
	m.chromem = nil
	if q := m.quantised; q != nil {
		if m.file.dimension != 0 && m.file.dimension != q.dimension {
			m.quantised = nil // of a model that was replaced
			return q.close()
		}
		m.file.drop(func(k Key) bool { _, both := q.find(k, 0); return both }) // its writer was killed
		return nil
	}
	if len(m.file.rows) > floatsUpTo {
		return nil // the next sync quantises them
	}
	c, err := chromem.NewDB().CreateCollection("passages", nil, refuseToEmbed)
	if err != nil {
		return fmt.Errorf("make collection: %w", err)
	}
	for _, r := range m.file.rows {
		if err := addDocument(c, r.key, r.vector); err != nil {
			return err
		}
	}
	m.chromem = c
	return nil
}

// cutShort is like the function cutShort, and has the collection opened again.
func (m *localVectors) cutShort(err *error) func() {
	return cutShort(err, func() { m.lost.Store(true) })
}

// quantise moves the vectors for which keep returns true to the quantised file.
func (m *localVectors) quantise(keep func(Key) bool) error {
	if m.replaced() {
		return errors.New("quantise vectors: another program replaced their file, try again")
	}
	dimension := m.dimension()
	made, status, err := m.quantised.rewrite(quantisedPath(m.file.file.Name()), m.file.model,
		dimension, m.file.rows, keep)
	if err != nil {
		return err
	}
	old := m.quantised
	m.quantised, m.status, m.chromem = made, status, nil
	return errors.Join(old.close(), m.file.reset(dimension))
}

// replaced reports whether the quantised file is not the one that was opened.
func (m *localVectors) replaced() bool {
	status, err := os.Stat(quantisedPath(m.file.file.Name()))
	if err != nil || m.status == nil {
		return (err == nil) != (m.status != nil)
	}
	return !os.SameFile(status, m.status)
}

func (m *localVectors) dimension() int {
	if m.quantised != nil {
		return m.quantised.dimension
	}
	return m.file.dimension
}

func addDocument(c *chromem.Collection, k Key, vector []float32) error {
	document := chromem.Document{ID: hex.EncodeToString(k[:]), Embedding: vector}
	if err := c.AddDocument(context.Background(), document); err != nil {
		return fmt.Errorf("fill collection: %w", err)
	}
	return nil
}

// refuseToEmbed replaces chromem-go's default, which would call a hosted service.
func refuseToEmbed(context.Context, string) ([]float32, error) {
	return nil, errors.New("the collection takes finished vectors only")
}

func (m *localVectors) Put(_ context.Context, keys []Key, embeddings [][]float32) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.cutShort(&err)()
	if d := m.dimension(); d != 0 && len(embeddings) > 0 && d != len(embeddings[0]) {
		return m.otherDimension(len(embeddings[0]))
	}
	var added []Key
	var vectors [][]float32
	for i, k := range keys {
		if !m.has(k) {
			added, vectors = append(added, k), append(vectors, embeddings[i])
		}
	}
	if err := m.file.put(added, vectors); err != nil {
		return err
	}
	if len(m.file.rows) > max(floatsUpTo, m.quantised.size()/manyNew) {
		return m.quantise(all)
	}
	if m.chromem == nil {
		return nil
	}
	for _, k := range added {
		if err := addDocument(m.chromem, k, m.file.rows[m.file.at[k]].vector); err != nil {
			return err
		}
	}
	return nil
}

func all(Key) bool { return true }

// otherDimension returns the error of a vector that the collection cannot hold, since another model has the name of the
// one before.
func (m *localVectors) otherDimension(of int) error {
	return fmt.Errorf("the model now makes vectors of %d numbers, not of %d: delete %s* of the index, and the notes "+
		"are embedded again", of, m.dimension(), filepath.Base(m.file.file.Name()))
}

func (m *localVectors) has(k Key) bool {
	_, quantised := m.quantised.find(k, 0)
	return quantised || m.file.has(k)
}

// Forget removes unused vectors once they are more than a quarter. Until then they are
// a cache, for notes that come back.
func (m *localVectors) Forget(_ context.Context, used map[Key]bool) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.cutShort(&err)()
	inUse := func(k Key) bool { return used[k] }
	unused := 0
	for i := range m.size() {
		if !inUse(m.key(i)) {
			unused++
		}
	}
	if !ManyUnused(unused, m.size()) {
		return nil
	}
	m.file.drop(func(k Key) bool { return !inUse(k) })
	if m.quantised != nil {
		return m.quantise(inUse)
	}
	return m.fill()
}

// ManyUnused reports whether there are enough unused vectors to remove them.
func ManyUnused(unused, all int) bool { return unused*4 >= all && unused >= 64 }

func (m *localVectors) Missing(_ context.Context, keys []Key) (missing []Key, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	defer m.cutShort(&err)()
	for _, k := range keys {
		if !m.has(k) {
			missing = append(missing, k)
		}
	}
	return missing, nil
}

// key returns the key of vector i; those of the vector file come first.
func (m *localVectors) key(i int) Key {
	if n := i - len(m.file.rows); n >= 0 {
		return m.quantised.key(m.quantised.sound[n])
	}
	return m.file.rows[i].key
}

func (m *localVectors) size() int { return len(m.file.rows) + m.quantised.size() }

func (m *localVectors) Size(context.Context) (count, dimension int, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.size(), m.dimension(), nil
}

func (m *localVectors) Fresh() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !m.lost.Load() && !m.file.changedOutside() && !m.replaced()
}

// Flush also quantises new vectors if there are many, and drops damaged ones.
func (m *localVectors) Flush() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.cutShort(&err)()
	q := m.quantised
	if len(m.file.rows) > floatsUpTo || q != nil && (len(m.file.rows) > q.size()/manyNew || q.size() < q.count) {
		return m.quantise(all)
	}
	return m.file.Flush()
}

func (m *localVectors) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.chromem = nil
	q := m.quantised
	m.quantised = nil
	return errors.Join(q.close(), m.file.Close())
}

func (m *localVectors) Nearest(ctx context.Context, vector []float32, limit int) (found []Match, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	defer m.cutShort(&err)()
	if m.chromem != nil && len(vector) == m.dimension() {
		return m.nearestInChromem(ctx, vector, limit)
	}
	return m.nearest(ctx, vector, limit, m.file.rows, m.quantised.records())
}

func (m *localVectors) Among(ctx context.Context, vector []float32, keys []Key, limit int) (found []Match, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	defer m.cutShort(&err)()
	rows, records := m.where(keys)
	return m.nearest(ctx, vector, limit, rows, records)
}

// nearest compares a question with some rows and records.
func (m *localVectors) nearest(ctx context.Context, vector []float32, limit int, rows []row,
	records []int32,
) (found []Match, err error) {
	if m.dimension() == 0 { // nothing is embedded yet
		return nil, nil
	}
	if len(vector) != m.dimension() {
		return nil, m.otherDimension(len(vector))
	}
	top := TopK[Key]{Limit: limit}
	for i, r := range rows {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		top.Offer(r.key, Dot(vector, r.vector))
	}
	if len(records) > 0 {
		if found, err = m.quantised.nearest(ctx, vector, limit, records); err != nil {
			return nil, err
		}
	}
	found = append(found, top.Sorted()...)
	slices.SortFunc(found, ByCosine)
	return found[:min(limit, len(found))], nil
}

func (m *localVectors) nearestInChromem(ctx context.Context, vector []float32, limit int) ([]Match, error) {
	limit = min(limit, m.chromem.Count()) // chromem-go rejects a larger limit
	if limit == 0 {
		return nil, nil
	}
	results, err := m.chromem.QueryEmbedding(ctx, vector, limit, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("search collection: %w", err)
	}
	found := make([]Match, 0, len(results))
	for _, r := range results {
		var k Key
		if _, err := hex.Decode(k[:], []byte(r.ID)); err != nil {
			return nil, fmt.Errorf("search collection: %w", err)
		}
		found = append(found, Match{k, float64(r.Similarity)})
	}
	return found, nil
}

// where finds the rows and records of some keys, each once, in their order.
func (m *localVectors) where(keys []Key) (rows []row, records []int32) {
	at, ok := 0, false
	keys = slices.SortedFunc(slices.Values(keys), func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
	for _, k := range slices.Compact(keys) {
		if at, ok = m.quantised.find(k, at); ok {
			records = append(records, m.quantised.sound[at])
		} else if i, ok := m.file.at[k]; ok {
			rows = append(rows, m.file.rows[i])
		}
	}
	return rows, records
}

func (m *localVectors) Get(_ context.Context, keys []Key) (found [][]float32, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	defer m.cutShort(&err)()
	rows, records := m.where(keys)
	if len(records) > 0 {
		if found, err = m.quantised.get(records); err != nil {
			return nil, err
		}
	}
	for _, r := range rows {
		found = append(found, slices.Clone(r.vector))
	}
	return found, nil
}

// Mean returns the normalised mean of vectors of one dimension; nil if there is none.
func Mean(all [][]float32) []float32 {
	if len(all) == 0 {
		return nil
	}
	mean := make([]float32, len(all[0]))
	for _, vector := range all {
		for i := range min(len(vector), len(mean)) {
			mean[i] += vector[i]
		}
	}
	length := float32(math.Sqrt(float64(Dot(mean, mean))))
	if length == 0 {
		return nil
	}
	for i := range mean {
		mean[i] /= length
	}
	return mean
}

// TopK collects the nearest vectors.
type TopK[T any] struct {
	Limit int
	found []Near[T] // fewer than twice the limit
	full  bool
	least float64 // the cosine to exceed if full
}

// Offer adds a vector if it is among the nearest so far.
func (t *TopK[T]) Offer(k T, cosine float32) {
	c := float64(cosine)
	if t.Limit == 0 || t.full && c <= t.least {
		return
	}
	if t.found = append(t.found, Near[T]{k, c}); len(t.found) == 2*t.Limit {
		t.Sorted()
	}
}

// Sorted returns the nearest, nearest first.
func (t *TopK[T]) Sorted() []Near[T] {
	slices.SortFunc(t.found, ByCosine)
	if len(t.found) >= t.Limit && t.Limit > 0 {
		t.found, t.full, t.least = t.found[:t.Limit], true, t.found[t.Limit-1].Cosine
	}
	return t.found
}

// ByCosine puts the nearest first.
func ByCosine[T any](a, b Near[T]) int { return cmp.Compare(b.Cosine, a.Cosine) }

// Dot returns the inner product. It has eight accumulators, because the compiler does
// not split a chain of additions, in which each would wait for the one before.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3) + ((s4 + s5) + (s6 + s7))
}

// Normalise returns the vector with length 1, or an error if it is empty, zero or not
// finite.
func Normalise(vector []float32) ([]float32, error) {
	var squares float64
	for _, f := range vector {
		squares += float64(f) * float64(f)
	}
	length := math.Sqrt(squares)
	if len(vector) == 0 || length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, errors.New("the embedder returned a vector of zeros or of no numbers")
	}
	unit := make([]float32, len(vector))
	for i, f := range vector {
		unit[i] = float32(float64(f) / length)
	}
	return unit, nil
}
