package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/llm"
	"lifehub/rag"
	"lifehub/rag/encoder"
)

// contender is an embedder that is compared with keyword search.
type contender struct {
	name     string
	embedder llm.Embedder
}

// contenders returns the available embedders, the strongest first, or those named in
// LIFEHUB_EMBEDDERS if it is set.
func contenders(t *testing.T) []contender {
	named, some := os.LookupEnv("LIFEHUB_EMBEDDERS")
	var all []contender
	for _, c := range []struct {
		name string
		open func(*testing.T) llm.Embedder
	}{
		{"use-lite", func(t *testing.T) llm.Embedder { return keep(t, "use-lite", useLite(t)) }},
		{"m2v-static", func(t *testing.T) llm.Embedder { return keep(t, "m2v-static", staticModel(t)) }},
		{"built-in", func(*testing.T) llm.Embedder { return encoder.Encoder{} }},
		{"random", func(*testing.T) llm.Embedder { return randomVectors{} }},
	} {
		if some && !slices.Contains(strings.Fields(named), c.name) {
			continue
		}
		all = append(all, contender{c.name, c.open(t)})
	}
	return all
}

// sinceEarlier prints how the figures differ from those that an earlier run saved in
// the folder LIFEHUB_FIGURES, or saves them there.
func sinceEarlier(t *testing.T, name string, now []Figures) {
	t.Helper()
	dir := os.Getenv("LIFEHUB_FIGURES")
	if dir == "" {
		return
	}
	file := filepath.Join(dir, name+".json")
	var before []Figures
	if raw, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(raw, &before); err != nil || len(before) != len(now) {
			t.Fatalf("%s has %d figures of other questions: %v", file, len(before), err)
		}
		d := compared(before, now)
		fmt.Printf("%s since the saved run: %+.4f (%+.4f to %+.4f, p %.4f)\n", name, d.Mean, d.Low, d.High, d.P)
		return
	}
	raw, err := json.Marshal(now)
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFigures prints the figures of keyword, semantic and hybrid search on every bench,
// and fails if hybrid search loses. `make eval` runs it; it takes up to an hour, the
// second time a few minutes.
func TestFigures(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make eval) prints the figures of all benches")
	}
	all := contenders(t)
	fmt.Println("| bench | n | side | nDCG@10 | R@10 | MRR | against words | 95 % | p |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---|---:|")
	pooled := map[string][2][]Figures{}
	differences := map[string][]Difference{}
	for _, name := range chosen() {
		x, folder, bench, ids := index(t, name)
		run := func(side rag.Side) []Figures {
			figures, err := run(t.Context(), bench, x, ids, side)
			if err != nil {
				t.Fatal(err)
			}
			return figures
		}
		row := func(side string, f Figures, rest string) {
			fmt.Printf("| %s | %d | %s | %.4f | %.4f | %.4f | %s |\n", name, len(bench.Questions), side, f.NDCG, f.Recall, f.MRR, rest)
		}
		row("BM25 reference", reference(t, name), "| |")
		words := run(rag.KeywordsAlone)
		row("words", Mean(words), "| |")
		if least := reference(t, name).NDCG - standardError(words); Mean(words).NDCG < least {
			t.Errorf("%s: words alone reach nDCG@10 %.4f, want at least %.4f", name, Mean(words).NDCG, least)
		}
		for _, c := range all {
			if _, err := x.Sync(t.Context(), folder, c.embedder, nil); err != nil {
				t.Fatal(err)
			}
			alone, fused := run(rag.SemanticAlone), run(rag.Both)
			d := compared(words, fused)
			pooled[c.name] = [2][]Figures{append(pooled[c.name][0], words...), append(pooled[c.name][1], fused...)}
			differences[c.name] = append(differences[c.name], d)
			row(c.name+" alone", Mean(alone), "| |")
			row("words + "+c.name, Mean(fused), fmt.Sprintf("%+.4f | %+.4f to %+.4f | %.4f", d.Mean, d.Low, d.High, d.P))
			sinceEarlier(t, name+" "+c.name, fused)
		}
	}
	for _, c := range all {
		d := compared(pooled[c.name][0], pooled[c.name][1])
		wins, losses := 0, 0
		for i, significant := range Holm(differences[c.name]) {
			if significant && differences[c.name][i].Mean > 0 {
				wins++
			} else if significant {
				losses++
				t.Errorf("%s loses significantly: %+v", c.name, differences[c.name][i])
			}
		}
		fmt.Printf("\n%s, all questions together: %+.4f (%+.4f to %+.4f, p %.4f); after Holm's correction %d benches won, %d lost.\n",
			c.name, d.Mean, d.Low, d.High, d.P, wins, losses)
	}
}
