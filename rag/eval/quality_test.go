package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lifehub/llm"
	"lifehub/rag"
)

// contender is an embedder that is measured against words alone.
type contender struct {
	name     string
	embedder llm.Embedder
}

// contenders are the embedders at hand, the strongest first; those named in
// LIFEHUB_EMBEDDERS where it is set.
func contenders(t *testing.T) []contender {
	named, some := os.LookupEnv("LIFEHUB_EMBEDDERS")
	var all []contender
	for _, c := range []struct {
		name string
		open func(*testing.T) llm.Embedder
	}{
		{"use-lite", func(t *testing.T) llm.Embedder { return keep(t, "use-lite", useLite(t)) }},
		{"m2v-static", func(t *testing.T) llm.Embedder { return keep(t, "m2v-static", staticModel(t)) }},
		{"n-grams", func(*testing.T) llm.Embedder { return llm.Ngrams{} }},
		{"random", func(*testing.T) llm.Embedder { return randomVectors{} }},
	} {
		if some && !slices.Contains(strings.Fields(named), c.name) {
			continue
		}
		all = append(all, contender{c.name, c.open(t)})
	}
	return all
}

// TestFigures prints what words, meaning and both together reach on every
// bench, and fails when both together lose. `make eval` runs it: it takes up
// to an hour, the second time a few minutes.
func TestFigures(t *testing.T) {
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make eval) prints the figures of all benches")
	}
	all := contenders(t)
	var dump *json.Encoder
	if path := os.Getenv("LIFEHUB_EVAL_SIGNALS"); path != "" {
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // written by the encoder
		dump = json.NewEncoder(file)
	}
	fmt.Println("| bench | n | side | nDCG@10 | R@10 | MRR | against words | 95 % | p |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---|---:|")
	pooled := map[string][2][]Figures{}
	differences := map[string][]Difference{}
	declining := ""
	for _, name := range chosen() {
		x, folder, bench, ids := index(t, name)
		run := func(side rag.Side) (with, without []Figures) {
			with, err := bench.Run(t.Context(), x, ids, side)
			if err != nil {
				t.Fatal(err)
			}
			if without, err = bench.RunWithout(t.Context(), x, ids, side); err != nil {
				t.Fatal(err)
			}
			return with, without
		}
		row := func(side string, f Figures, rest string) {
			fmt.Printf("| %s | %d | %s | %.4f | %.4f | %.4f | %s |\n", name, len(bench.Questions), side, f.NDCG, f.Recall, f.MRR, rest)
		}
		row("BM25 reference", reference(t, name), "| |")
		words, without := run(rag.WordsAlone)
		row("words", Mean(words), "| |")
		if least := reference(t, name).NDCG - standardError(words); Mean(words).NDCG < least {
			t.Errorf("%s: words alone reach nDCG@10 %.4f, want at least %.4f", name, Mean(words).NDCG, least)
		}
		decline := func(with string, kept, removed []Figures) {
			declining += declineRow(name, with, kept, removed)
			if dump != nil {
				if err := dump.Encode(map[string]any{"bench": name, "with": with, "kept": kept, "removed": removed}); err != nil {
					t.Error(err)
				}
			}
		}
		decline("words", words, without)
		for _, c := range all {
			if _, err := x.Sync(t.Context(), folder, c.embedder, nil); err != nil {
				t.Fatal(err)
			}
			alone, err := bench.Run(t.Context(), x, ids, rag.MeaningAlone)
			if err != nil {
				t.Fatal(err)
			}
			fused, without := run(rag.Both)
			d := Compare(words, fused)
			pooled[c.name] = [2][]Figures{append(pooled[c.name][0], words...), append(pooled[c.name][1], fused...)}
			differences[c.name] = append(differences[c.name], d)
			row(c.name+" alone", Mean(alone), "| |")
			row("words + "+c.name, Mean(fused), fmt.Sprintf("%+.4f | %+.4f to %+.4f | %.4f", d.Mean, d.Low, d.High, d.P))
			decline(c.name, fused, without)
		}
	}
	for _, c := range all {
		d := Compare(pooled[c.name][0], pooled[c.name][1])
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
	fmt.Printf("\n%s", declineHead+declining)
}

const declineHead = "| bench | with | AUC | best single signal | answered at the default | declined there | declined at 99 % answered | 95 % | 90 % | 80 % |\n" +
	"|---|---|---:|---|---:|---:|---:|---:|---:|---:|\n"

// declineRow says how questions that the notes answer and the same questions
// without those notes come apart.
func declineRow(bench, with string, kept, removed []Figures) string {
	score := func(of func(rag.Signals, float64) float64, all []Figures) (scores []float64) {
		for _, f := range all {
			scores = append(scores, of(f.Signals, f.Answerable))
		}
		return scores
	}
	own := func(_ rag.Signals, answerable float64) float64 { return answerable }
	answerable, unanswerable := score(own, kept), score(own, removed)
	best, bestName := 0.0, ""
	for _, s := range singleSignals {
		of := func(g rag.Signals, _ float64) float64 { return s.of(g) }
		if auc := Apart(score(of, kept), score(of, removed)); auc > best {
			best, bestName = auc, s.name
		}
	}
	row := fmt.Sprintf("| %s | %s | %.3f | %.3f %s | %.1f %% | %.1f %% |", bench, with, Apart(answerable, unanswerable), best, bestName,
		100-100*Declined(answerable, rag.LikelyAnswerable), 100*Declined(unanswerable, rag.LikelyAnswerable))
	for _, share := range []float64{0.99, 0.95, 0.9, 0.8} {
		row += fmt.Sprintf(" %.1f %% |", 100*Declined(unanswerable, ThresholdFor(answerable, share)))
	}
	return row + "\n"
}

var singleSignals = []struct {
	name string
	of   func(rag.Signals) float64
}{
	{"reach", func(g rag.Signals) float64 { return g.Reach }},
	{"covered", func(g rag.Signals) float64 { return g.Covered }},
	{"apart", func(g rag.Signals) float64 { return g.Apart }},
	{"pairs", func(g rag.Signals) float64 { return g.Pairs }},
	{"strength", func(g rag.Signals) float64 { return g.Strength }},
	{"near", func(g rag.Signals) float64 { return g.Near }},
	{"agree", func(g rag.Signals) float64 { return g.Agree }},
}
