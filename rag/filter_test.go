package rag

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/internal/when"
	"lifehub/rag/vectors"
)

// directionEmbedder embeds a text as the direction given by the number in it.
type directionEmbedder struct{}

func (directionEmbedder) Name() string { return "directions" }

func (directionEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	embeddings := make([][]float32, len(texts))
	for i, text := range texts {
		number := 0
		//nolint:errcheck // 0: a question of its own
		fmt.Sscan(text[strings.LastIndex(text, "number")+len("number"):], &number)
		embeddings[i] = direction(number)
	}
	return embeddings, nil
}

func direction(number int) []float32 {
	random := rand.New(rand.NewPCG(7, uint64(number)))
	vector := make([]float32, 24)
	for i := range vector {
		vector[i] = float32(random.NormFloat64())
	}
	unit, err := vectors.Normalise(vector)
	if err != nil {
		panic(err)
	}
	return unit
}

// However many notes a filter keeps, near to the question or not, the search finds the
// nearest of them, like an exhaustive search.
func TestFilteredSearchFindsTheNearest(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const notes, near = 1500, 225
	question := direction(notes + 1)
	type note struct {
		path, tags string
		cosine     float64
	}
	all := make([]note, notes)
	for i := range all {
		all[i] = note{fmt.Sprintf("f%d/n%04d.md", i%100, i), "", float64(vectors.Dot(question, direction(i)))}
	}
	slices.SortFunc(all, func(a, b note) int { return cmp.Compare(b.cosine, a.cosine) })
	files := map[string]string{}
	for place := range all {
		n := &all[place]
		var i int
		fmt.Sscanf(n.path[strings.Index(n.path, "/n"):], "/n%d", &i) //nolint:errcheck // its own path
		for tag, has := range map[string]bool{
			"one/in150": i%150 == 0, "one": i%300 == 0, "in10": i%10 == 0, "most": i%20 > 2,
			"near": place < near, "far": place >= near,
		} {
			if has {
				n.tags += tag + ", "
			}
		}
		date := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		body := fmt.Sprintf("number %d", i)
		files[n.path] = fmt.Sprintf("---\ntags: [%s]\ndate: %s\n---\n%s\n", n.tags, date.Format(time.DateOnly), body)
		if i%300 == 0 { // the same text in an untagged note that was indexed before
			files["a/"+n.path[strings.Index(n.path, "/")+1:]] = body + "\n"
		}
	}
	folder, x := vault(t, files)
	syncNow(t, x, folder, directionEmbedder{})
	tagged := func(tag string) func(note) bool {
		return func(n note) bool { return strings.Contains(n.tags, tag+", ") || strings.Contains(n.tags, tag+"/") }
	}
	for name, c := range map[string]struct {
		query Query
		keeps func(note) bool
	}{
		"ten notes": {Query{Tags: []string{"one"}}, tagged("one")},
		"one note in a hundred": {
			Query{Paths: []string{"f7"}},
			func(n note) bool { return strings.HasPrefix(n.path, "f7/") },
		},
		"one note in ten":       {Query{Tags: []string{"in10"}}, tagged("in10")},
		"nearly all notes":      {Query{Tags: []string{"most"}}, tagged("most")},
		"nearly all, none near": {Query{Tags: []string{"far"}}, tagged("far")},
		"the nearest alone":     {Query{Tags: []string{"near"}}, tagged("near")},
		"all, in two folders and by days": {Query{
			Paths: []string{"f*"},
			After: when.DayOf(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)),
		}, func(note) bool { return true }},
		"all but one": {
			Query{Without: map[string][]string{x.options.Vault: {all[0].path}}, Tags: []string{"most"}},
			func(n note) bool { return tagged("most")(n) && n.path != all[0].path },
		},
		"two filters that exclude": {Query{Tags: []string{"near", "far"}}, func(note) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			query := c.query
			// all below the mean count the same
			query.Text, query.Limit, query.Side = fmt.Sprintf("number %d", notes+1), 5, SemanticAlone
			found, err := x.Search(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, p := range found.Passages {
				got = append(got, p.Path)
			}
			for _, n := range all {
				if c.keeps(n) && len(want) < query.Limit {
					want = append(want, n.path)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("found are\n%v, want\n%v", got, want)
			}
			query.Side, query.Text = KeywordsAlone, "number"
			found, err = x.Search(t.Context(), query)
			if err != nil || len(found.Passages) != min(query.Limit, len(want)) {
				t.Errorf("words find %d, %v; want %d", len(found.Passages), err, len(want))
			}
			for _, p := range found.Passages {
				if !slices.ContainsFunc(all, func(n note) bool { return n.path == p.Path && c.keeps(n) }) {
					t.Errorf("words find %s, which the filter does not keep", p.Path)
				}
			}
		})
	}
}
