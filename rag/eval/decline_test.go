package eval

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/rag"
)

// TestDecline prints, for each bench, how many of the questions that the notes
// answer are declined, and how many of the same questions with those notes
// hidden; with words alone and with a sentence encoder. Questions in another
// language than the notes must not be declined at all.
func TestDecline(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make decline) asks the questions of all benches with and without their notes")
	}
	fmt.Println("| bench | with | AUC | most that a threshold can reach, answered at 95 % | balanced accuracy | answerable declined | unanswerable declined | of these, nothing close |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|")
	for _, name := range append(chosen(), "xquad-zh on xquad-en", "xquad-en on xquad-zh") {
		notes, other := name, ""
		if n, err := fmt.Sscanf(name, "%s on %s", &other, &notes); n < 2 || err != nil {
			notes, other = name, ""
		}
		x, folder, bench, ids := index(t, notes)
		if other != "" { // the same documents and questions in two languages
			asked, err := Load(testenv.Shared(t, "data/bench/"+other))
			if err != nil {
				t.Fatal(err)
			}
			bench.Questions = asked.Questions
		}
		row := func(with string) {
			answerable, err := bench.Run(t.Context(), x, ids, rag.Both)
			if err != nil {
				t.Fatal(err)
			}
			hidden, err := bench.RunWithout(t.Context(), x, ids, rag.Both)
			if err != nil {
				t.Fatal(err)
			}
			of := func(all []Figures) (scores []float64, declined, nothing float64) {
				for _, f := range all {
					scores = append(scores, f.Answerable)
					if f.Verdict <= rag.Close {
						declined += 1 / float64(len(all))
					}
					if f.Verdict == rag.NothingClose {
						nothing += 1 / float64(len(all))
					}
				}
				return scores, declined, nothing
			}
			a, wrong, _ := of(answerable)
			u, right, nothing := of(hidden)
			most := ThresholdFor(a, 0.95)
			fmt.Printf("| %s | %s | %.3f | %.3f | %.3f | %.1f %% | %.1f %% | %.1f %% |\n", name, with, Apart(a, u),
				(1+Declined(u, most)-Declined(a, most))/2, (1+right-wrong)/2, 100*wrong, 100*right, 100*nothing)
			if wrong > 0.03 {
				t.Errorf("%s, %s: %.3f of the questions that the notes answer are declined", name, with, wrong)
			}
		}
		row("words")
		for _, c := range contenders(t) {
			if _, err := x.Sync(t.Context(), folder, c.embedder, nil); err != nil {
				t.Fatal(err)
			}
			row(c.name)
		}
	}
}

// Apart is how well a score tells questions that the notes answer from those
// that they don't: the chance that it is higher for one of the first than for
// one of the second (AUC). 0.5 is a coin.
func Apart(answerable, unanswerable []float64) float64 {
	if len(answerable) == 0 || len(unanswerable) == 0 {
		return 0.5
	}
	sorted := slices.Sorted(slices.Values(unanswerable))
	sum := 0.0
	for _, score := range answerable {
		below, _ := slices.BinarySearch(sorted, score)
		upTo, _ := slices.BinarySearchFunc(sorted, score, func(a, b float64) int {
			return cmp.Or(cmp.Compare(a, b), -1)
		})
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(answerable)*len(unanswerable))
}

// Declined is the share of scores below a threshold: of questions that would
// be declined there.
func Declined(scores []float64, threshold float64) float64 {
	below := 0
	for _, score := range scores {
		if score < threshold {
			below++
		}
	}
	return float64(below) / float64(max(1, len(scores)))
}

// ThresholdFor is the highest threshold at which the given share of the
// answerable questions is still answered.
func ThresholdFor(answerable []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(answerable))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int((1-share)*float64(len(sorted))+1e-9))]
}
