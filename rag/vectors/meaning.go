package vectors

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/philippgille/chromem-go"
)

// scanFrom is the number of vectors beyond which chromem-go's bookkeeping for
// each document costs more than the vectors themselves: a query then takes
// ten passes over the memory, a plain scan under three (docs/figures).
const scanFrom = 20_000

// localVectors is the collection on this machine: a file read into memory, and
// chromem-go over that memory.
type localVectors struct {
	file    *vectorFile
	chromem *chromem.Collection // nil: more than scanFrom vectors
	mu      sync.RWMutex        // searches read, put and forget write
}

// openLocal reads the vectors of a model from path.
func openLocal(path, model string) (*localVectors, error) {
	file, err := openVectors(path, model)
	if err != nil {
		return nil, err
	}
	m := &localVectors{file: file}
	if err := m.fill(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return m, nil
}

// fill puts the vectors into a chromem collection that holds nothing but ids
// and the memory the file was read into.
func (m *localVectors) fill() error {
	m.chromem = nil
	if len(m.file.rows) > scanFrom {
		return nil
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

func addDocument(c *chromem.Collection, k Key, vector []float32) error {
	document := chromem.Document{ID: hex.EncodeToString(k[:]), Embedding: vector}
	if err := c.AddDocument(context.Background(), document); err != nil {
		return fmt.Errorf("fill collection: %w", err)
	}
	return nil
}

// refuseToEmbed stands where chromem-go would otherwise ask a hosted service.
func refuseToEmbed(context.Context, string) ([]float32, error) {
	return nil, errors.New("the collection takes finished vectors only")
}

func (m *localVectors) Put(_ context.Context, keys []Key, embeddings [][]float32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file.dimension != 0 && len(embeddings) > 0 && m.file.dimension != len(embeddings[0]) {
		// The name stayed and the model did not: its old vectors mean nothing now.
		if err := m.file.reset(len(embeddings[0])); err != nil {
			return fmt.Errorf("begin vectors: %w", err)
		}
		if err := m.fill(); err != nil {
			return err
		}
	}
	if err := m.file.put(keys, embeddings); err != nil {
		return err
	}
	if m.chromem != nil && len(m.file.rows) > scanFrom {
		m.chromem = nil
	}
	if m.chromem == nil {
		return nil
	}
	for _, k := range keys {
		if err := addDocument(m.chromem, k, m.file.rows[m.file.at[k]].vector); err != nil {
			return err
		}
	}
	return nil
}

func (m *localVectors) Forget(_ context.Context, used map[Key]bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.file.rows)
	m.file.forget(used)
	if m.chromem == nil || len(m.file.rows) == before {
		return nil
	}
	return m.fill()
}

func (m *localVectors) Missing(_ context.Context, keys []Key) ([]Key, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var missing []Key
	for _, k := range keys {
		if !m.file.has(k) {
			missing = append(missing, k)
		}
	}
	return missing, nil
}

func (m *localVectors) Size(context.Context) (count, dimension int, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.file.rows), m.file.dimension, nil
}

func (m *localVectors) Fresh() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !m.file.changedOutside()
}

func (m *localVectors) Flush() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.file.Flush()
}

func (m *localVectors) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.chromem = nil
	return m.file.Close()
}

func (m *localVectors) Nearest(ctx context.Context, vector []float32, limit int) ([]Match, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.file.dimension == 0 { // nothing is embedded yet
		return nil, nil
	}
	if len(vector) != m.file.dimension {
		return nil, fmt.Errorf("the question's vector has %d numbers, the collection's %d", len(vector), m.file.dimension)
	}
	if m.chromem == nil {
		return m.scan(ctx, vector, limit)
	}
	limit = min(limit, m.chromem.Count()) // more is an error to chromem-go
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

// scan compares a question with every vector.
func (m *localVectors) scan(ctx context.Context, vector []float32, limit int) ([]Match, error) {
	top := TopK{Limit: limit}
	for i, r := range m.file.rows {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		top.Offer(r.key, Dot(vector, r.vector))
	}
	return top.Sorted(), nil
}

func (m *localVectors) Among(_ context.Context, vector []float32, keys []Key) ([]Match, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(vector) != m.file.dimension {
		return nil, nil
	}
	rows := make([]int, 0, len(keys))
	for _, k := range keys {
		if i, ok := m.file.at[k]; ok {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows) // as they are in memory
	found := make([]Match, len(rows))
	var comparing sync.WaitGroup
	share := max(fewRows, (len(rows)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for start := 0; start < len(rows); start += share {
		part := found[start:min(start+share, len(rows))]
		comparing.Go(func() {
			for i := range part {
				r := m.file.rows[rows[start+i]]
				part[i] = Match{r.key, float64(Dot(vector, r.vector))}
			}
		})
	}
	comparing.Wait()
	return found, nil
}

func (m *localVectors) Get(_ context.Context, keys []Key) (found [][]float32, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, k := range keys {
		if i, ok := m.file.at[k]; ok {
			found = append(found, slices.Clone(m.file.rows[i].vector))
		}
	}
	return found, nil
}

// Mean is the mean of vectors of one dimension, at length 1; nil: there is none.
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

// fewRows are compared in less time than another goroutine needs to begin.
const fewRows = 128

// SampleSize is how many vectors stand for the collection when the mean and
// the spread of its cosines are needed.
const SampleSize = 1000

func (m *localVectors) Spread(_ context.Context, vector []float32) (mean, deviation float64, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var sample Cosines
	for i := 0; i < len(m.file.rows); i += 1 + len(m.file.rows)/SampleSize {
		sample.Add(float64(Dot(vector, m.file.rows[i].vector)))
	}
	mean, deviation = sample.Spread()
	return mean, deviation, nil
}

// Cosines are added up for their mean and spread.
type Cosines struct {
	n            int
	sum, squares float64
}

func (c *Cosines) Add(cosine float64) {
	c.n++
	c.sum += cosine
	c.squares += cosine * cosine
}

func (c *Cosines) Spread() (mean, deviation float64) {
	if c.n < 2 {
		return 0, 0
	}
	mean = c.sum / float64(c.n)
	return mean, math.Sqrt(max(0, c.squares/float64(c.n)-mean*mean))
}

// TopK keeps the nearest of many.
type TopK struct {
	Limit int
	found []Match // unsorted below limit, then a min-heap by cosine
}

func (t *TopK) Offer(k Key, cosine float32) {
	c := float64(cosine)
	if len(t.found) < t.Limit {
		t.found = append(t.found, Match{k, c})
		if len(t.found) == t.Limit {
			for i := len(t.found)/2 - 1; i >= 0; i-- {
				t.sink(i)
			}
		}
		return
	}
	if t.Limit > 0 && c > t.found[0].Cosine {
		t.found[0] = Match{k, c}
		t.sink(0)
	}
}

func (t *TopK) sink(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(t.found) && t.found[child].Cosine < t.found[least].Cosine {
				least = child
			}
		}
		if least == i {
			return
		}
		t.found[i], t.found[least] = t.found[least], t.found[i]
		i = least
	}
}

func (t *TopK) Sorted() []Match {
	slices.SortFunc(t.found, func(a, b Match) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return t.found
}

// Dot is the inner product, eight lanes at a time: the compiler does not
// split the chain of additions on its own, and one chain waits for itself.
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

// Normalise returns the vector at length 1, or an error when it means
// nothing: empty, zero, not finite.
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
