package vectors

import (
	"crypto/sha256"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/llm"
)

// TestChromaFindsTheNearest measures how many of the true nearest neighbours among
// 20,000 vectors a Chroma server finds: for paragraphs of the shared notes embedded by
// the built-in n-grams, and for random vectors, the worst case for its graph. It takes
// five minutes and runs with LIFEHUB_SCALE=1.
func TestChromaFindsTheNearest(t *testing.T) {
	if os.Getenv("LIFEHUB_SCALE") == "" {
		t.Skip("LIFEHUB_SCALE=1 asks a Chroma server with 20,000 vectors")
	}
	const n, questions = 20_000, 200
	const batch, depth = 32, 100 // as in a sync, and in a search
	server := testenv.StartChroma(t)
	for name, c := range map[string]struct {
		vectors [][]float32
		least   float64 // share of the ten nearest
	}{
		"paragraphs": {paragraphVectors(t, n+questions), 0.99},
		"random":     {randomUnits(t, n+questions, 256), 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := NewChroma(ChromaServer{URL: server.URL}, t.Name())
			if err != nil {
				t.Fatal(err)
			}
			there, err := store.Open("model")
			if err != nil {
				t.Fatal(err)
			}
			defer there.Close() //nolint:errcheck // the test is over
			keys, asked := make([]Key, n), c.vectors[n:]
			for i := range keys {
				sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
				keys[i] = KeyOf(sum[:])
			}
			began := time.Now()
			for i := 0; i < n; i += batch {
				end := min(n, i+batch) // as in a sync
				if err := there.Put(t.Context(), keys[i:end], c.vectors[i:end]); err != nil {
					t.Fatalf("after %d vectors: %v", i, err)
				}
			}
			t.Logf("%d vectors of %d numbers written in %v", n, len(asked[0]), time.Since(began).Round(time.Second))
			ten, hundred := 0, 0
			var took []time.Duration
			for _, question := range asked {
				exact := TopK[Key]{Limit: depth}
				for i, k := range keys {
					exact.Offer(k, Dot(question, c.vectors[i]))
				}
				truth := exact.Sorted()
				began := time.Now()
				found, err := there.Nearest(t.Context(), question, depth)
				if err != nil {
					t.Fatal(err)
				}
				took = append(took, time.Since(began))
				// One as near as the tenth counts as found, since paragraphs repeat.
				for i, f := range found {
					if i < 10 && f.Cosine >= truth[9].Cosine-1e-4 {
						ten++
					}
					if f.Cosine >= truth[depth-1].Cosine-1e-4 {
						hundred++
					}
				}
			}
			slices.Sort(took)
			recall := float64(ten) / (10 * questions)
			t.Logf("of the 10 nearest %.1f %% found, of the %d nearest %.1f %%; a question takes %v, half of them",
				100*recall, depth,
				float64(hundred)/questions/depth*100, took[len(took)/2].Round(100*time.Microsecond))
			if recall < c.least {
				t.Errorf("of the 10 nearest %.3f were found, want %.2f", recall, c.least)
			}
		})
	}
}

// paragraphVectors embeds n paragraphs spread over the shared notes.
func paragraphVectors(t *testing.T, n int) [][]float32 {
	t.Helper()
	var texts []string
	err := filepath.WalkDir(testenv.Shared(t, "data/corpora"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		raw, err := os.ReadFile(name)
		for paragraph := range strings.SplitSeq(string(raw), "\n\n") {
			if len(paragraph) >= 40 {
				texts = append(texts, paragraph[:min(len(paragraph), 1000)])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	if len(texts) < n {
		t.Fatalf("the shared notes have %d paragraphs, want %d", len(texts), n)
	}
	embeddings, err := llm.Ngrams{}.Embed(t.Context(), texts[:n])
	if err != nil {
		t.Fatal(err)
	}
	return embeddings
}

func randomUnits(t *testing.T, n, dimension int) [][]float32 {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	embeddings := make([][]float32, n)
	for i := range embeddings {
		raw := make([]float32, dimension)
		for j := range raw {
			raw[j] = float32(random.NormFloat64())
		}
		unit, err := Normalise(raw)
		if err != nil {
			t.Fatal(err)
		}
		embeddings[i] = unit
	}
	return embeddings
}
