package draw

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lifehub/internal/hostile"
	"lifehub/tui/safetext"
)

// note contains every Markdown construct.
const note = `---
title: Weekly running
tags: [run, plan]
---
# The plan: *how* to raise it

Setext heading
--------------

Some **bold and *nested* text**, ` + "`code &amp; \\x`" + `, a [link](https://runs.example/path "title") and a
soft break, ~~gone~~ with [[Wiki Note|an alias]] and [[Other]]; a hard break  
next line with \*stars\* &copy; <b>html</b> one<br>two ![a picture](x.png) and https://auto.example/x. See
[ref] and [the log](../running/log.md). A footnote[^1]. A sentence that goes around the end of the row with a [link that is long and goes around it as well](https://wrap.example/).

[ref]: https://ref.example/x

- one
- two with a long text that goes around the end of the row, because it is as long as it has to be for that to happen at any width
  - nested **deep**
  - again

    a second paragraph
- [ ] an open task
- [x] a task that is done

1. first

   ` + "```python" + `
   print("x")  # comment
   ` + "```" + `
2. second

> A quote with **bold** words
> - an item in it
>
> more of it

| a | b |
|---|--:|
| 1 | 2 |

` + "```go" + `
func main() { fmt.Println("héllo") } // comment
` + "```" + `

***

<div>a block of html</div>

[^1]: The footnote.
`

func theme(coloured bool) *Theme { return NewTheme("dark", true, coloured, nil) }

func (d *Document) rows(width int, theme *Theme) (rows []string) {
	for at := range d.Blocks() {
		rows = append(rows, d.Draw(at, -1, width, theme).Rows...)
	}
	return rows
}

// Note is for the golden picture, whose package needs this one.
const Note = note

var word = regexp.MustCompile(`[\pL\pN]+`)

func TestNoWordIsLost(t *testing.T) {
	shown := word.FindAllString(ansi.Strip(strings.Join(ParseDocument(note).rows(50, theme(true)), "\n")), -1)
	slices.Sort(shown)
	// names and addresses that are not shown themselves
	behind := "python go b br amp copy path title Wiki Note x png ref running log md https"
	for _, word := range word.FindAllString(note, -1) {
		if _, ok := slices.BinarySearch(shown, word); !ok && !slices.Contains(strings.Fields(behind), word) {
			t.Errorf("%q is not on the screen", word)
		}
	}
}

func TestBlocksKnowTheirLines(t *testing.T) {
	d := ParseDocument(note)
	for at, line := range strings.Split(note, "\n") {
		words := word.FindAllString(line, -1)
		if len(words) < 2 || strings.HasPrefix(line, "[ref]:") || strings.HasPrefix(line, "title") ||
			strings.HasPrefix(line, "tags") {
			continue
		}
		shown := ansi.Strip(strings.Join(d.Draw(d.At(at+1), -1, 300, theme(true)).Rows, " "))
		if last := words[len(words)-1]; !strings.Contains(shown, last) && last != "python" {
			t.Errorf("line %d, %q, is looked for in %q", at+1, line, shown)
		}
	}
	if d.Lines != strings.Count(note, "\n") {
		t.Errorf("%d lines, want %d", d.Lines, strings.Count(note, "\n"))
	}
}

func TestLinksOfABlock(t *testing.T) {
	d := ParseDocument("one\n\n[a](https://a.example), [[Note#Part|b]] and [c](sub/c%20d.md#x) and " +
		"<javascript:alert(1)>\n")
	got := d.Draw(1, -1, 60, theme(true))
	want := []DocumentLink{
		{To: "https://a.example", Row: 1},
		{To: "Note#Part", Note: true, Row: 1},
		{To: "sub/c d.md#x", Note: true, Row: 1},
		{To: "javascript:alert(1)", Row: 1},
	}
	if !slices.Equal(got.Links, want) {
		t.Errorf("got %+v, want %+v", got.Links, want)
	}
	if text := strings.Join(got.Rows, ""); strings.Count(text, "\x1b]8;;http") != 1 ||
		strings.Contains(text, "\x1b]8;;java") {
		t.Errorf("other links than that of the web open: %q", text)
	}
}

// harmless returns what a row contains besides text, styles of a colourless theme and web links, or
// "".
func harmless(row string) string {
	var text string
	for state := byte(0); row != ""; {
		piece, _, n, next := ansi.DecodeSequence(row, state, nil)
		row, state = row[n:], next
		if piece[0] != '\x1b' {
			text += piece
			continue
		}
		if to, ok := strings.CutPrefix(strings.TrimSuffix(strings.TrimSuffix(piece, "\a"), "\x1b\\"), "\x1b]8;;"); ok &&
			(to == "" || safetext.LinkAllowed(to)) {
			continue
		}
		for parameter := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(piece, "\x1b["), "m"), ";") {
			if !slices.Contains([]string{"", "0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29"},
				parameter) {
				return piece
			}
		}
	}
	if safetext.Line(text) != text {
		return text
	}
	return ""
}

func checkHarmless(t *testing.T, source string) {
	t.Helper()
	d := ParseDocument(source)
	for _, width := range []int{1, 40} {
		for _, row := range d.rows(width, theme(false)) {
			if found := harmless(row); found != "" {
				t.Errorf("%q shows %q in %q", source, found, row)
			}
			if cells := Width(row); cells > max(width, 2) {
				t.Errorf("%q: a row of %d cells at width %d: %q", source, cells, width, row)
			}
		}
	}
}

// smuggled are ways to pass an escape sequence to a renderer that unescapes twice.
var smuggled = []string{
	"&#27;[8mhidden", "&#x1b;[8mhidden", "&#27[8mhidden", "&amp;#27;[8mhidden", "&NewLine;x", "&#x9b;8m", "`&#27;[8m`",
	"`&amp;#27;[8m`", "[a&#27;[8m](x)", "[a](https://e.example/&#27;[8m)",
	"[a](<&#27;]8;;https://e.example&#7;>)", "![&#27;[8m](x)", "~~&#27;[8m~~", "**&#27;[8m**", "# &#27;[8m",
	"<b title='&#27;[8m'>", "<!-- &#27;[8m -->", "| &#27;[8m |\n|---|\n| &#27;[8m |", "[[&#27;[8m|&#27;[8m]]",
	"[x]: &#27;[8m\n\n[x]", "```&#27;[8m\n&#27;[8m\n```", "\\&#27;[8m", "&\\#27;[8m", "---\na: \"&#27;[8m\"\n---\n",
	"&#8238;abc", "lh:0 \x1b]8;;#0\x07x\x1b]8;;\x07", "[a](#9)", "- [ ] &#27;[8m", "> &#27;]0;title&#7;",
}

func TestNothingButTextReachesTheTerminal(t *testing.T) {
	for _, payload := range hostile.Payloads {
		checkHarmless(t, payload.Text)
		checkHarmless(t, "- [a]("+payload.Text+") **"+payload.Text+"**\n")
		checkHarmless(t, "```go\n"+payload.Text+"\n```\n")
		checkHarmless(t, "| "+payload.Text+" |\n|---|\n| `"+payload.Text+"` |\n")
		if shown := strings.Join(ParseDocument(payload.Text).rows(100, theme(false)),
			"\n"); !strings.Contains(ansi.Strip(shown), hostile.Mark) {
			t.Errorf("%s: what is text is gone: %q", payload.Name, shown)
		}
	}
	for _, source := range append(slices.Clone(hostile.Markdown), smuggled...) {
		checkHarmless(t, source)
	}
}

func TestLinkShowsItsDestination(t *testing.T) {
	for source, want := range map[string]string{
		"[Your bank](https://e.example/login)":      "Your bank (e.example)",
		"[https://bank.example](https://e.example)": "https://bank.example (e.example)",
		"<https://e.example>":                       "https://e.example",
		"[x](javascript:alert(1))":                  "x (javascript:alert(1))",
	} {
		if got := ansi.Strip(strings.Join(ParseDocument(source).rows(80, theme(true)), "\n")); got != want {
			t.Errorf("%s shows %q, want %q", source, got, want)
		}
	}
}

func TestHostileStructureIsDrawn(t *testing.T) {
	for name, source := range map[string]string{
		"deep quotes": strings.Repeat("> ", 5000) + "x", "deep list": strings.Repeat("- ", 3000) + "x",
		"brackets": strings.Repeat("[", 50_000),
		"emphasis": strings.Repeat("*a **b ", 2000), "one line": strings.Repeat("word [a](b) ", 20_000),
		"wide": strings.Repeat("漢", 9000), "nothing": "", "only front matter": "---\na: b\n---",
	} {
		d := ParseDocument(source)
		if rows := d.rows(40, theme(true)); len(rows) == 0 && source != "" {
			t.Errorf("%s: nothing is drawn", name)
		}
	}
}

// The rows that lists, tables and code are drawn as.
func TestBlocksAreDrawn(t *testing.T) {
	for source, want := range map[string]string{
		"- [ ] a task that goes around\n- [x] done\n  - below it": "[ ] a task that\n    goes " +
			"around\n[x] done\n  • below it",
		"8. one\n9. two goes around it\n\n   more of it\n\n   ```\n   x\n   ```": "8. one\n9. two goes\n   around " +
			"it\n\n   more of it\n\n     x",
		"> quoted text of two rows\n>\n> - item":          "│ quoted text of\n│ two rows\n│\n│ • item",
		"- a\n\n  > b":                                    "• a\n\n│ b",
		"| a | b |\n|---|---|\n| `x\\|\\*` | [[c\\|d]] |": "a    │ b\n─────┼───\nx|\\* │ d",
		"| a rather long head | b |\n|--|--|\n| 1 | 2 |":  "a rather    │ b\nlong head   │\n1           │ 2",
		"```go\nx := `\\*` // &amp;\n```":                 "x := `\\*` //\n&amp;",
		"a  \nb<br>c":                                     "a\nb\nc",
		"![[pic.png]] %%note%% ==x==":                     "pic.png %%note%%\n==x==",
		"> [!note] A callout":                             "│ [!note] A\n│ callout",
	} {
		if got := ansi.Strip(strings.Join(ParseDocument(source).rows(17, theme(true)), "\n")); got != want {
			t.Errorf("%q is drawn as\n%s\nwant\n%s", source, got, want)
		}
	}
}

// A cited item is marked alone, and a cited line of a long block is visible.
func TestCitedLinesAreVisible(t *testing.T) {
	source := "# Log\n\n" + strings.Repeat("- an item\n", 99) + "- the cited one\n- after it\n"
	rows, _, _ := NewDocumentView(ParseDocument(source), 102, 102).Lines(40, 9, theme(false))
	marked := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return !strings.Contains(row, "┃") })
	if len(marked) != 1 || !strings.Contains(marked[0], "the cited one") {
		t.Errorf("%q are marked of %q", marked, rows)
	}
	for name, line := range map[string]string{
		"code": "    line %d", "table": "| line | %d |",
		"a paragraph": "line %d  ",
	} {
		source := "| a | b |\n|---|---|\n"
		if name != "table" {
			source = "```\n" // its indented code continues in it
			if name == "a paragraph" {
				source = ""
			}
		}
		for i := range 300 {
			source += fmt.Sprintf(line, i) + "\n"
		}
		at := 1 + slices.IndexFunc(strings.Split(source, "\n"),
			func(l string) bool { return strings.Contains(l, "222") })
		rows, first, last := NewDocumentView(ParseDocument(source), at, at).Lines(40, 30, theme(false))
		if !strings.Contains(strings.Join(rows, "\n"), "222") || first > at || last < at {
			t.Errorf("%s: line %d is not among those from %d to %d:\n%s", name, at, first, last,
				strings.Join(rows, "\n"))
		}
	}
}

// Blocks drawn at once are limited in size, whatever a document contains.
func TestLongBlocksAreDrawnInPieces(t *testing.T) {
	for name, source := range map[string]string{
		"code":  "```go\n" + strings.Repeat("x := 1\n", 2000) + "```\n",
		"table": "|a|\n|--|\n" + strings.Repeat("| b |\n", 2000), "quote": strings.Repeat("> word word\n", 2000),
		"list": strings.Repeat("- word word\n", 2000), "paragraph": strings.Repeat("word word\n", 2000),
	} {
		d := ParseDocument(source)
		for at := range d.Blocks() {
			if size := len(d.blocks[at].text); size > maxBytes {
				t.Errorf("%s: a block of %d bytes", name, size)
			}
			if at > 0 && d.Line(at) <= d.Line(at-1) {
				t.Errorf("%s: block %d begins at line %d, the one before at %d", name, at, d.Line(at), d.Line(at-1))
			}
		}
		shown := ansi.Strip(strings.Join(d.rows(60, theme(true)), "\n"))
		if words := len(word.FindAllString(source, -1)); len(word.FindAllString(shown, -1)) < words-1 {
			t.Errorf("%s: %d of %d words are shown", name, len(word.FindAllString(shown, -1)), words)
		}
	}
}

func TestUndrawableBlocksAreShownAsWritten(t *testing.T) {
	wide := "|" + strings.Repeat(" word |", 30) + "\n|" + strings.Repeat("--|", 30) + "\n"
	if got := strings.Join(ParseDocument(wide).rows(20, theme(true)), " "); !strings.HasPrefix(got,
		"| word | word | word") {
		t.Errorf("a table of 30 columns is drawn in 20 cells as %q", got)
	}
	d := ParseDocument("a paragraph")
	d.theme = &Theme{}
	d.blocks[0].kind = code // without the theme's highlighting
	d.blocks[0].fence = fence{info: "go", number: 1}
	if got := d.draw(d.blocks[0], -1, 20); len(got.Rows) == 0 {
		t.Error("nothing is drawn")
	}
}

func TestNothingIsDrawnTwice(t *testing.T) {
	d, dark := ParseDocument(note), theme(true)
	first := d.Draw(1, -1, 80, dark)
	if again := d.Draw(1, -1, 80, dark); &again.Rows[0] != &first.Rows[0] {
		t.Error("a block was drawn again at the same width")
	}
	d.Draw(1, -1, 60, dark)
	if len(slices.Collect(maps.Keys(d.drawn))) != 1 {
		t.Error("what was drawn for another width is kept")
	}
}

func FuzzRowsAreHarmless(f *testing.F) {
	for _, source := range append(slices.Clone(hostile.Markdown), smuggled...) {
		f.Add(source)
	}
	f.Add(note)
	f.Fuzz(checkHarmless)
}

func TestOnlyVisibleBlocksAreDrawn(t *testing.T) {
	var long strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&long, "Paragraph %d with [[a link]].\n\n", i)
	}
	v := NewDocumentView(ParseDocument(long.String()), 0, 0)
	v.Lines(80, 40, theme(true))
	v.Scroll(v.Page())
	v.GoTo(15_001)
	rows, first, last := v.Lines(80, 40, theme(true))
	if drawn := len(v.drawn); drawn > 150 {
		t.Errorf("%d of %d blocks were drawn for three pages", drawn, v.Blocks())
	}
	if first > 15_001 || last < 15_001 || !strings.Contains(strings.Join(rows, "\n"), "Paragraph 7500 ") {
		t.Errorf("lines %d to %d are in sight:\n%s", first, last, strings.Join(rows, "\n"))
	}
}

func TestEveryLinkIsReachedAndSeen(t *testing.T) {
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "Paragraph %d.\n\n- [[a %d]] and [[b %d]]\n\n", i, i, i)
	}
	v := NewDocumentView(ParseDocument(long.String()), 0, 0)
	v.Lines(60, 12, theme(true))
	var reached []string
	for v.Next(1) {
		link, _ := v.Link()
		reached = append(reached, link.To)
		rows, _, _ := v.Lines(60, 12, theme(true))
		if text := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(text, link.To) {
			t.Fatalf("%s is chosen, in sight is\n%s", link.To, text)
		}
	}
	if len(reached) != 80 {
		t.Errorf("%d of 80 links are reached", len(reached))
	}
	for back := 79; v.Next(-1); {
		back--
		if link, _ := v.Link(); link.To != reached[back] {
			t.Fatalf("back from %s is %s", reached[back+1], link.To)
		}
	}
}

// BenchmarkOpen measures the time until the first page of a note is drawn, and the 99th percentile
// and maximum over a hundred further pages.
func BenchmarkOpen(b *testing.B) {
	dark, body := theme(true), note[strings.Index(note, "# "):]
	for name, source := range map[string]string{
		"300 lines":    strings.Repeat(body, 6),
		"10,000 lines": strings.Repeat(body, 10_000/strings.Count(body, "\n")),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				NewDocumentView(ParseDocument(source), 0, 0).Lines(100, 40, dark)
			}
		})
		b.Run(name+", page", func(b *testing.B) {
			var pages []time.Duration
			v := NewDocumentView(ParseDocument(source), 0, 0)
			v.Lines(100, 40, dark)
			for b.Loop() {
				began := time.Now()
				v.Scroll(v.Page())
				v.Lines(100, 40, dark)
				if pages = append(pages, time.Since(began)); v.first.block > v.Blocks()-40 {
					v.ToTop()
					clear(v.drawn)
				}
			}
			slices.Sort(pages)
			b.ReportMetric(pages[len(pages)*99/100].Seconds()*1e3, "p99-ms")
			b.ReportMetric(pages[len(pages)-1].Seconds()*1e3, "worst-ms")
		})
	}
}

// LaTeX keeps its backslashes, and an embedded picture its name.
func TestFormulasAndPicturesAreDrawnAsWritten(t *testing.T) {
	for source, want := range map[string]string{
		`a \(x^2\) and $\{a\}$ and $x\,y$ b`:          `a \(x^2\) and $\{a\}$ and $x\,y$ b`,
		"$$\na & b \\\\\n- c\n$$":                     "$$ a & b \\\\ - c $$",
		"text\n\\[\na \\\\ b\n\\]\ntext":              `text \[ a \\ b \] text`,
		"- item\n  $$\n  x \\\\ y\n  $$":              `• item $$ x \\ y $$`,
		`\[not a link\] and \*star\* and \(`:          `[not a link] and *star* and (`,
		`a $x$ \[b\] &amp;`:                           `a $x$ [b] &`,
		`costs $5 and $6, or 7\$ \_`:                  `costs $5 and $6, or 7$ _`,
		"$$\nnot closed \\*\n\n$$":                    `$$ not closed \* $$`,
		"![[Image.png|300]] ![[a.png|A photo|20x30]]": "Image.png A photo",
		"![alt|200](x.png) [[note|300]]":              "[image: alt] 300",
	} {
		d := ParseDocument(source)
		var got []string
		for at := range d.Blocks() {
			for _, row := range d.Draw(at, -1, 80, theme(false)).Rows {
				got = append(got, strings.Fields(ansi.Strip(row))...)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q is drawn as %q, want %q", source, text, want)
		}
	}
}
