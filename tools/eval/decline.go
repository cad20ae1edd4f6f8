package main

import (
	"context"
	"fmt"

	"lifehub/rag"
	"lifehub/rag/encoder"
)

// decline prints, for each bench, how many of the answerable questions are declined, and how many of the
// same questions with the answering notes hidden; and of how many the first line names what no note has. At most
// 3 % of the answerable ones may be declined.
func decline(ctx context.Context, dir string, names []string) error {
	if len(names) == 0 {
		names = append(chosen(nil), "xquad-zh on xquad-en", "xquad-en on xquad-zh")
	}
	var missed misses
	printHead("bench", "questions", "answerable declined", "hidden declined", "hidden, closest in meaning",
		"answerable, lack named", "hidden, lack named")
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
		wrong := shareOf(answerable, figures.declined)
		printRow(name, len(answerable), wrong, shareOf(hidden, figures.declined),
			shareOf(hidden, func(f figures) bool { return f.SemanticOnly }),
			shareOf(answerable, figures.lacks), shareOf(hidden, figures.lacks))
		if wrong > 0.03 {
			missed.add("%s: %v of the questions that the notes answer are declined", name, wrong)
		}
	}
	return missed.err()
}

func (f figures) declined() bool { return f.Verdict <= rag.Close }
func (f figures) lacks() bool    { return f.Lacking }

func shareOf(all []figures, holds func(figures) bool) (share percent) {
	for _, f := range all {
		if holds(f) {
			share += percent(1 / float64(len(all)))
		}
	}
	return share
}
