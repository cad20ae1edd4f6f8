package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag"
)

// allBenches are the benches with a reference, and the row of bench/bm25.json that keyword search must reach.
var allBenches = []struct{ name, reference string }{
	{"bfcl-memory", "porter"},
	{"qmd-mini", "porter"},
	{"product-docs-qa", "porter"},
	{"xquad-zh", "cjk2"},
	{"xquad-en", "porter"},
	{"xquad-de2en", "porter"},
	{"mtrag-un-pool", "porter"},
	{"til-titles", "porter"},
	{"tldr-desc-en", "porter"},
	{"scifact", "porter"},
}

// chosen returns the named benches, or all.
func chosen(names []string) []string {
	if len(names) > 0 {
		return names
	}
	for _, b := range allBenches {
		names = append(names, b.name)
	}
	return names
}

// vault is an indexed folder of notes.
type vault struct {
	index  *rag.Index
	folder *notes.Folder
	bench  bench
	ids    map[string]string // note → document of the bench
}

// openVault indexes a folder by keywords, and by meaning if there is an embedder.
func openVault(ctx context.Context, path, dir string, embedder llm.Embedder) (v vault, err error) {
	if v.folder, err = notes.Open(path); err != nil {
		return v, err
	}
	at, err := os.MkdirTemp(dir, "index")
	if err != nil {
		return v, err
	}
	if v.index, err = rag.Open(at, rag.Options{Vault: v.folder.Dir()}); err != nil {
		return v, err
	}
	return v, v.embed(ctx, embedder)
}

func (v vault) embed(ctx context.Context, embedder llm.Embedder) error {
	_, err := v.index.Sync(ctx, v.folder, embedder, nil)
	return err
}

func (v vault) close() {
	v.index.Close()  //nolint:errcheck // temporary
	v.folder.Close() //nolint:errcheck // only read
}

func loadBench(name string) (bench, error) {
	source, err := shared("data/bench/" + name)
	if err != nil {
		return bench{}, err
	}
	return readBench(source)
}

// openBench writes a bench as notes and indexes it by keywords.
func openBench(ctx context.Context, name, dir string) (vault, error) {
	bench, err := loadBench(name)
	if err != nil {
		return vault{}, err
	}
	path := filepath.Join(dir, "bench-"+name)
	ids, err := bench.writeNotes(path)
	if err != nil {
		return vault{}, err
	}
	v, err := openVault(ctx, path, dir, nil)
	v.bench, v.ids = bench, ids
	return v, err
}

// depth is the number of passages requested, so that ten different notes are among
// them.
const depth = 40

// ask asks every question of the bench, and returns the figures in order. If hidden, the notes that answer
// a question are left out of its search.
func (v vault) ask(ctx context.Context, side rag.Side, hidden bool) ([]figures, error) {
	paths := map[string]string{}
	for path, id := range v.ids {
		paths[id] = path
	}
	all := make([]figures, len(v.bench.Questions))
	for i, question := range v.bench.Questions {
		query := rag.Query{Text: question.Text, Limit: depth, Side: side}
		if question.Scope != "" {
			query.Paths = []string{question.Scope}
		}
		if hidden {
			query.Limit = 5
			var without []string
			for id := range question.Relevant {
				without = append(without, paths[id])
			}
			query.Without = map[string][]string{v.folder.Dir(): without}
		}
		found, err := v.index.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s, question %s: %w", v.bench.Name, question.ID, err)
		}
		all[i] = measureRanked(v.ranked(found), question.Relevant)
		all[i].Verdict, all[i].SemanticOnly = found.Verdict, found.SemanticOnly
		all[i].Lacking = !found.Missing.IsZero()
	}
	return all, nil
}

// ranked returns the documents of the passages found, each once.
func (v vault) ranked(found rag.Found) []string {
	var list []string
	seen := map[string]bool{}
	for _, p := range found.Passages {
		if id := v.ids[p.Path]; !seen[id] {
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}
