package eval

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lifehub/internal/benches"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag"
)

// references maps each bench to the row of bench/bm25.json that keyword search must
// reach.
var references = map[string]string{
	"bfcl-memory": "porter", "mtrag-un-pool": "porter", "product-docs-qa": "porter", "qmd-mini": "porter", "scifact": "porter",
	"til-titles": "porter", "tldr-desc-en": "porter", "xquad-de2en": "porter", "xquad-en": "porter", "xquad-zh": "cjk2",
}

// quick are the benches that a plain test run covers.
var quick = []string{"bfcl-memory", "qmd-mini", "product-docs-qa", "xquad-zh"}

// all are the benches of `make eval`.
var all = append(quick, "xquad-en", "xquad-de2en", "mtrag-un-pool", "til-titles", "tldr-desc-en", "scifact")

// TestWordsReachBM25: keyword search finds as much as the plain BM25 of the reference
// script, within its standard error.
func TestWordsReachBM25(t *testing.T) {
	t.Parallel()
	for _, name := range quick {
		t.Run(name, func(t *testing.T) {
			x, bench, ids := indexedOnce(t, name)
			if len(bench.Questions) > 300 && os.Getenv("LIFEHUB_EVAL") == "" {
				bench = bench.Share(3)
			}
			figures, err := run(t.Context(), bench, x, ids, rag.Both)
			if err != nil {
				t.Fatal(err)
			}
			mean, reference := Mean(figures), reference(t, name)
			t.Logf("nDCG@10 %.4f, recall@10 %.4f; the reference has %.4f and %.4f", mean.NDCG, mean.Recall, reference.NDCG, reference.Recall)
			if least := reference.NDCG - standardError(figures); mean.NDCG < least {
				t.Errorf("nDCG@10 is %.4f, want at least %.4f", mean.NDCG, least)
			}
			if name == "xquad-zh" && (mean.Recall < 0.9 || mean.NDCG < 0.93) {
				t.Errorf("Chinese questions: nDCG@10 %.4f, recall@10 %.4f; want 0.93 and 0.9", mean.NDCG, mean.Recall)
			}
		})
	}
}

func chosen() []string {
	if names := os.Getenv("LIFEHUB_BENCHES"); names != "" {
		return strings.Fields(names)
	}
	return all
}

// once caches the indexes of benches that several tests search and none changes.
var once = struct {
	sync.Mutex
	dir     string
	indexes map[string]func() (indexedBench, error)
}{indexes: map[string]func() (indexedBench, error){}}

type indexedBench struct {
	x     *rag.Index
	bench benches.Bench
	ids   map[string]string
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "benches")
	if err != nil {
		panic(err)
	}
	once.dir = dir
	code := m.Run()
	os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	os.Exit(code)
}

// indexedOnce indexes a bench by keywords, for all tests of the run.
func indexedOnce(t *testing.T, name string) (*rag.Index, benches.Bench, map[string]string) {
	t.Helper()
	source := testenv.Shared(t, "data/bench/"+name)
	once.Lock()
	if once.indexes[name] == nil {
		once.indexes[name] = sync.OnceValues(func() (indexedBench, error) { return indexBench(source, filepath.Join(once.dir, name)) })
	}
	indexOf := once.indexes[name]
	once.Unlock()
	b, err := indexOf()
	if err != nil {
		t.Fatal(err)
	}
	return b.x, b.bench, b.ids
}

func indexBench(source, dir string) (indexedBench, error) {
	bench, err := benches.Load(source)
	if err != nil {
		return indexedBench{}, err
	}
	vault := filepath.Join(dir, "notes")
	if err := os.MkdirAll(vault, 0o700); err != nil {
		return indexedBench{}, err
	}
	ids, err := bench.WriteNotes(vault)
	if err != nil {
		return indexedBench{}, err
	}
	folder, err := notes.Open(vault)
	if err != nil {
		return indexedBench{}, err
	}
	defer folder.Close() //nolint:errcheck // only read
	x, err := rag.Open(filepath.Join(dir, "index"), rag.Options{Vault: vault})
	if err != nil {
		return indexedBench{}, err
	}
	_, err = x.Sync(context.Background(), folder, nil, nil)
	return indexedBench{x, bench, ids}, err
}

// index writes a bench as notes and indexes it by keywords.
func index(t *testing.T, name string) (*rag.Index, *notes.Folder, benches.Bench, map[string]string) {
	t.Helper()
	bench, err := benches.Load(testenv.Shared(t, "data/bench/"+name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ids, err := bench.WriteNotes(dir)
	if err != nil {
		t.Fatal(err)
	}
	x, folder := indexed(t, dir, nil)
	return x, folder, bench, ids
}

// indexed opens a folder and indexes it; the index is open until the test ends.
func indexed(t *testing.T, dir string, embedder llm.Embedder) (*rag.Index, *notes.Folder) {
	t.Helper()
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := rag.Open(t.TempDir(), rag.Options{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		folder.Close() //nolint:errcheck // only read
	})
	if _, err := x.Sync(t.Context(), folder, embedder, nil); err != nil {
		t.Fatal(err)
	}
	return x, folder
}

func reference(t *testing.T, name string) Figures {
	t.Helper()
	raw, err := os.ReadFile(testenv.Shared(t, "data/bench/bm25.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string]struct{ NDCG10, Recall10, MRR10 float64 }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	row, ok := rows[name+"/"+references[name]]
	if !ok {
		t.Fatalf("bm25.json has no row for %s", name)
	}
	return Figures{NDCG: row.NDCG10, Recall: row.Recall10, MRR: row.MRR10}
}

func standardError(figures []Figures) float64 {
	mean, squares := Mean(figures).NDCG, 0.0
	for _, f := range figures {
		squares += (f.NDCG - mean) * (f.NDCG - mean)
	}
	n := float64(len(figures))
	return math.Sqrt(squares/(n-1)) / math.Sqrt(n)
}
