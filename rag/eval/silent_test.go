package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag"
)

// silentBench is a bench of questions that share no telling word with any of
// its notes.
type silentBench struct {
	Bench
	dir     string
	ids     map[string]string
	foreign []Question // the notes don't answer these
}

// silentBenches are the starter notes, asked in words found by hand, and three
// benches asked in the words of WordNet, with the questions of another bench
// for those that nothing answers.
func silentBenches(t *testing.T) []silentBench {
	t.Helper()
	all := []silentBench{starterSilent(t)}
	w := openWordNet(t)
	for _, pair := range [][2]string{{"qmd-mini", "bfcl-memory"}, {"bfcl-memory", "qmd-mini"}, {"product-docs-qa", "bfcl-memory"}, {"xquad-en", "mtrag-un-pool"}} {
		b := silentBench{dir: t.TempDir()}
		var err error
		if b.Bench, err = Load(testenv.Shared(t, "data/bench/"+pair[0])); err != nil {
			t.Fatal(err)
		}
		other, err := Load(testenv.Shared(t, "data/bench/"+pair[1]))
		if err != nil {
			t.Fatal(err)
		}
		if b.ids, err = b.WriteNotes(b.dir); err != nil {
			t.Fatal(err)
		}
		v := vocabulary{}
		for _, d := range b.Documents {
			v.add(d.Title + "\n" + d.Text)
		}
		b.Questions = w.ask(t, b.Questions, v)
		b.foreign = w.ask(t, other.Questions, v)
		for i := range b.foreign {
			b.foreign[i].Scope, b.foreign[i].Relevant = "", nil
		}
		all = append(all, b)
	}
	return all
}

func (w wordNet) ask(t *testing.T, questions []Question, v vocabulary) (asked []Question) {
	t.Helper()
	for _, q := range questions {
		if q.Text = w.inOtherWords(t, q.Text, v); q.Text != "" {
			asked = append(asked, q)
		}
	}
	return asked
}

// starterSilent are the starter notes, asked in other words than theirs.
func starterSilent(t *testing.T) silentBench {
	t.Helper()
	b := silentBench{Bench: Bench{Name: "starter notes"}, dir: "../../examples/notes", ids: map[string]string{}}
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
	raw, err := os.ReadFile("testdata/other-words.json")
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
			b.Questions = append(b.Questions, Question{ID: text, Text: text, Relevant: map[string]int{e.Path: 1}})
		}
	}
	for _, text := range asked.Unanswered {
		b.foreign = append(b.foreign, Question{ID: text, Text: text})
	}
	for _, q := range slices.Concat(b.Questions, b.foreign) {
		if v.holdsAny(q.Text) {
			t.Errorf("a word of %q stands in the starter notes", q.Text)
		}
	}
	return b
}

// TestNoSharedWord: a question in other words than the notes' is found by
// meaning as well as by cosine alone, and what the notes don't hold is declined.
func TestNoSharedWord(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make silent) asks the questions that share no word with the notes")
	}
	embedder := keep(t, "use-lite", useLite(t))
	fmt.Println("| notes | questions | recall@5, cosine alone | both | said to be found | unanswerable | said to be found |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|")
	sums, asked, foreign := [4]float64{}, 0, 0
	for _, b := range silentBenches(t) {
		x, _ := indexed(t, b.dir, embedder)
		run := func(questions []Question, side rag.Side) (recall, likely float64) {
			for _, q := range questions {
				query := rag.Query{Text: q.Text, Limit: depth, Side: side}
				if q.Scope != "" {
					query.Paths = []string{q.Scope}
				}
				found, err := x.Search(t.Context(), query)
				if err != nil {
					t.Fatal(err)
				}
				ranked := rankedNotes(found, b.ids)
				for _, id := range ranked[:min(5, len(ranked))] {
					if q.Relevant[id] > 0 {
						recall += 1 / float64(len(q.Relevant))
					}
				}
				if !found.Declined() {
					likely++
				}
			}
			return recall, likely
		}
		alone, _ := run(b.Questions, rag.MeaningAlone)
		both, likely := run(b.Questions, rag.Both)
		_, wrong := run(b.foreign, rag.Both)
		row := func(name string, n, m int, s [4]float64) {
			fmt.Printf("| %s | %d | %.3f | %.3f | %.1f %% | %d | %.1f %% |\n", name, n, s[0]/float64(n), s[1]/float64(n), 100*s[2]/float64(n), m, 100*s[3]/float64(m))
		}
		these := [4]float64{alone, both, likely, wrong}
		row(b.Name, len(b.Questions), len(b.foreign), these)
		for i := range sums {
			sums[i] += these[i]
		}
		asked, foreign = asked+len(b.Questions), foreign+len(b.foreign)
		if b.Name == "xquad-en" {
			row("all", asked, foreign, sums)
		}
	}
	if n := float64(asked); sums[1]/n < sums[0]/n-0.02 {
		t.Errorf("recall@5 is %.3f, cosine alone reaches %.3f", sums[1]/n, sums[0]/n)
	}
	if wrong := sums[3] / float64(foreign); wrong > 0.1 {
		t.Errorf("%.3f of the questions on other subjects are said to be found", wrong)
	}
}

// TestFoundByMeaning: a word that no starter note holds finds the note that
// says it in another, and that is said; a question in another language, or on
// another subject, is not answered so.
func TestFoundByMeaning(t *testing.T) {
	t.Parallel()
	x, _ := indexed(t, "../../examples/notes", useLite(t))
	for _, c := range []struct {
		question, note string // "": not by meaning
		why            string
	}{
		{"bicycle", "home/bike.md", ""},
		{"sneakers", "running/shoes.md", ""},
		{"novels", "reading/list.md", ""},
		{"which sneakers did I purchase?", "running/shoes.md", ""},
		{"bike", "", ""},
		{"quantum physics", "", ""},
		{"who directed the film?", "", ""},
		{"Wo steht denn mein Fahrrad?", "", "not made for the question's language"},
		{"自行车在哪里", "", "not made for the question's language"},
	} {
		found, err := x.Search(t.Context(), rag.Query{Text: c.question})
		if err != nil {
			t.Fatal(err)
		}
		first := ""
		if found.ByMeaning {
			first = found.Passages[0].Path
		}
		if first != c.note || found.ByMeaning && found.Declined() || !strings.Contains(found.Coverage.Embedder, c.why) {
			t.Errorf("%s: by meaning %q, want %q; %.2f likely, %s", c.question, first, c.note, found.Answerable, found.Coverage.Embedder)
		}
	}
}
