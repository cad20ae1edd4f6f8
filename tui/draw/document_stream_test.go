package draw

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"lifehub/internal/hostile"
)

// whole draws a complete answer.
func whole(source string, width int, theme *Theme) []string {
	s := NewMarkdownStream("%d")
	s.Write(source)
	s.Close()
	return s.Lines(width, theme)
}

// inPieces draws an answer that arrives in pieces of the given sizes.
func inPieces(source string, width int, theme *Theme, size func() int) []string {
	s := NewMarkdownStream("%d")
	for source != "" {
		n := min(max(1, size()), len(source))
		s.Write(source[:n])
		source = source[n:]
		s.Lines(width, theme)
	}
	s.Close()
	return s.Lines(width, theme)
}

// constructs are texts of every kind; each % is a word.
var constructs = []string{
	"% %", "# %", "% %\n===", "- % %\n- %", "1. %\n   %", "> % %\n%", "- > %\n  >\n  > %", "- [ ] %",
	"*%* **%** ~~%~~ `%`", "*% [% **%", "`% <%> <b %>",
	"[%]: %", "[%]: <%> '%'", "[%]: https://%.example \"% %\"", "[%]: % \"%\" %", "[%]:", "[%]: % %",
	"- [%]: %", "> [%]: % (%)",
	"see [%][a] and [a]\n\n[a]: /% \"% %\"", "[%](<", "![%](/a) ![%]", "[[%]] [[a|%]]",
	"<https://%.example> https://%.example",
	"[^%]: % %", "%[^1]", "<!-- % -->", "<!-- %\n%", "<%>", "<div>\n% %\n</div>",
	"<script>%</script> %", "<% % />", "<?% ?> %",
	"```\n%\n```", "```% %\n%\n```", "~~~ %\n%", "    % %", "`````% %", "$%$ $$%$$ \\(%\\)", "$$\n%\n$$", "$$ %\n%",
	"\\[ % \\] %", "\\[%\n%\\]",
	"| % | % |\n|---|---|\n| % | % |\n| %", "| % | %\n% | %", "|%|\n|-|\n|%|\n%", "% | %\n--|--\n% | %\n% | %",
	"| % | % |\n|---|", "% \\\n%", "%  \n%", "&%; &#%; &copy%;", "\\% \\[%\\]",
	"%: % - % * % _%_", "***\n%", "[1] %, [%, 2]", "[ ] %", ": %", "%\n: %",
}

// What is drawn does not depend on how an answer was divided, and each of its words is on the screen.
func TestAnAnswerIsDrawnTheSameInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var source strings.Builder
		n := 0
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(constructs), 1, 8).Draw(t, "constructs") {
			for i, part := range strings.Split(c, "%") {
				if i > 0 {
					n++
					fmt.Fprintf(&source, "w%dx", n)
				}
				source.WriteString(part)
			}
			source.WriteString(rapid.SampledFrom([]string{"\n", "\n\n", " ", "\n> ", "\n- ", "\n    "}).Draw(t, "then"))
		}
		width := rapid.SampledFrom([]int{13, 40, 300}).Draw(t, "width")
		want := whole(source.String(), width, theme(true))
		got := inPieces(source.String(), width, theme(true),
			func() int { return rapid.IntRange(1, 12).Draw(t, "size") })
		if !slices.Equal(got, want) {
			t.Fatalf("%q in pieces is\n%s\nand at once\n%s", source.String(), strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		if width < 300 || strings.Contains(source.String(), "|") { // of tables, GFM drops surplus cells
			return
		}
		for screen := ansi.Strip(strings.Join(want, "\n")); n > 0; n-- {
			if word := fmt.Sprintf("w%dx", n); !strings.Contains(screen, word) {
				t.Fatalf("%s is lost:\n%s\n-- is drawn as\n%s", word, source.String(), screen)
			}
		}
	})
}

// example is one of CommonMark's own.
type example struct {
	Markdown, HTML string
	Example        int // its number
}

// examples reads them from goldmark's module, which carries them.
func examples(t *testing.T) (list []example) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatalf("find goldmark's module: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil || len(list) < 600 {
		t.Fatalf("read CommonMark's %d examples: %v", len(list), err)
	}
	return list
}

// visible returns the words that a page shows.
func visible(page string) (words []string) {
	var text strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		switch {
		case token.Type == html.TextToken:
			text.WriteString(token.Data)
		case !slices.Contains([]string{"em", "strong", "a", "code"}, token.Data):
			text.WriteString(" ")
		}
	}
	return word.FindAllString(text.String(), -1)
}

// Every word that CommonMark shows of its examples is on the screen, and they are drawn the same in pieces.
func TestCommonMarksExamplesLoseNoWord(t *testing.T) {
	for _, e := range examples(t) {
		lines := whole(e.Markdown, 300, theme(false))
		if got := inPieces(e.Markdown, 300, theme(false), func() int { return 3 }); !slices.Equal(got, lines) {
			t.Errorf("example %d in pieces is\n%s\nand at once\n%s", e.Example, strings.Join(got, "\n"),
				strings.Join(lines, "\n"))
		}
		screen := ansi.Strip(strings.Join(lines, "\n"))
		for _, word := range visible(e.HTML) {
			if !strings.Contains(screen, word) && e.Example != 570 { // the host of a link is within the word
				t.Errorf("example %d loses %q\n%s\n-- is drawn as\n%s\n-- and has to read\n%s", e.Example, word,
					e.Markdown, screen, e.HTML)
			}
		}
	}
}

func TestNothingButTextReachesTheTerminalFromAnAnswer(t *testing.T) {
	check := func(source string) {
		for _, width := range []int{1, 40} {
			for _, row := range inPieces(source, width, theme(false), func() int { return max(5, len(source)/3) }) {
				if found := harmless(row); found != "" {
					t.Errorf("%q shows %q in %q", source, found, row)
				}
				if cells := Width(row); cells > max(width, 2) {
					t.Errorf("%q: a row of %d cells at width %d: %q", source, cells, width, row)
				}
			}
		}
	}
	for _, payload := range hostile.Payloads {
		check(payload.Text)
		check("- [a](" + payload.Text + ") **" + payload.Text + "**\n")
		check("```go\n" + payload.Text + "\n```\n")
	}
	for _, source := range append(slices.Clone(hostile.Markdown), smuggled...) {
		check(source)
	}
}

// A verdict has its colour, which nothing that a model writes can have.
func TestVerdictsHaveTheirColour(t *testing.T) {
	dark := theme(true)
	s := NewMarkdownStream("")
	s.Write("At most 10 % [1]")
	s.Verdict(Quoted, " ✓ *quoted*")
	s.Write(" and 20 % [2]" + verdictSign + "1 ✓" + verdictSign + " ✓")
	s.Close()
	got := strings.Join(s.Lines(80, dark), "\n")
	if text := ansi.Strip(got); text != "At most 10 % [1] ✓ *quoted* and 20 % [2]1 ✓ ✓" {
		t.Errorf("it reads %q", text)
	}
	on, _, _ := strings.Cut(dark.Markdown.Verdicts[Quoted].Paint("x"), "x")
	if n := strings.Count(got, on); n != 1 {
		t.Errorf("%d of three ticks have the colour of a verdict: %q", n, got)
	}
	on, _, _ = strings.Cut(dark.Markdown.Citation.Paint("x"), "x")
	if n := strings.Count(got, on); n != 2 {
		t.Errorf("%d of two numbers have the colour of one: %q", n, got)
	}
}

// A list of passages, which are quotations, has no empty rows in them.
func TestQuotationsInAnAnswerAreDense(t *testing.T) {
	got := ansi.Strip(strings.Join(whole("> one\n>\n> two that is longer\n>\n> - item\n\nafter\n", 12, theme(false)),
		"\n"))
	if want := "│ one\n├ two that\n│ is longer\n├ • item\n\nafter"; got != want {
		t.Errorf("it is drawn as\n%s\nwant\n%s", got, want)
	}
}

// The numbers on frames are those of Code, whatever the code is in and however long it is.
func TestCodeHasTheNumberToCopyItBy(t *testing.T) {
	long := strings.Repeat("x := 1\n", 120)
	source := "```go\n" + long + "```\n\n1. step\n\n   ```sh\n   ls\n   ```\n2. step\n\n> ```\n> quoted\n> " +
		"```\n\n~~~py\nlast\n~~~\n"
	if got := CodeBlocks(source); !slices.Equal(got, []string{long, "ls\n", "quoted\n", "last\n"}) {
		t.Errorf("the code is %q", got)
	}
	for name, lines := range map[string][]string{
		"at once":   whole(source, 80, theme(false)),
		"in pieces": inPieces(source, 80, theme(false), func() int { return 7 }),
	} {
		var edges []string
		for _, line := range lines {
			if strings.ContainsAny(line, "╭╰") {
				edges = append(edges, strings.Trim(ansi.Strip(line), "╭╮╰╯─ "))
			}
		}
		for i, want := range []string{"go 1", "", "py 4", ""} {
			if i >= len(edges) || strings.Join(strings.Fields(strings.ReplaceAll(edges[i], "─", "")), " ") != want {
				t.Errorf("%s, the edges of frames are %q", name, edges)
				break
			}
		}
	}
}

// A block that has ended is not drawn again.
func TestEndedBlocksAreDrawnOnce(t *testing.T) {
	s, dark := NewMarkdownStream(""), theme(true)
	s.Write(strings.Repeat("a *paragraph*\n\n", 50) + strings.Repeat("- item\n", 50) + "```go\n" +
		strings.Repeat("x := 1\n", 120))
	first := s.Lines(80, dark)
	if ended := len(s.lines); ended < 50+50+100 {
		t.Errorf("%d of %d lines are not drawn again", ended, len(first))
	}
	s.Write("y := 2\n")
	if second := s.Lines(80, dark); len(second) != len(first)+1 || &s.lines[0] != &second[0] && second[0] != first[0] {
		t.Errorf("%d lines became %d", len(first), len(second))
	}
}

// BenchmarkStream measures an answer of 8,000 tokens of which each eighth is drawn, and how often that
// is the time of drawing it once.
func BenchmarkStream(b *testing.B) {
	for name, source := range map[string]string{
		"prose": strings.Repeat("Sentence runs over **some** words and ends here. ", 5) + "\n\n",
		"list":  "- item with a few words\n", "fence": "x := f(1) // a comment\n", "table": "| cell | 1 |\n",
		"one paragraph": "Sentence runs over **some** words and ends here. ",
	} {
		head := map[string]string{"fence": "```go\n", "table": "| a | b |\n|---|---|\n"}[name]
		source = head + strings.Repeat(source, 32_000/len(source))
		b.Run(name, func(b *testing.B) {
			dark := theme(true)
			for b.Loop() {
				s := NewMarkdownStream("")
				for at := 0; at < len(source); at += 32 {
					s.Write(source[at:min(at+32, len(source))])
					s.Lines(100, dark)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*len(source)/32), "ms/frame")
		})
	}
}

// BenchmarkOpenBlock measures a frame of a block that is still open and longer than any that a person reads.
func BenchmarkOpenBlock(b *testing.B) {
	for name, source := range map[string]string{
		"fence of 5,000 lines": "```go\n" + strings.Repeat("x := f(1) // a comment\n", 5000),
		"table of 500 rows":    "| a | b |\n|---|---|\n" + strings.Repeat("| cell | 1 |\n", 500),
		"list of 2,000 items":  strings.Repeat("- item with a few words\n", 2000),
		"paragraph of 15 KB":   strings.Repeat("some **words** here ", 800),
		"paragraph of 100 KB":  strings.Repeat("some **words** here ", 5400),
		"quotation":            strings.Repeat("> some words\n", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			s, dark := NewMarkdownStream(""), theme(true)
			s.Write(source)
			s.Lines(100, dark)
			for b.Loop() {
				s.Lines(100, dark)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/frame")
		})
	}
}
