package eval

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/benches"
	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/words"
)

// linkVault is a vault in which every third link is hidden, with the questions about
// it.
type linkVault struct {
	dir   string
	links map[string]map[string]bool    // from → to, without the hidden ones
	asked map[string][]benches.Question // kind → questions, whose gold is a path
}

// The kinds of questions.
const (
	sharedText = "words of a hidden link that other links use too"
	ownText    = "words of a hidden link"
	linkLine   = "the line around a hidden link"
	firstWords = "the first sentence of a note, hidden"
)

// markdownLink matches [[target#heading|text]] and [text](target.md#heading).
var markdownLink = regexp.MustCompile(`!?\[\[([^\]|#\n]+)(?:#[^\]|\n]*)?(?:\|([^\]\n]+))?\]\]|\[([^\]\n]+)\]\(([^)\s]+\.md)(?:#[^)]*)?\)`)

func readLink(m []string) (target, shown string) {
	return strings.ReplaceAll(strings.TrimSpace(cmp.Or(m[1], m[4])), "%20", " "), cmp.Or(m[2], m[3])
}

func hideLinks(t *testing.T, source string) linkVault {
	t.Helper()
	folder, err := notes.Open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // only read
	entries, _, err := folder.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names notes.Names
	all := map[string]notes.Note{}
	for _, e := range entries {
		if note, err := folder.Read(e.Path); err == nil {
			names.Add(e.Path, note.Titles()...)
			all[e.Path] = note
		}
	}
	v := linkVault{dir: t.TempDir(), links: map[string]map[string]bool{}, asked: map[string][]benches.Question{}}
	ask := func(kind, text, gold string) {
		v.asked[kind] = append(v.asked[kind], benches.Question{Text: text, Relevant: map[string]int{gold: 1}})
	}
	used := map[string]bool{} // link text and target
	key := func(shown, to string) string { return words.NameKey(shown) + "\x00" + to }
	texts, seen := map[string][]string{}, 0
	type hidden struct{ shown, to string }
	var shown []hidden
	for _, path := range slices.Sorted(maps.Keys(all)) {
		note := all[path]
		lines := strings.Split(note.Text, "\n")
		for i, line := range lines {
			lines[i] = markdownLink.ReplaceAllStringFunc(line, func(link string) string {
				target, text := readLink(markdownLink.FindStringSubmatch(link))
				to := names.To(path, target)
				if to == "" || to == path {
					return link
				}
				if seen++; seen%3 != 0 {
					if v.links[path] == nil {
						v.links[path] = map[string]bool{}
					}
					v.links[path][to], used[key(text, to)] = true, true
					return link
				}
				if tells(text) && !strings.EqualFold(text, all[to].Title) {
					shown = append(shown, hidden{text, to})
				}
				rest := strings.Trim(markdownLink.ReplaceAllString(strings.Replace(line, link, "", 1), " "), " -*#")
				if n := len(strings.Fields(rest)); n >= 6 && n <= 60 {
					ask(linkLine, rest, to)
					line = ""
				}
				return ""
			})
			if line == "" {
				lines[i] = ""
			}
		}
		for i := note.BodyLine - 1; i < len(lines); i++ {
			line := strings.TrimSpace(lines[i])
			if n := len(strings.Fields(line)); n < 7 || n > 60 || strings.ContainsAny(line[:1], "#`|<!->") || strings.Contains(line, "[") {
				continue
			}
			ask(firstWords, line, path)
			lines[i] = ""
			break
		}
		texts[path] = lines
	}
	for _, h := range shown {
		if used[key(h.shown, h.to)] {
			ask(sharedText, h.shown, h.to)
		} else {
			ask(ownText, h.shown, h.to)
		}
	}
	for path, lines := range texts {
		file := filepath.Join(v.dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// boosted ranks the notes found again: one that a better note links to gains a
// share of that one's score.
func (v linkVault) boosted(found []rag.Passage, share float64) []string {
	score := map[string]float64{}
	for _, p := range found {
		score[p.Path] = max(score[p.Path], p.Score)
	}
	gain := map[string]float64{}
	for from := range score {
		for to := range v.links[from] {
			gain[to] = max(gain[to], share*score[from])
		}
	}
	return slices.SortedFunc(maps.Keys(score), func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b]+gain[b], score[a]+gain[a]), strings.Compare(a, b))
	})
}

// TestFiguresOfLinks prints what links do for a search, on vaults with links
// and the folders of LIFEHUB_LINK_VAULTS. The boost was chosen on the first.
func TestFiguresOfLinks(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIFEHUB_EVAL") == "" {
		t.Skip("LIFEHUB_EVAL=1 (make links) measures what links do for the search")
	}
	var sources []string
	for _, name := range []string{"obsidian-tasks", "kepano-vault", "logseq-docs", "til-jbranchaud"} {
		sources = append(sources, testenv.Shared(t, "data/corpora/"+name))
	}
	fmt.Println("| vault | question | n | nDCG@10 | R@10 | with a boost for linked notes |\n|---|---|---:|---:|---:|---:|")
	for _, source := range append(sources, filepath.SplitList(os.Getenv("LIFEHUB_LINK_VAULTS"))...) {
		v := hideLinks(t, source)
		x, _ := indexed(t, v.dir, nil)
		for _, kind := range []string{sharedText, ownText, linkLine, firstWords} {
			var plain, boosted []Figures
			for _, q := range v.asked[kind] {
				found, err := x.Search(t.Context(), rag.Query{Text: q.Text, Limit: depth})
				if err != nil {
					t.Fatal(err)
				}
				plain = append(plain, measure(v.boosted(found.Passages, 0), q.Relevant))
				boosted = append(boosted, measure(v.boosted(found.Passages, 0.1), q.Relevant))
			}
			if len(plain) == 0 {
				continue
			}
			a, d := Mean(plain), compared(plain, boosted)
			fmt.Printf("| %s | %s | %d | %.4f | %.4f | %+.4f (%+.4f to %+.4f) |\n", filepath.Base(source), kind, len(plain), a.NDCG, a.Recall, d.Mean, d.Low, d.High)
		}
	}
}
