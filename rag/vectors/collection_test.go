package vectors_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/rag/vectors"
)

func TestBothStoresHoldTheSameCollection(t *testing.T) {
	server := testenv.StartChroma(t)
	shared, err := vectors.NewChroma(vectors.ChromaServer{URL: server.URL}, "vault")
	if err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]vectors.Store{"files": vectors.Local{Dir: t.TempDir()}, "Chroma": shared} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if state, err := store.State(ctx, "model"); err != nil || state == "" {
				t.Fatalf("before anything is put: state %q, %v", state, err)
			}
			c, err := store.Open("model")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // the test is over
			const n = 500
			keys, embeddings := make([]vectors.Key, n), make([][]float32, n)
			for i := range keys {
				sum := sha256.Sum256(fmt.Append(nil, i))
				keys[i] = vectors.KeyOf(sum[:])
				if embeddings[i], err = vectors.Normalise(random(i)); err != nil {
					t.Fatal(err)
				}
			}
			if missing, err := c.Missing(ctx, keys); err != nil || !slices.Equal(missing, keys) {
				t.Errorf("an empty collection misses %d of %d keys, %v", len(missing), n, err)
			}
			if found, err := c.Nearest(ctx, embeddings[0], 10); len(found) > 0 {
				t.Errorf("an empty collection finds %d, %v", len(found), err)
			}
			for start := 0; start < n; start += 100 {
				if err := c.Put(ctx, keys[start:start+100], embeddings[start:start+100]); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Put(ctx, keys[:10], embeddings[:10]); err != nil { // again, to check that nothing is duplicated
				t.Fatal(err)
			}
			before, err := store.State(ctx, "model")
			if err != nil {
				t.Fatal(err)
			}
			again, err := store.Open("model") // like another run of the program
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close() //nolint:errcheck // the test is over
			if count, dimension, err := again.Size(ctx); err != nil || count != n || dimension != 64 {
				t.Errorf("the collection has %d vectors of %d numbers, %v; want %d of 64", count, dimension, err, n)
			}
			strangers := []vectors.Key{{1}, {2, 15: 3}}
			if missing, err := again.Missing(ctx, slices.Concat(keys[:3], strangers, keys[3:])); err != nil ||
				!slices.Equal(missing, strangers) {
				t.Errorf("missing are %v, %v; want %v", missing, err, strangers)
			}
			question := embeddings[7]
			var truth []vectors.Match
			for i, v := range embeddings {
				cosine := float64(vectors.Dot(question, v))
				truth = append(truth, vectors.Match{Key: keys[i], Cosine: cosine})
			}
			slices.SortFunc(truth, func(a, b vectors.Match) int { return cmp.Compare(b.Cosine, a.Cosine) })
			found, err := again.Nearest(ctx, question, 20)
			if err != nil || len(found) != 20 {
				t.Fatalf("nearest finds %d, %v", len(found), err)
			}
			for i, f := range found {
				if diff := f.Cosine - truth[i].Cosine; diff > 1e-4 || diff < -1e-4 {
					t.Errorf("the %dth nearest has cosine %.4f, want %.4f", i, f.Cosine, truth[i].Cosine)
				}
			}
			some := slices.Concat(keys[100:450], strangers)
			among, err := again.Among(ctx, question, some, len(some))
			if err != nil || len(among) != 350 {
				t.Fatalf("of 350 keys and two strangers it compares %d, %v", len(among), err)
			}
			for _, f := range among {
				if want := float64(vectors.Dot(question, embeddings[slices.Index(keys,
					f.Key)])); f.Cosine-want > 1e-4 || want-f.Cosine > 1e-4 {
					t.Errorf("among some, %x has cosine %.4f, want %.4f", f.Key, f.Cosine, want)
				}
			}
			if found, err := again.Nearest(ctx, []float32{1, 0}, 10); err == nil {
				t.Errorf("a question of two numbers finds %d", len(found))
			}
			used := map[vectors.Key]bool{}
			for _, k := range keys[:300] {
				used[k] = true
			}
			if err := again.Forget(ctx, used); err != nil {
				t.Fatal(err)
			}
			if missing, err := again.Missing(ctx, keys); err != nil || !slices.Equal(missing, keys[300:]) {
				t.Errorf("after forgetting 200 of 500 it misses %d, %v", len(missing), err)
			}
			if err := again.Put(ctx, keys[300:], embeddings[300:]); err != nil {
				t.Fatal(err)
			}
			if after, err := store.State(ctx, "model"); err != nil || after == "" || before == "" {
				t.Errorf("state %q, then %q, %v", before, after, err)
			}
		})
	}
}

// random returns 64 numbers that depend only on the seed.
func random(seed int) []float32 {
	source := rand.New(rand.NewPCG(1, uint64(seed)))
	numbers := make([]float32, 64)
	for i := range numbers {
		numbers[i] = source.Float32() - 0.3 // so that the cosines are not around 0
	}
	return numbers
}
