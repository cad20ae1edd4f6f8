package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lifehub/rag"
	"lifehub/rag/encoder"
)

// meaning measures the built-in encoder: by cosine alone, against the figures of the table's own harness, and in
// the whole search, with questions in the language of the notes and in others.
func meaning(ctx context.Context, dir string, args []string) error {
	flags := flag.NewFlagSet("meaning", flag.ExitOnError)
	xquad := flags.String("xquad", "", "a folder with the files xquad.LANGUAGE.json of "+
		"github.com/google-deepmind/xquad; without it, only the questions written by hand are asked")
	flags.Parse(args) //nolint:errcheck // exits
	var missed misses
	head := func() { printHead("cosine alone", "questions", "first", "among five", "nDCG@10") }
	head()
	if err := cosineOfNotes(ctx, &missed); err != nil {
		return err
	}
	if err := searchLanguages(ctx, dir, &missed); err != nil {
		return err
	}
	if *xquad == "" {
		return missed.err()
	}
	english, err := readXQuAD(*xquad, "en")
	if err != nil {
		return err
	}
	languages := []string{"de", "es", "zh", "ru", "tr", "ar"}
	own := make([]bench, len(languages))
	for i, l := range languages {
		if own[i], err = readXQuAD(*xquad, l); err != nil {
			return err
		}
	}
	head()
	if err := cosineOfXQuAD(ctx, english, own, &missed); err != nil {
		return err
	}
	return searchXQuAD(ctx, dir, english, own, &missed)
}

// readXQuAD reads the paragraphs and questions of one language.
func readXQuAD(dir, language string) (bench, error) {
	b := bench{Name: language}
	raw, err := os.ReadFile(filepath.Join(dir, "xquad."+language+".json"))
	if err != nil {
		return b, err
	}
	var file struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				QAs     []struct{ ID, Question string }
			}
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return b, err
	}
	for _, article := range file.Data {
		for _, p := range article.Paragraphs {
			id := strconv.Itoa(len(b.Documents))
			b.Documents = append(b.Documents, document{ID: id, Text: p.Context})
			for _, q := range p.QAs {
				b.Questions = append(b.Questions, question{ID: q.ID, Text: q.Question, Relevant: map[string]int{id: 1}})
			}
		}
	}
	return b, nil
}

// cosines are the shares of questions whose document is first and among five by cosine alone, and nDCG@10.
type cosines struct{ first, five, ndcg float64 }

// byCosine ranks the documents of several texts each by the nearest of them.
func byCosine(ctx context.Context, questions []question, texts []document) (c cosines, err error) {
	embed := func(all []string) [][]float32 {
		vectors, failed := encoder.Encoder{}.Embed(ctx, all)
		if failed != nil {
			err = failed
		}
		return vectors
	}
	var all []string
	for _, d := range texts {
		all = append(all, d.Text)
	}
	for _, q := range questions {
		all = append(all, q.Text)
	}
	vectors := embed(all)
	if err != nil {
		return c, err
	}
	for i, q := range questions {
		best := map[string]float32{}
		for j, d := range texts {
			sum := float32(0)
			for k, x := range vectors[len(texts)+i] {
				sum += x * vectors[j][k]
			}
			if was, ok := best[d.ID]; !ok || sum > was {
				best[d.ID] = sum
			}
		}
		rank := -1
		for id := range best {
			for right := range q.Relevant {
				if best[id] >= best[right] {
					rank++
				}
			}
		}
		n := float64(len(questions))
		if rank == 0 {
			c.first += 1 / n
		}
		if rank < 5 {
			c.five += 1 / n
		}
		if rank < 10 {
			c.ndcg += 1 / math.Log2(float64(rank+2)) / n
		}
	}
	return c, nil
}

var (
	firstHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	blankLines   = regexp.MustCompile(`\n\s*\n`)
)

// cosineOfNotes asks for the sample notes, each as a whole and in paragraphs below its name.
func cosineOfNotes(ctx context.Context, missed *misses) error {
	notes := filepath.Join(root, "examples", "notes")
	var texts []document
	err := filepath.WalkDir(notes, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		id, err := filepath.Rel(notes, path)
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		if heading := firstHeading.FindStringSubmatch(string(raw)); heading != nil {
			name += " " + heading[1]
		}
		texts = append(texts, document{ID: id, Text: name + "\n" + string(raw)})
		for _, part := range blankLines.Split(string(raw), -1) {
			if len([]rune(part)) > 30 {
				texts = append(texts, document{ID: id, Text: name + "\n" + part})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, set := range []struct {
		name        string
		first, five float64
	}{{"other-words", 0.61, 0.91}, {"compounds", 0.73, 0.94}} {
		raw, err := os.ReadFile(filepath.Join("testdata", set.name+".json"))
		if err != nil {
			return err
		}
		var asked struct{ Answered map[string][]string }
		if err := json.Unmarshal(raw, &asked); err != nil {
			return err
		}
		var questions []question
		for id, all := range asked.Answered {
			for _, q := range all {
				questions = append(questions, question{Text: q, Relevant: map[string]int{id: 1}})
			}
		}
		c, err := byCosine(ctx, questions, texts)
		if err != nil {
			return err
		}
		printRow("sample notes, "+set.name, len(questions), c.first, c.five, c.ndcg)
		missed.unlike(set.name+", first", c.first, set.first)
		missed.unlike(set.name+", among five", c.five, set.five)
	}
	return nil
}

// unlike reports a figure that differs from the reference by more than 0.01, apart from its rounding.
func (m *misses) unlike(name string, got, want float64) {
	if math.Abs(got-want) > 0.01+0.005 {
		m.add("%s: %.4f, the reference has %v", name, got, want)
	}
}

func cosineOfXQuAD(ctx context.Context, english bench, own []bench, missed *misses) error {
	ask := func(name string, questions []question, documents []document) (float64, error) {
		c, err := byCosine(ctx, questions, documents)
		printRow(name, len(questions), c.first, c.five, c.ndcg)
		return c.ndcg, err
	}
	same, err := ask("XQuAD en", english.Questions, english.Documents)
	if err != nil {
		return err
	}
	missed.unlike("XQuAD en", same, 0.858)
	reference := map[string]float64{"de": 0.775, "es": 0.785, "zh": 0.765, "ru": 0.711, "tr": 0.721, "ar": 0.630}
	meanOfSame := 0.0
	for _, b := range own {
		crossed, err := ask("XQuAD "+b.Name+" → en", b.Questions, english.Documents)
		if err != nil {
			return err
		}
		missed.unlike("XQuAD "+b.Name+" → en", crossed, reference[b.Name])
		if same, err = ask("XQuAD "+b.Name, b.Questions, b.Documents); err != nil {
			return err
		}
		meanOfSame += same / float64(len(own))
	}
	missed.unlike("XQuAD in one language, mean", meanOfSame, 0.791)
	return nil
}

func searchXQuAD(ctx context.Context, dir string, english bench, own []bench, missed *misses) error {
	printHead("whole search", "questions", "keywords only", "with the encoder", "difference")
	least := map[string]float64{"de": 0.80, "es": 0.80, "zh": 0.77}
	for _, notes := range append([]bench{english}, own...) {
		path := filepath.Join(dir, "xquad-"+notes.Name)
		v, err := notes.open(ctx, path, dir)
		if err != nil {
			return err
		}
		asking := []bench{notes}
		if notes.Name == "en" {
			asking = slices.Concat(asking, own)
		}
		for _, v.bench = range asking {
			words, err := v.ask(ctx, rag.KeywordsAlone, false)
			if err != nil {
				return err
			}
			both, err := v.ask(ctx, rag.Both, false)
			if err != nil {
				return err
			}
			name, d := v.bench.Name+" → "+notes.Name, compare(words, both)
			printRow("XQuAD "+name, len(both), mean(words).NDCG, mean(both).NDCG, d)
			if notes.Name == v.bench.Name && d.Mean < 0 {
				missed.add("XQuAD %s: %v against keywords alone", name, d)
			}
			if want := least[v.bench.Name]; notes.Name == "en" && mean(both).NDCG < want {
				missed.add("XQuAD %s: %.4f, want at least %v", name, mean(both).NDCG, want)
			}
		}
		v.close()
	}
	fmt.Println()
	return nil
}

// searchLanguages asks questions that share no content word with the note that answers them, of twelve notes in
// each of six languages, in each of these languages.
func searchLanguages(ctx context.Context, dir string, missed *misses) error {
	raw, err := os.ReadFile(filepath.Join("testdata", "languages.json"))
	if err != nil {
		return err
	}
	var topics map[string]map[string][2]string // note and question by language
	if err := json.Unmarshal(raw, &topics); err != nil {
		return err
	}
	languages := []string{"en", "de", "fr", "es", "it", "zh"}
	printHead(append([]string{"notes in, among three"}, languages...)...)
	same, crossed, n := 0.0, 0.0, float64(len(topics)*len(languages))
	for _, in := range languages {
		b := bench{Name: in}
		for name, topic := range topics {
			b.Documents = append(b.Documents, document{ID: name, Text: topic[in][0]})
		}
		slices.SortFunc(b.Documents, func(a, b document) int { return strings.Compare(a.ID, b.ID) })
		path := filepath.Join(dir, "languages-"+in)
		v, err := b.open(ctx, path, dir)
		if err != nil {
			return err
		}
		row := []any{in}
		for _, by := range languages {
			found := 0
			for name, topic := range topics {
				got, err := v.index.Search(ctx, rag.Query{Text: topic[by][1]})
				if err != nil {
					return err
				}
				if ranked := v.ranked(got); slices.Contains(ranked[:min(3, len(ranked))], name) {
					found++
				}
			}
			row = append(row, found)
			if in == by {
				same += float64(found) / n
			} else {
				crossed += float64(found) / n / float64(len(languages)-1)
			}
		}
		printRow(row...)
		v.close()
	}
	fmt.Printf("\nin one language %.3f, crossed %.3f\n", same, crossed)
	if same < 0.75 || crossed < 0.70 {
		missed.add("questions without a shared word: %.3f in one language, %.3f crossed, want 0.75 and 0.70", same,
			crossed)
	}
	return nil
}

// open writes the documents of a bench as notes, and opens them with the built-in encoder.
func (b bench) open(ctx context.Context, path, dir string) (vault, error) {
	ids, err := b.writeNotes(path)
	if err != nil {
		return vault{}, err
	}
	v, err := openVault(ctx, path, dir, encoder.Encoder{})
	v.ids = ids
	return v, err
}
