package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/benches"
	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/encoder"
)

// silentBench is a bench of questions that share no content word with its notes.
type silentBench struct {
	bench   benches.Bench
	dir     string
	ids     map[string]string
	foreign []benches.Question // questions that the notes don't answer
}

// silentBenches are the starter notes with questions in other words, written by hand,
// and three benches with synonyms from WordNet; unanswerable questions are taken from
// another bench.
func silentBenches(t *testing.T) []silentBench {
	t.Helper()
	all := []silentBench{handMade(t, "starter notes"), handMade(t, "house")}
	w := openWordNet(t)
	for _, pair := range [][2]string{{"qmd-mini", "bfcl-memory"}, {"bfcl-memory", "qmd-mini"}, {"product-docs-qa", "bfcl-memory"}, {"xquad-en", "mtrag-un-pool"}} {
		b := silentBench{dir: t.TempDir()}
		var err error
		if b.bench, err = benches.Load(testenv.Shared(t, "data/bench/"+pair[0])); err != nil {
			t.Fatal(err)
		}
		other, err := benches.Load(testenv.Shared(t, "data/bench/"+pair[1]))
		if err != nil {
			t.Fatal(err)
		}
		if b.ids, err = b.bench.WriteNotes(b.dir); err != nil {
			t.Fatal(err)
		}
		v := vocabulary{}
		for _, d := range b.bench.Documents {
			v.add(d.Title + "\n" + d.Text)
		}
		b.bench.Questions = w.ask(t, b.bench.Questions, v)
		b.foreign = w.ask(t, other.Questions, v)
		for i := range b.foreign {
			b.foreign[i].Scope, b.foreign[i].Relevant = "", nil
		}
		all = append(all, b)
	}
	return all
}

func (w wordNet) ask(t *testing.T, questions []benches.Question, v vocabulary) (asked []benches.Question) {
	t.Helper()
	for _, q := range questions {
		if q.Text = w.inOtherWords(t, q.Text, v); q.Text != "" {
			asked = append(asked, q)
		}
	}
	return asked
}

// handMade returns notes with questions in other words, written by hand.
func handMade(t *testing.T, name string) silentBench {
	t.Helper()
	of := map[string][2]string{
		"starter notes": {"../../examples/notes", "testdata/other-words.json"},
		"house":         {"../../agent/tools/testdata/offline/house", "testdata/house-words.json"},
	}[name]
	b := silentBench{bench: benches.Bench{Name: name}, dir: of[0], ids: map[string]string{}}
	v := vocabulary{}
	folder, err := notes.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // only read
	entries, _, err := folder.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(e.Path)))
		if err != nil {
			t.Fatal(err)
		}
		v.add(strings.NewReplacer("/", " ", ".md", "").Replace(e.Path) + "\n" + string(raw))
		b.ids[e.Path] = e.Path
	}
	raw, err := os.ReadFile(of[1])
	if err != nil {
		t.Fatal(err)
	}
	var asked struct {
		Answered   map[string][]string // note → questions
		Unanswered []string
	}
	if err := json.Unmarshal(raw, &asked); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		for _, text := range asked.Answered[e.Path] {
			b.bench.Questions = append(b.bench.Questions, benches.Question{ID: text, Text: text, Relevant: map[string]int{e.Path: 1}})
		}
	}
	for _, text := range asked.Unanswered {
		b.foreign = append(b.foreign, benches.Question{ID: text, Text: text})
	}
	for _, q := range slices.Concat(b.bench.Questions, b.foreign) {
		if v.holdsAny(q.Text) {
			t.Errorf("%s: a word of %q is in the notes", name, q.Text)
		}
	}
	return b
}

// recalls asks all questions, and returns how many find their note first, and among the
// first five.
func (b silentBench) recalls(t *testing.T, x Searcher, side rag.Side) (first, five float64) {
	t.Helper()
	for _, q := range b.bench.Questions {
		query := rag.Query{Text: q.Text, Side: side}
		if q.Scope != "" {
			query.Paths = []string{q.Scope}
		}
		found, err := x.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		ranked := rankedNotes(found, b.ids)
		if len(ranked) > 0 && q.Relevant[ranked[0]] > 0 {
			first++
			if side == rag.Both && found.Declined() {
				t.Errorf("%s: %q has its note first and is declined", b.bench.Name, q.Text)
			}
		}
		for _, id := range ranked {
			if q.Relevant[id] > 0 {
				five += 1 / float64(len(q.Relevant))
			}
		}
	}
	n := float64(len(b.bench.Questions))
	return first / n, five / n
}

// TestOtherWordsAreFound: questions that share no word with their note find it by the
// built-in encoder, as well as by cosine alone.
func TestOtherWordsAreFound(t *testing.T) {
	t.Parallel()
	for name, least := range map[string][2]float64{"starter notes": {0.43, 0.80}, "house": {0.50, 0.80}} {
		b := handMade(t, name)
		x, _ := indexed(t, b.dir, encoder.Encoder{})
		first, five := b.recalls(t, x, rag.Both)
		_, alone := b.recalls(t, x, rag.SemanticAlone)
		if t.Logf("%s: %.3f first, %.3f among five, %.3f by cosine alone", name, first, five, alone); first < least[0] || five < max(least[1], alone) {
			t.Errorf("%s: %.3f first, %.3f among five, want %v and no less than cosine alone, %.3f", name, first, five, least, alone)
		}
	}
}

// TestNoSharedWord prints the same figures for questions made of synonyms, also with
// the real encoder.
func TestNoSharedWord(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make silent) asks the questions that share no word with the notes")
	}
	fmt.Println("| notes | with | questions | first | among five | cosine alone |")
	fmt.Println("|---|---|---:|---:|---:|---:|")
	for _, c := range contenders(t) {
		both, alone, asked := 0.0, 0.0, 0.0
		for _, b := range silentBenches(t) {
			x, _ := indexed(t, b.dir, c.embedder)
			first, five := b.recalls(t, x, rag.Both)
			_, cosine := b.recalls(t, x, rag.SemanticAlone)
			n := float64(len(b.bench.Questions))
			both, alone, asked = both+n*five, alone+n*cosine, asked+n
			fmt.Printf("| %s | %s | %.0f | %.3f | %.3f | %.3f |\n", b.bench.Name, c.name, n, first, five, cosine)
		}
		if both/asked < alone/asked-0.02 {
			t.Errorf("%s: recall@5 is %.3f, cosine alone reaches %.3f", c.name, both/asked, alone/asked)
		}
	}
}

// TestSemanticOnlyMatchesAreReported: a word that no starter note has finds a note with the same
// meaning, with a notice. A question in another language does not.
func TestSemanticOnlyMatchesAreReported(t *testing.T) {
	t.Parallel()
	x, _ := indexed(t, "../../examples/notes", encoder.Encoder{})
	for _, c := range []struct {
		question, note string // "": not found by meaning
		why            string
	}{
		{"bicycle", "home/bike.md", ""},
		{"literature", "reading/list.md", ""},
		{"novels", "reading/list.md", ""},
		{"bike", "", ""},
		{"Wo steht denn mein Fahrrad?", "", "does not know the words of the question"},
		{"自行车在哪里", "", "does not know the words of the question"},
	} {
		found, err := x.Search(t.Context(), rag.Query{Text: c.question})
		if err != nil {
			t.Fatal(err)
		}
		first := ""
		if found.SemanticOnly {
			first = found.Passages[0].Path
		}
		if first != c.note || found.SemanticOnly && found.Declined() || !strings.Contains(found.Coverage.Embedder, c.why) {
			t.Errorf("%s: by meaning %q, want %q; %s", c.question, first, c.note, found.Coverage.Embedder)
		}
	}
}
