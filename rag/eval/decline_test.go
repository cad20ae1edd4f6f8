package eval

import (
	"fmt"
	"os"
	"testing"

	"lifehub/internal/benches"
	"lifehub/internal/testenv"
	"lifehub/rag"
)

// TestDecline prints, for each bench, how many of the answerable questions are
// declined, and how many of the same questions with the answering notes hidden, by
// keywords alone and with a sentence encoder. Questions in another language than the
// notes must never be declined.
func TestDecline(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make decline) asks the questions of all benches with and without their notes")
	}
	fmt.Println("| bench | with | answerable declined | hidden declined | hidden, nothing close | hidden, closest in meaning |")
	fmt.Println("|---|---|---:|---:|---:|---:|")
	for _, name := range append(chosen(), "xquad-zh on xquad-en", "xquad-en on xquad-zh") {
		notes, other := name, ""
		if n, err := fmt.Sscanf(name, "%s on %s", &other, &notes); n < 2 || err != nil {
			notes, other = name, ""
		}
		x, folder, bench, ids := index(t, notes)
		if other != "" { // the same documents and questions in two languages
			asked, err := benches.Load(testenv.Shared(t, "data/bench/"+other))
			if err != nil {
				t.Fatal(err)
			}
			bench.Questions = asked.Questions
		}
		row := func(with string) {
			answerable, err := run(t.Context(), bench, x, ids, rag.Both)
			if err != nil {
				t.Fatal(err)
			}
			hidden, err := runWithout(t.Context(), bench, x, ids, rag.Both)
			if err != nil {
				t.Fatal(err)
			}
			share := func(all []Figures, of func(Figures) bool) (share float64) {
				for _, f := range all {
					if of(f) {
						share += 1 / float64(len(all))
					}
				}
				return share
			}
			declined := func(f Figures) bool { return f.Verdict <= rag.Close }
			wrong := share(answerable, declined)
			fmt.Printf("| %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", name, with, 100*wrong, 100*share(hidden, declined),
				100*share(hidden, func(f Figures) bool { return f.Verdict == rag.NothingClose }), 100*share(hidden, func(f Figures) bool { return f.SemanticOnly }))
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
