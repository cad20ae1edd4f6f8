package markdown

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"lifehub/internal/hostile"
	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

var (
	darkPalette = layout.Palette{
		Heading: ansi.IndexedColor(117), Code: ansi.IndexedColor(216), Keyword: ansi.IndexedColor(176), String: ansi.IndexedColor(150),
		Number: ansi.IndexedColor(179), Quiet: ansi.IndexedColor(245), Border: ansi.IndexedColor(245), Link: ansi.IndexedColor(111), Citation: ansi.IndexedColor(80),
		Added: ansi.IndexedColor(114), Removed: ansi.IndexedColor(210),
	}
	lightPalette = layout.Palette{
		Heading: ansi.IndexedColor(25), Code: ansi.IndexedColor(130), Keyword: ansi.IndexedColor(90), String: ansi.IndexedColor(28),
		Number: ansi.IndexedColor(94), Quiet: ansi.IndexedColor(243), Border: ansi.IndexedColor(243), Link: ansi.IndexedColor(26), Citation: ansi.IndexedColor(30),
		Added: ansi.IndexedColor(28), Removed: ansi.IndexedColor(124),
	}
)

// all has every construct, with text in several scripts.
const all = `# Running plan

You run **three times a week** [1] and raise the *long run* by 10 % [2, 3]. See [the guide](https://runs.example/plan?x=1) or https://www.example.org/a_b(c), and ` + "`make run`" + `.
Second line of the paragraph, ~~old~~ with a hard break  
here and \*escaped\* &amp; entity &copy;.

Setext title
============

- first item
- second item with a long text that has to be wrapped somewhere because it is longer than a line
  - nested **bold** item
  - another

    with a paragraph of its own
- [ ] open task
- [x] done task

1. one
2. two
   ` + "```go" + `
   func main() { // comment
   	fmt.Println("hello", 42)
   }
   ` + "```" + `
10. ten

> A quotation with *emphasis*
> over two lines
>
> - and a list
continued lazily

| Day | Distance | Note |
|:----|---------:|:----:|
| Mon | 5 km | easy |
| Wed | 8 km | tempo with a longer note that needs to be wrapped on narrow screens |
| 日本 | 12 | ` + "`a|b`" + ` \| x |

` + "```python" + `
def f(x):
    """A long
    string"""
    return x * 2  # twice

` + "```" + `

***

Inline math $a_1 + b_2$ and \(x^2\), costs $5 and $10.

$$
E = mc^2
$$

Term[^note] and ![a picture](img/x.png), [[wiki|alias]] and [[Other note]], <https://auto.example>, a<br>b.

[^note]: The footnote text.

中文段落没有空格，所以必须在字之间换行。「引号」也要处理好，不要在行首。日本語も同じです。
👩‍👩‍👧‍👦 family, 🇩🇪 flag, e\u0301 combining, עברית and العربية.

    indented code
    second line

<details>
<summary>More</summary>
</details>

A [reference][ref] and [late].

[ref]: https://ref.example/x "title"
[late]: <https://late.example>
`

func TestGoldenPicturesOfEveryConstruct(t *testing.T) {
	for _, width := range []int{40, 60, 100, 160} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			theme := layout.Palette{}.Theme()
			theme.Hyperlinks = false
			golden.RequireEqual(t, plain(Render(all, width, theme))+"\n")
		})
	}
	for name, theme := range map[string]layout.Theme{"dark": darkPalette.Theme(), "light": lightPalette.Theme(), "no colour": layout.Palette{}.Theme()} {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqual(t, strings.Join(Render(all, 60, theme), "\n")+"\n")
		})
	}
}

// The picture while the text is cut at its most awkward places.
func TestGoldenPicturesOfHalfArrivedText(t *testing.T) {
	var b strings.Builder
	for _, src := range []string{
		"some **bold te", "some **bold*", "a `co", "a [lin", "a [link](htt", "a [link](https://a.example/x) an", "[1", "see [1]", "# Titl", "## ", "#", "- ", "- item", "1.", "1. it",
		"text\n--", "text\n| a | b", "| a | b |", "| a | b |\n|--", "| a | b |\n|---|---|\n| x", "| a | b |\n|---|---|\n| x | y |\n", "``", "```go", "```go\nfunc ma", "```\ncode\n``", "> quo", "- [", "- [ ] ta",
		"[ref]: htt", "$$\nx^", "a $x", "~~go", "![pic", "<det", "&am", "a\\", "http", "https://a.ex",
	} {
		s := New(40, 40, layout.Palette{}.Theme())
		s.theme.Hyperlinks = false
		s.Write(src)
		fmt.Fprintf(&b, "%q\n", src)
		for _, line := range s.Lines() {
			fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(line, "\x1b", "␛"))
		}
	}
	golden.RequireEqual(t, b.String())
}

func TestTokenMemoryIsConstant(t *testing.T) {
	for _, kind := range kinds {
		src := answer(kind, tokens)
		s := New(100, 100, darkPalette.Theme())
		var quarters [4]uint64
		for q := range quarters {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := q * tokens; i < (q+1)*tokens; i += 4 {
				s.Write(src[i : i+4])
				s.Lines()
			}
			runtime.ReadMemStats(&after)
			quarters[q] = after.TotalAlloc - before.TotalAlloc
		}
		if quarters[3]*10 > quarters[0]*16 || quarters[3] > 20<<20 {
			t.Errorf("%s: %d bytes in the four quarters", kind, quarters)
		}
	}
}

func TestChangedReturnsTheFirstChangedLine(t *testing.T) {
	s := New(40, 40, layout.Palette{}.Theme())
	var screen []string
	for i := 0; i < len(all); i += 7 {
		s.Write(all[i:min(i+7, len(all))])
		lines := s.Lines()
		from := s.Changed()
		screen = append(screen[:min(from, len(screen))], lines[from:]...)
		if err := same(screen, lines); err != nil {
			t.Fatalf("after %d bytes: %v", i, err)
		}
	}
	if n := len(s.Lines()); s.Changed() != n {
		t.Errorf("nothing was written, Changed() = %d of %d", s.Changed(), n)
	}
}

// The renderer of Bubble Tea reads each line with this parser, and one long
// sequence makes it panic.
func TestBubbleTeaRendersEveryHostileLine(t *testing.T) {
	for _, p := range hostile.Payloads {
		for _, text := range append(Render(p.Text, 80, darkPalette.Theme()), safetext.Text(p.Text), safetext.Reveal(p.Text)) {
			parser, state := ansi.GetParser(), byte(0)
			for text != "" {
				_, _, n, next := ansi.DecodeSequence(text, state, parser)
				text, state = text[n:], next
			}
			ansi.PutParser(parser)
		}
	}
}

func TestEntityCannotBecomeAnEscape(t *testing.T) {
	escape := "&#27;[8m"
	for _, src := range []string{escape, "`" + escape + "`", "# " + escape, "```" + escape + "\nx\n```", "~~~go " + escape + "\nx\n~~~", "| " + escape + " |\n|---|", "[a](https://e.example/" + escape + ")", "![" + escape + "](x)", "<b " + escape + ">"} {
		for _, line := range Render(src, 60, layout.Palette{}.Theme()) {
			if strings.Contains(line, "\x1b[8m") {
				t.Errorf("%s hides what follows: %q", src, line)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add(all, 5, 40)
	for _, p := range hostile.Payloads {
		if len(p.Text) < 2000 {
			f.Add(p.Text, 3, 20)
		}
	}
	f.Fuzz(func(t *testing.T, src string, piece, width int) {
		if len(src) > 10_000 || piece < 1 || width > 500 {
			t.Skip()
		}
		want := Render(src, width, darkPalette.Theme())
		if err := check(want, max(width, 1)); err != nil {
			t.Fatal(err)
		}
		s := New(width, width, darkPalette.Theme())
		for rest := src; rest != ""; {
			n := min(piece, len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
			if err := check(s.Lines(), max(width, 1)); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		if err := same(s.Lines(), want); err != nil {
			t.Fatal(err)
		}
	})
}

func plain(lines []string) string {
	return ansi.Strip(strings.Join(lines, "\n"))
}

// check reports what is wrong with lines at a width.
func check(lines []string, width int) error {
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > width {
			return fmt.Errorf("line %d is %d wide, not %d: %q", i, w, width, line)
		}
		if j := strings.IndexFunc(ansi.Strip(line), unicode.IsControl); j >= 0 {
			return fmt.Errorf("line %d has a control character: %q", i, line)
		}
	}
	return nil
}

func same(a, b []string) error {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Errorf("line %d is missing: %q", i, b[i])
		case i >= len(b):
			return fmt.Errorf("line %d is too much: %q", i, a[i])
		case a[i] != b[i]:
			return fmt.Errorf("line %d\n is %q\nnot %q", i, a[i], b[i])
		}
	}
	return nil
}

// pieces are short texts rich in marks.
var pieces = strings.Split(`#␣## ␣- ␣* ␣+ ␣1. ␣2) ␣> ␣    ␣  ␣ ␣ ␣ ␣
␣
␣
␣

␣

␣`+"```␣```go\n␣`␣``␣~~~"+`␣---␣***␣___␣===␣=␣-␣*␣**␣***␣_␣__␣~~␣[␣]␣(␣)␣](␣]:␣[ref]: http://r.example
␣[ref]␣[a]: b "c d"
␣[a]␣[a]: c
␣[1]␣[^1]␣[^1]: ␣![␣<␣>␣<br>␣<div>
␣</div>␣<!--␣-->␣http://a.example/x_y␣www.␣https␣|␣| a | b |
|--|:-:|
␣| x | y |
␣||␣\|␣\␣\(␣\)␣\[␣\]␣$␣$$␣&amp;␣&#27;␣&␣;␣word␣word ␣two words ␣a␣b ␣, ␣. ␣漢字␣。␣「␣」␣한국어␣é␣e`+"\u0301␣👩\u200d👧␣🇩🇪␣\x1b[31m␣\x1b]0;t\a␣\t␣\r\n␣\u202e␣\xff␣[ ] ␣[x] ␣10. ␣func main() {␣\"str␣/* c␣*/␣// c"+`␣[[␣]]␣[[note|alias]]␣x]␣longwordlongwordlongwordlongword`, "␣")

// anyMarkdown draws texts rich in marks.
var anyMarkdown = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.SampledFrom(pieces)
	text := rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces")
	if len(text) > 0 && rapid.IntRange(0, 2).Draw(t, "long") == 0 { // beyond every bound on length
		long := rapid.SampledFrom([]string{"word ", "x", "é", "e\u0301", "\u0301", "👩\u200d👧", "漢", "a|b ", "|", "- ", "> ", "1. ", "`", "``a ", "*a ", "_a*", "~~a\n", "[", "[a ", "![a](", "[[", "<a ", "\\(", "# ", "<b>", "-->", " ", "www.", "\x1b]", "\x1b[31m"}).Draw(t, "what")
		text[len(text)/2] = strings.Repeat(long, rapid.IntRange(100, 1500).Draw(t, "times"))
	}
	return strings.Join(text, "")
})

// final returns how many lines of a picture do not change any more except with
// the width or a late address.
func final(s *Stream) int {
	if s.paragraph != nil && !s.paragraph.long {
		return min(s.body, s.paragraph.before.lines)
	}
	return s.body
}

func TestChunkingDoesNotChangeTheOutput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := anyMarkdown.Draw(t, "src")
		if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
			src = all
		}
		width := rapid.SampledFrom([]int{1, 2, 3, 7, 12, 20, 40, 80, 200}).Draw(t, "width")
		full := width + rapid.SampledFrom([]int{0, 1, 50}).Draw(t, "more")
		whole := New(width, full, darkPalette.Theme())
		whole.Write(src)
		whole.Close()
		want := whole.Lines()
		if err := check(want, full); err != nil {
			t.Fatal(err)
		}
		s := New(width, full, darkPalette.Theme())
		var settled, screen []string
		wider := false
		for rest := src; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 12+len(src)/100)).Draw(t, "n")
			s.Write(rest[:n])
			rest = rest[n:]
			lines := s.Lines()
			if err := check(lines, full); err != nil {
				t.Fatal(err)
			}
			if s.wider != wider { // code got more room: all is drawn again, once
				wider, settled = s.wider, nil
			}
			if err := same(lines[:min(len(settled), len(lines))], settled); err != nil {
				t.Fatalf("settled: %v", err)
			}
			from := s.Changed()
			if screen = append(screen[:min(from, len(screen))], lines[from:]...); !slices.Equal(screen, lines) {
				t.Fatalf("not all that changed is from line %d on", from)
			}
			settled = append(settled[:0], lines[:final(s)]...)
		}
		s.Close()
		if err := same(s.Lines(), want); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLongMarkLineIsTheSameInPieces writes lines of marks, with text behind
// half of them, about as long as marks may be, byte by byte.
func TestLongMarkLineIsTheSameInPieces(t *testing.T) {
	for _, mark := range []string{"- ", "* ", "> ", "1. ", "-", "=", "#", "|-", "_ ", "[^a]: ", "- [ ] ", "*     ", "- -   "} {
		for n := range 40 {
			if err := inPieces(strings.Repeat(mark, n/len(mark)+1)[:n]+" #a", 1, 40); err != nil {
				t.Fatal(err)
			}
		}
		for n := maxMarkup - 2*maxDepth; n < maxMarkup+8*maxDepth; n += 7 {
			if err := inPieces(strings.Repeat(mark, n/len(mark)+1)[:n]+[...]string{"\nend", "# a\nend"}[n%2], 1, 40); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// inPieces writes a text in pieces of so many bytes, and compares it with the whole.
func inPieces(src string, size, width int) error {
	s := New(width, width, darkPalette.Theme())
	for i := 0; i < len(src); i += size {
		s.Write(src[i:min(i+size, len(src))])
		s.Lines()
	}
	s.Close()
	if err := same(s.Lines(), Render(src, width, darkPalette.Theme())); err != nil {
		return fmt.Errorf("%d bytes, %.20q, at %d columns: %w", len(src), src, width, err)
	}
	return nil
}

// TestCharactersAreNotSplit draws long runs of characters of several bytes
// behind every mark that looks ahead for its end, whole and in pieces.
func TestCharactersAreNotSplit(t *testing.T) {
	for _, mark := range []string{"", "www.__", "https://a.b/", "<https://", "[", "[a](", "[[", "![", "[^", "`", "**", "_", "~~", "==", "$", "<b>", "&", "\\", "# ", "> ", "| ", "- ", "```\n", "<div>\n", "    "} {
		for _, char := range []string{"e\u0301", "é", "漢", "👩\u200d👩\u200d👧"} {
			for shift := range len(char) {
				src := mark + strings.Repeat("x", shift) + strings.Repeat(char, (3*reach)/len(char))
				for _, width := range []int{1, 7} {
					if err := check(Render(src, width, darkPalette.Theme()), width); err != nil {
						t.Errorf("%q and many %q at %d columns: %.200v", mark, char, width, err)
					}
					if err := inPieces(src, 37, width); err != nil {
						t.Errorf("%q and many %q: %v", mark, char, err)
					}
				}
			}
		}
	}
}

func TestHostileTextIsDrawnAsText(t *testing.T) {
	for _, p := range hostile.Payloads {
		for _, width := range []int{1, 10, 80} {
			got := Render(p.Text, width, darkPalette.Theme())
			if err := check(got, width); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if width == 80 && !strings.Contains(plain(got), hostile.Mark) {
				t.Errorf("%s hid what follows: %q", p.Name, plain(got))
			}
		}
	}
}

// TestNoUsualWordOfATableIsBroken draws tables of words of up to twenty letters.
func TestNoUsualWordOfATableIsBroken(t *testing.T) {
	any := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		width, columns := 24+any.IntN(100), 1+any.IntN(6)
		var source strings.Builder
		var words []string
		row := func() {
			for range columns {
				source.WriteString("| ")
				for range 1 + any.IntN(8) {
					word := strings.Repeat(string(rune('a'+any.IntN(26))), 1+any.IntN(longestUsual))
					words = append(words, word)
					source.WriteString(word + " ")
				}
			}
			source.WriteString("|\n")
		}
		row()
		source.WriteString(strings.Repeat("|---", columns) + "|\n")
		for range 1 + any.IntN(sample-1) {
			row()
		}
		drawn := ansi.Strip(strings.Join(Render(source.String(), width, layout.Palette{}.Theme()), "\n"))
		for _, word := range words {
			if !strings.Contains(drawn, word) {
				t.Fatalf("at %d columns %q is broken:\n%s", width, word, drawn)
			}
		}
	}
}

func TestLongURLInATableBreaksAtSeparators(t *testing.T) {
	drawn := ansi.Strip(strings.Join(Render("| page | says |\n|---|---|\n| https://example.org/docs/internationalization/guide.html | how words are translated |\n", 50, layout.Palette{}.Theme()), "\n"))
	want := `page                     │ says
─────────────────────────┼────────────────────────
https://example.org/     │ how words are
docs/                    │ translated
internationalization/    │
guide.html               │`
	if drawn != want {
		t.Errorf("got\n%s\nwant\n%s", drawn, want)
	}
}

// A quotation has no empty rows between its paragraphs, and shows where one begins.
func TestParagraphsOfAQuotationAreJoined(t *testing.T) {
	got := ansi.Strip(strings.Join(Render("> one\n>\n> two\nlazily\n>\n> - item\n>\n> three\n\nfour", 40, darkPalette.Theme()), "\n"))
	want := "│ one\n├ two lazily\n│\n│ • item\n├ three\n\nfour"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
