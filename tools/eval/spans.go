package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lifehub/rag"
)

// frontier is the reference of bench/spans.txt for five passages: what plain chunkers
// of several sizes reach. A point is above it if its recall is greater than that of
// every row with at least its IoU.
var frontier = []struct{ recall, iou float64 }{
	{0.9604, 0.0313}, {0.8978, 0.0570}, {0.9722, 0.0365}, {0.9673, 0.0338}, {0.8741, 0.0601},
}

// spans measures chunker and search together: how much of the answering text is in the five best passages,
// and how much other text.
func spans(ctx context.Context, dir string) error {
	source, err := shared("data/bench/chunking-spans")
	if err != nil {
		return err
	}
	docs := filepath.Join(source, "docs")
	v, err := openVault(ctx, docs, dir, nil)
	if err != nil {
		return err
	}
	defer v.close()
	texts := map[string]string{}
	recall, iou, n := 0.0, 0.0, 0
	err = readLines(filepath.Join(source, "queries.jsonl"), func(line []byte) error {
		var question struct {
			Text, Doc string
			Spans     [][2]int // characters, not bytes
		}
		if err := json.Unmarshal(line, &question); err != nil {
			return err
		}
		found, err := v.index.Search(ctx, rag.Query{Text: question.Text, Limit: 5})
		if err != nil {
			return err
		}
		wanted := map[int]bool{}
		for _, span := range question.Spans {
			for i := span[0]; i < span[1]; i++ {
				wanted[i] = true
			}
		}
		got, elsewhere := map[int]bool{}, 0
		for _, p := range found.Passages {
			length := len([]rune(p.Text))
			if p.Path != question.Doc {
				elsewhere += length
				continue
			}
			if texts[p.Path] == "" {
				whole, err := os.ReadFile(filepath.Join(docs, p.Path))
				if err != nil {
					return err
				}
				texts[p.Path] = string(whole)
			}
			before, _, holds := strings.Cut(texts[p.Path], p.Text)
			if !holds {
				return fmt.Errorf("a passage of %s is not in it: %q", p.Path, p.Text)
			}
			start := len([]rune(before))
			for i := range length {
				got[start+i] = true
			}
		}
		both := 0
		for i := range wanted {
			if got[i] {
				both++
			}
		}
		recall += float64(both) / float64(len(wanted))
		iou += float64(both) / float64(len(wanted)+len(got)-both+elsewhere)
		n++
		return nil
	})
	if err != nil {
		return err
	}
	recall, iou = recall/float64(n), iou/float64(n)
	printHead("bench", "questions", "recall", "IoU")
	printRow("chunking-spans", n, recall, iou)
	var missed misses
	for _, row := range frontier {
		if row.iou >= iou && row.recall >= recall {
			missed.add("recall %.4f at IoU %.4f is not above the reference's %.4f at %.4f", recall,
				iou, row.recall, row.iou)
		}
	}
	return missed.err()
}
