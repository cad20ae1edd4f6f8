package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/rag"
	"lifehub/rag/encoder"
	"lifehub/rag/words"
)

// silent asks questions, written by hand, that share no content word with the note that answers them. With
// the built-in encoder the search finds as many as by cosine alone.
func silent(ctx context.Context, dir string) error {
	var missed misses
	printHead("notes", "questions", "first", "among five", "among five, cosine alone")
	for _, b := range []struct {
		name, notes, questions string
		first, five            float64
	}{
		{"starter notes", "examples/notes", "other-words.json", 0.56, 0.88},
		{"house", "agent/tools/testdata/offline/house", "house-words.json", 0.60, 0.88},
	} {
		v, err := openVault(ctx, filepath.Join(root, filepath.FromSlash(b.notes)), dir, encoder.Encoder{})
		if err != nil {
			return err
		}
		defer v.close()
		if err := v.readSilent(ctx, filepath.Join("testdata", b.questions), &missed); err != nil {
			return err
		}
		first, five, err := v.recalls(ctx, rag.Both, &missed)
		if err != nil {
			return err
		}
		_, alone, err := v.recalls(ctx, rag.SemanticAlone, &missed)
		if err != nil {
			return err
		}
		printRow(b.name, len(v.bench.Questions), first, five, alone)
		if first < b.first || five < max(b.five, alone) {
			missed.add("%s: %.3f first, %.3f among five, want %v, %v and no less than cosine alone", b.name,
				first, five, b.first, b.five)
		}
	}
	return missed.err()
}

// readSilent reads the questions of a file, by note. None may have a content word of any note.
func (v *vault) readSilent(ctx context.Context, file string, missed *misses) error {
	entries, _, err := v.folder.List(ctx)
	if err != nil {
		return err
	}
	v.ids = map[string]string{}
	vocabulary := map[string]bool{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(v.folder.Dir(), filepath.FromSlash(e.Path)))
		if err != nil {
			return err
		}
		v.ids[e.Path] = e.Path
		for _, term := range words.Terms(strings.NewReplacer("/", " ", ".md", "").Replace(e.Path)+"\n"+string(raw),
			"") {
			vocabulary[term.Text] = true
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var asked struct{ Answered map[string][]string }
	if err := json.Unmarshal(raw, &asked); err != nil {
		return err
	}
	for _, e := range entries {
		for _, asking := range asked.Answered[e.Path] {
			v.bench.Questions = append(v.bench.Questions, question{Text: asking, Relevant: map[string]int{e.Path: 1}})
			if slices.ContainsFunc(words.Terms(asking, ""), func(term words.Term) bool {
				return vocabulary[term.Text] && !text.StopWord(strings.ToLower(asking[term.Start:term.End]), "")
			}) {
				missed.add("a word of %q is in the notes", asking)
			}
		}
	}
	return nil
}

// recalls asks all questions, and returns how many find their note first, and among the
// first five.
func (v vault) recalls(ctx context.Context, side rag.Side, missed *misses) (first, five float64, err error) {
	n := float64(len(v.bench.Questions))
	for _, q := range v.bench.Questions {
		found, err := v.index.Search(ctx, rag.Query{Text: q.Text, Side: side})
		if err != nil {
			return 0, 0, err
		}
		for i, id := range v.ranked(found) {
			if q.Relevant[id] == 0 {
				continue
			}
			if five += 1 / n; i == 0 {
				first += 1 / n
			}
			if i == 0 && side == rag.Both && found.Declined() {
				missed.add("%q has its note first and is declined", q.Text)
			}
		}
	}
	return first, five, nil
}
