package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"lifehub/llm"
	"lifehub/llm/servers"
	"lifehub/rag"
	"lifehub/rag/encoder"
)

// search prints the figures of keyword, semantic and hybrid search. Keyword search must find as much as the
// plain BM25 of the reference script, within its standard error, and hybrid search must not lose to it.
func search(ctx context.Context, dir string, args []string) error {
	flags := flag.NewFlagSet("search", flag.ExitOnError)
	save := flags.String("figures", "", "save the figures of each question in this folder, or compare with those there")
	random := flags.Bool("random", false, "random vectors instead of the built-in encoder, as of a broken embedder")
	url := flags.String("url", "", "an OpenAI-compatible server whose embeddings to use instead of the built-in encoder")
	model := flags.String("model", "", "the embedding model on that server")
	flags.Parse(args) //nolint:errcheck // exits
	embedder, name := llm.Embedder(encoder.Encoder{}), "built-in"
	switch {
	case *random:
		embedder, name = randomVectors{}, "random"
	case *url != "":
		provider, err := servers.Open(llm.Settings{
			Provider: "openai", OpenAIURL: *url,
			Model: *model, Embedding: *model,
		})
		if err != nil {
			return err
		}
		defer provider.Close() //nolint:errcheck // nothing to lose
		if embedder, err = provider.Embedder(ctx); err != nil {
			return err
		}
		name = *model
	}
	var missed misses
	var keywords, hybrid []figures
	var differences []difference
	printHead("bench", "questions", "side", "nDCG@10", "R@10", "MRR", "against words")
	for _, bench := range chosen(flags.Args()) {
		v, err := openBench(ctx, bench, dir)
		if err != nil {
			return err
		}
		row := func(side string, f figures, rest any) {
			printRow(bench, len(v.bench.Questions), side, f.NDCG, f.Recall, f.MRR, rest)
		}
		words, err := v.ask(ctx, rag.KeywordsAlone, false)
		if err != nil {
			return err
		}
		reference, err := referenceOf(bench)
		if err != nil {
			return err
		}
		row("BM25 reference", reference, "")
		row("words", mean(words), "")
		if least := reference.NDCG - standardError(words); mean(words).NDCG < least {
			missed.add("%s: words alone reach nDCG@10 %.4f, want at least %.4f", bench, mean(words).NDCG, least)
		}
		if err := v.embed(ctx, embedder); err != nil {
			return err
		}
		alone, err := v.ask(ctx, rag.SemanticAlone, false)
		if err != nil {
			return err
		}
		both, err := v.ask(ctx, rag.Both, false)
		if err != nil {
			return err
		}
		v.close()
		d := compare(words, both)
		row(name+" alone", mean(alone), "")
		row("words + "+name, mean(both), d)
		keywords, hybrid, differences = append(keywords, words...), append(hybrid, both...), append(differences, d)
		if err := sinceEarlier(*save, bench+" "+name, both); err != nil {
			return err
		}
	}
	won := 0
	for i, significant := range holm(differences) {
		switch {
		case significant && differences[i].Mean > 0:
			won++
		case significant:
			missed.add("%s loses significantly: %v", name, differences[i])
		}
	}
	fmt.Printf("\n%s, all questions together: %v; after Holm's correction %d benches won, %d missed a bound.\n", name,
		compare(keywords, hybrid), won, len(missed.all))
	return missed.err()
}

func referenceOf(bench string) (figures, error) {
	path, err := shared("data/bench/bm25.json")
	if err != nil {
		return figures{}, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return figures{}, err
	}
	var rows map[string]struct{ NDCG10, Recall10, MRR10 float64 }
	if err := json.Unmarshal(raw, &rows); err != nil {
		return figures{}, err
	}
	for _, b := range allBenches {
		if row, ok := rows[bench+"/"+b.reference]; ok && b.name == bench {
			return figures{NDCG: row.NDCG10, Recall: row.Recall10, MRR: row.MRR10}, nil
		}
	}
	return figures{}, fmt.Errorf("bm25.json has no row for %s", bench)
}

// sinceEarlier prints how the figures differ from those that an earlier run saved in a folder, or saves
// them there.
func sinceEarlier(dir, name string, now []figures) error {
	if dir == "" {
		return nil
	}
	file := filepath.Join(dir, name+".json")
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if raw, err = json.Marshal(now); err != nil {
			return err
		}
		return os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		return err
	}
	var before []figures
	if err := json.Unmarshal(raw, &before); err != nil {
		return err
	}
	if len(before) != len(now) {
		return fmt.Errorf("%s has %d figures of other questions", file, len(before))
	}
	fmt.Printf("%s since the saved run: %v\n", name, compare(before, now))
	return nil
}

// randomVectors is an embedder without any understanding.
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
