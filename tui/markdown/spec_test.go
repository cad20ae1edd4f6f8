package markdown

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"lifehub/tui/layout"
)

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

// visible returns the words that a page shows, with those of descriptions and
// titles, and apart from them its addresses and names of languages.
func visible(page string) (words []string, hidden string) {
	var text, addresses strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		switch {
		case token.Type == html.TextToken:
			text.WriteString(token.Data)
		case !slices.Contains([]string{"em", "strong", "a", "code"}, token.Data):
			text.WriteString(" ")
		}
		for _, a := range token.Attr {
			switch a.Key {
			case "alt", "title":
				text.WriteString(" " + a.Val + " ")
			default:
				addresses.WriteString(" " + a.Val)
			}
		}
	}
	return letters.FindAllString(text.String(), -1), addresses.String()
}

var (
	definedLabel = regexp.MustCompile(`\[((?:\\.|[^\]\\])+)\]:`)
	entityName   = regexp.MustCompile(`&#?\w+;`)
)

// readOtherwise are the examples of which a word is not on the screen as it is
// in the source; docs/design/screen.md lists what else is drawn otherwise than
// CommonMark has it.
var readOtherwise = map[int]string{
	268: "the number of an item is drawn without zeros before it",
	570: "an address stands between two links that touch",
}

// Every word that CommonMark shows of its examples is on the screen, and every
// word of their sources that is not a name or an address.
func TestCommonMarksExamplesLoseNoWord(t *testing.T) {
	for _, e := range examples(t) {
		screen := onScreen(e.Markdown)
		have, lost := map[string]int{}, []string(nil)
		for _, word := range letters.FindAllString(screen, -1) {
			have[word]++
		}
		shown, hidden := visible(e.HTML)
		for _, word := range shown {
			if have[word]--; have[word] < 0 {
				lost = append(lost, word)
			}
		}
		hidden += strings.Join(entityName.FindAllString(e.Markdown, -1), " ") + strings.Join(definedLabel.FindAllString(e.Markdown, -1), " ")
		for _, word := range letters.FindAllString(e.Markdown, -1) {
			if !strings.Contains(screen, word) && !strings.Contains(strings.ToLower(hidden), strings.ToLower(word)) {
				lost = append(lost, word)
			}
		}
		if why := readOtherwise[e.Example]; (lost == nil) == (why != "") {
			t.Errorf("example %d (%q) loses %q\n%s\n-- is drawn as\n%s\n-- and has to read\n%s", e.Example, why, lost, e.Markdown, screen, e.HTML)
		}
	}
}

// onScreen draws a text in pieces and at once, wide enough for every line, and
// returns what reads.
func onScreen(src string) string {
	theme := layout.Palette{}.Theme()
	theme.Hyperlinks = false
	s := New(2_000, 2_000, theme)
	for i := 0; i < len(src); i += 3 {
		s.Write(src[i:min(i+3, len(src))])
		s.Lines()
	}
	s.Close()
	if err := same(s.Lines(), Render(src, 2_000, theme)); err != nil {
		return "in pieces " + err.Error()
	}
	return plain(s.Lines())
}

// constructs are texts of every kind; each % is a word.
var constructs = []string{
	"% %", "# %", "% %\n===", "- % %\n- %", "1. %\n   %", "> % %\n%", "- > %\n  >\n  > %", "- [ ] %", "*%* **%** ~~%~~ `%`", "*% [% **%", "`% <%> <b %>",
	"[%]: %", "[%]: <%> '%'", "[%]: https://%.example \"% %\"", "[%]: % \"%\" %", "[%]:", "[%]: % %", "- [%]: %", "> [%]: % (%)",
	"[a]: /% \"%\"\n[a]: /% \"%\"", "see [%][a] and [a]\n\n[a]: /% \"% %\"", "[%](/% \"%\") [%](/%) [%](", "![%](/% '%') ![%]", "[[%]] [[%|%]]", "<https://%.example> https://%.example",
	"[^%]: % %", "%[^1]", "<!-- % -->", "<!-- %\n%", "<%>", "<div>\n% %\n</div>", "<script>%</script> %", "<% % />", "<?% ?> %",
	"```\n%\n```", "```% %\n%\n```", "~~~ %\n%", "    % %", "`````% %", "$%$ $$%$$ \\(%\\)", "$$\n%\n$$", "$$ %\n%", "\\[ % \\] %", "\\[%\n%\\]",
	"| % | % |\n|---|---|\n| % | % | % |\n| %", "| % | %\n% | %", "|%|\n|-|\n|%|%|\n%", "% | %\n--|--\n% | % | %", "| % | % |\n|---|", "% \\\n%", "%  \n%", "&%; &#%; &copy%;", "\\% \\[%\\]", "%: % - % * % _%_", "***\n%", "[1] %, [%, 2]", "[ ] %", ": %", "%\n: %",
}

// Whatever a document is put together from, each word of it is on the screen.
func TestEveryWordIsOnTheScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		n := 0
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(constructs), 1, 8).Draw(t, "constructs") {
			for i, part := range strings.Split(c, "%") {
				if i > 0 {
					n++
					fmt.Fprintf(&src, "w%dx", n)
				}
				src.WriteString(part)
			}
			src.WriteString(rapid.SampledFrom([]string{"\n", "\n\n", " ", "\n> ", "\n- ", "\n    "}).Draw(t, "then"))
		}
		screen := onScreen(src.String())
		for i := range n {
			if word := fmt.Sprintf("w%dx", i+1); !strings.Contains(screen, word) {
				t.Fatalf("%s is lost:\n%s\n-- is drawn as\n%s", word, src.String(), screen)
			}
		}
	})
}
