package markdown

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"lifehub/internal/hostile"
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

// anyMarkdown draws texts rich in marks.
var anyMarkdown = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.SampledFrom(strings.Split(`#␣## ␣- ␣* ␣+ ␣1. ␣2) ␣> ␣    ␣  ␣ ␣ ␣ ␣
␣
␣
␣

␣

␣`+"```␣```go\n␣`␣``␣~~~"+`␣---␣***␣___␣===␣=␣-␣*␣**␣***␣_␣__␣~~␣[␣]␣(␣)␣](␣]:␣[ref]: http://r.example
␣[ref]␣[1]␣[^1]␣[^1]: ␣![␣<␣>␣<br>␣<div>
␣</div>␣<!--␣-->␣http://a.example/x_y␣www.␣https␣|␣| a | b |
|--|:-:|
␣| x | y |
␣||␣\|␣\␣\(␣\)␣\[␣\]␣$␣$$␣&amp;␣&#27;␣&␣;␣word␣word ␣two words ␣a␣b ␣, ␣. ␣漢字␣。␣「␣」␣한국어␣é␣e`+"\u0301␣👩\u200d👧␣🇩🇪␣\x1b[31m␣\x1b]0;t\a␣\t␣\r\n␣\u202e␣\xff␣[ ] ␣[x] ␣10. ␣func main() {␣\"str␣/* c␣*/␣// c"+`␣[[␣]]␣[[note|alias]]␣x]␣longwordlongwordlongwordlongword`, "␣"))
	return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
})

func TestEveryCutOfTheTextGivesTheSamePicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := anyMarkdown.Draw(t, "src")
		if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
			src = all
		}
		width := rapid.SampledFrom([]int{1, 2, 3, 7, 12, 20, 40, 80, 200}).Draw(t, "width")
		want := Render(src, width, Dark())
		if err := check(want, width); err != nil {
			t.Fatal(err)
		}
		s := New(width, Dark())
		var settled []string
		for rest := src; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 12)).Draw(t, "n")
			s.Write(rest[:n])
			rest = rest[n:]
			lines := s.Lines()
			if err := check(lines, width); err != nil {
				t.Fatal(err)
			}
			if err := same(lines[:min(len(settled), len(lines))], settled); err != nil {
				t.Fatalf("settled: %v", err)
			}
			settled = append(settled[:0], lines[:s.Settled()]...)
		}
		s.Close()
		if err := same(s.Lines(), want); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHostileTextIsDrawnAsText(t *testing.T) {
	for _, p := range hostile.Payloads {
		for _, width := range []int{1, 10, 80} {
			got := Render(p.Text, width, Dark())
			if err := check(got, width); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if width == 80 && !strings.Contains(plain(got), hostile.Mark) {
				t.Errorf("%s hid what follows: %q", p.Name, plain(got))
			}
		}
	}
}
