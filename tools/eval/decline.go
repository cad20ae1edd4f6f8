package main

import (
	"context"
	"fmt"

	"lifehub/rag"
	"lifehub/rag/encoder"
)

// decline prints, for each bench, how many of the answerable questions are declined, and how many of the
// same questions with the answering notes hidden. At most 3 % of the answerable ones may be.
func decline(ctx context.Context, dir string, names []string) error {
	if len(names) == 0 {
		names = append(chosen(nil), "xquad-zh on xquad-en", "xquad-en on xquad-zh")
	}
	var missed misses
	printHead("bench", "questions", "answerable declined", "hidden declined", "hidden, closest in meaning")
	for _, name := range names {
		notes, other := name, ""
		if n, err := fmt.Sscanf(name, "%s on %s", &other, &notes); n < 2 || err != nil {
			notes, other = name, ""
		}
		v, err := openBench(ctx, notes, dir)
		if err != nil {
			return err
		}
		if other != "" { // the same documents and questions in two languages
			asked, err := loadBench(other)
			if err != nil {
				return err
			}
			v.bench.Questions = asked.Questions
		}
		if err := v.embed(ctx, encoder.Encoder{}); err != nil {
			return err
		}
		answerable, err := v.ask(ctx, rag.Both, false)
		if err != nil {
			return err
		}
		hidden, err := v.ask(ctx, rag.Both, true)
		if err != nil {
			return err
		}
		v.close()
		wrong, nearest := shareDeclined(answerable), percent(0)
		for _, f := range hidden {
			if f.SemanticOnly {
				nearest += percent(1 / float64(len(hidden)))
			}
		}
		printRow(name, len(answerable), wrong, shareDeclined(hidden), nearest)
		if wrong > 0.03 {
			missed.add("%s: %v of the questions that the notes answer are declined", name, wrong)
		}
	}
	return missed.err()
}

func shareDeclined(all []figures) (share percent) {
	for _, f := range all {
		if f.Verdict <= rag.Close {
			share += percent(1 / float64(len(all)))
		}
	}
	return share
}
