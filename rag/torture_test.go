package rag

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lifehub/internal/testenv"
	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag/passage"
)

// oddNotes each have, in some odd form, words that must be found on their line.
var oddNotes = map[string]string{
	"callout.md": "Before.\n\n> [!warning]- Folded kestrel\n> The osprey is inside.\n>> [!tip] Nested merlin\n>> deep\n",
	"embeds.md": "See ![[Lapwing#Nest|curlew]] and ![alt plover](img/dunlin.png).\n\nA fact about snipe. " +
		"^avocet-1\n\n%% hidden godwit %%\n",
	"proj.2026.heron-count.md": "---\nid: abc\ntitle: Counting\ndesc: 'about bitterns'\n---\n" +
		"egret:: white\nstatus:: [[Spoonbill]]\n",
	"pages/outline.md": "- Birds\n  collapsed:: true\n\t- Waders\n\t  id:: 6512-aa\n\t\t- stilt #shore\n\t\t- TODO " +
		"ring the turnstone\n\t\t  SCHEDULED: <2026-03-14 Sat>\n- ```js\n  const phalarope = 1\n  ```\n",
	"windows.md": "# Gulls\r\n\r\nKittiwake here.\r\n\r\n- skua\r\n  - tern\r\n",
	"setext.md":  "Auk heading\n===========\n\nguillemot text\n\nSecond razorbill\n---\n\npuffin text\n",
	"html.md": "<div class=\"petrel\">\n\n<b>shearwater</b>\n\n</div>\n\n" +
		"<details><summary>fulmar</summary>\nalbatross\n</details>\n<!-- gannet -->\n",
	"nested.md": "1. step\n   1. inner\n\n      ```go\n      cormorant := 1\n      ```\n\n   > quoted " +
		"shag\n\n   | grebe | b |\n   |---|---|\n   | 1 | divercell |\n\nafter[^1]\n\n[^1]: the footnote loon\n",
	"math.md": "$$\nrail = crake\n$$\n\n~~~\ncoot\n~~~\n\n    moorhen\n",
}

func TestNoFormOfMarkdownHidesAWord(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, oddNotes)
	syncNow(t, x, folder, nil)
	for word, want := range map[string]string{
		"kestrel": "callout.md", "osprey": "callout.md", "merlin": "callout.md",
		"Lapwing": "embeds.md", "curlew": "embeds.md", "plover": "embeds.md",
		"dunlin": "embeds.md", "avocet": "embeds.md",
		"heron": "proj.2026.heron-count.md", "bitterns": "proj.2026.heron-count.md",
		"egret":     "proj.2026.heron-count.md",
		"Spoonbill": "proj.2026.heron-count.md", "proj.2026": "proj.2026.heron-count.md",
		"Counting": "proj.2026.heron-count.md",
		"stilt":    "pages/outline.md", "#shore": "pages/outline.md", "turnstone": "pages/outline.md",
		"phalarope": "pages/outline.md",
		"Kittiwake": "windows.md", "skua": "windows.md", "tern": "windows.md",
		"Auk": "setext.md", "guillemot": "setext.md", "razorbill puffin": "setext.md",
		"petrel": "html.md", "shearwater": "html.md", "fulmar": "html.md", "albatross": "html.md",
		"cormorant": "nested.md", "shag": "nested.md", "grebe": "nested.md",
		"divercell": "nested.md", "loon": "nested.md",
		"crake": "math.md", "coot": "math.md", "moorhen": "math.md",
	} {
		if got := paths(t, x, word); !slices.Contains(got, want) {
			t.Errorf("%s finds %v, want %s", word, got, want)
		}
	}
}

// TestLinesOfPassagesAreExact: the lines of a passage are those of its text, whatever
// the note.
func TestLinesOfPassagesAreExact(t *testing.T) {
	t.Parallel()
	texts := []string{}
	for _, text := range oddNotes {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 5).Draw(t, "notes"),
			rapid.SampledFrom([]string{"", "\n", "\r\n\r\n"}).Draw(t, "between"))
		note := notes.Parse(notes.Entry{Path: "n.md"}, []byte(text))
		size := rapid.IntRange(4, 300).Draw(t, "size")
		lines := strings.Split(note.Text, "\n")
		for i, p := range passage.Cut(note, size) {
			stands := strings.Join(lines[p.Line-1:p.EndLine], "\n")
			piece := note.Text[p.Start:p.End]
			if !strings.Contains(stands, piece) {
				t.Fatalf("passage %d is not on lines %d to %d:\n%q\n%q", i, p.Line, p.EndLine, piece, stands)
			}
			if piece != "" && !strings.Contains(lines[p.Line-1], strings.SplitN(piece, "\n", 2)[0]) {
				t.Fatalf("passage %d does not begin on line %d", i, p.Line)
			}
			if tokens := passage.EstimateTokens(piece); tokens > 2*size+40 {
				t.Fatalf("passage %d has %d tokens of %d:\n%q", i, tokens, size, piece)
			}
		}
	})
}

func TestHugeLineIsCutInTime(t *testing.T) {
	t.Parallel()
	size := 10 << 20
	if testenv.Race {
		size >>= 4
	}
	for name, text := range map[string]string{
		"words":      strings.Repeat("plenty of words ", size/16),
		"one word":   strings.Repeat("x", size/4),
		"base64":     "![](data:image/png;base64," + strings.Repeat("QUJD", size/16) + ")",
		"characters": strings.Repeat("長", size/16),
		"brackets":   strings.Repeat("[", size/16),
	} {
		// takes seconds; hours if the cost were quadratic
		for _, p := range passage.Cut(notes.Note{Text: text, BodyLine: 1}, defaultSize) {
			if passage.EstimateTokens(text[p.Start:p.End]) > 2*defaultSize {
				t.Errorf("%s: a passage of %d tokens", name, passage.EstimateTokens(text[p.Start:p.End]))
				break
			}
		}
	}
}

func TestSearchShowsTheBestPassageFirst(t *testing.T) {
	t.Parallel()
	long := func(word string) string {
		return strings.Repeat("The "+word+" needs care, and a person who knows how to do it well. ", 14)
	}
	var list strings.Builder
	for i := range 60 {
		fmt.Fprintf(&list, "- [[Note about topic%d]]\n", i)
	}
	list.WriteString("- [[Sourdough starter]]\n")
	files := map[string]string{
		"Sourdough starter.md": "Flour and water, fed each morning.\n",
		"bread.md": "The sourdough starter goes into the bread; a sourdough starter is alive. Starter, " +
			"sourdough, starter.\n",
		"index.md":        "# All notes\n\n" + list.String(),
		"phrase.md":       "He said: never feed the cat twice.\n",
		"words apart.md":  "The cat was there. Never mind, feed it twice. cat cat feed feed never twice\n",
		"copy.md":         "The gate code is 4711 and it changes in June.\n",
		"copy of copy.md": "The gate code is 4711 and it changes in June.\n",
		"garden.md": "# Pruning\n\n" + long("espalier") + "\n\n# Pruning more\n\n" +
			strings.Repeat("An espalier wants care in winter too: cut above a bud that looks where the branch should go. ", 9) + "\n",
		"journal/2026-03-13.md": "Planted onions with Ida.\n",
		"journal/2026-03-14.md": "Went to the dentist.\n",
	}
	for i := range 20 { // so that words have different frequencies
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("Something else altogether, number %d.\n", i)
	}
	folder, x := vault(t, files)
	syncNow(t, x, folder, nil)
	search := func(text string) []Passage {
		found, err := x.Search(t.Context(), Query{
			Text:  text,
			Today: when.DayOf(time.Date(2026, 3, 14, 10, 0, 0, 0, time.Local)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return found.Passages
	}
	first := func(text, want string) {
		t.Helper()
		if got := search(text); len(got) == 0 || got[0].Path != want {
			t.Errorf("%s: the first is %v, want %s", text, got, want)
		}
	}
	first("sourdough starter", "Sourdough starter.md")
	first("Note about sourdough starter flour", "Sourdough starter.md")
	first(`"feed the cat"`, "phrase.md")
	if got := search(`"feed the cat"`); len(got) != 1 {
		t.Errorf("a quoted phrase also finds %v", got)
	}
	first("what did I do yesterday", "journal/2026-03-13.md")
	first("was habe ich gestern gemacht?", "journal/2026-03-13.md")
	if got := search("gate code"); len(got) != 1 {
		t.Errorf("two copies of a note are shown %d times", len(got))
	}
	if got := search("espalier care"); len(got) != 1 || got[0].Line != 1 || got[0].EndLine != 7 {
		t.Errorf("neighbours are not joined: %d passages, the first on lines %d to %d", len(got),
			got[0].Line, got[0].EndLine)
	}
}
