package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/store"
)

// armed returns what in a markdown document loads something, is HTML, or is a
// link whose text is not its address.
func armed(markdown string) (found []string) {
	source := []byte(markdown)
	for _, reader := range []goldmark.Markdown{goldmark.New(), goldmark.New(goldmark.WithExtensions(extension.GFM))} {
		_ = ast.Walk(reader.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.LinkReferenceDefinition:
				found = append(found, n.Kind().String())
			case *ast.Link:
				if label, ok := n.FirstChild().(*ast.Text); !ok || n.ChildCount() > 1 || !bytes.Equal(label.Value(source), n.Destination) {
					found = append(found, "link to "+string(n.Destination))
				}
			}
			return ast.WalkContinue, nil
		})
	}
	return found
}

// live is markdown that would load, run or hide something.
var live = []string{
	`![x](http://e.example/p.png?d=secret "t")`, "![x][r]\n\n[r]: http://e.example/?d=1", "![r]\n\n[r]: <http://e.example/a b> 'title'", "![[http://e.example/x.png]]",
	`[![x](http://e.example/1)](http://e.example/2)`, `![a [b](http://e.example/3) c](http://e.example/4)`, "![x\ny](\nhttp://e.example/\n'title')", `!&#91;x](http://e.example)`,
	`\![x](http://e.example/5)`, `\\![x](http://e.example/6)`, `![x](data:image/svg+xml;base64,PHN2Zz4=)`, `[a](javascript:alert(1))`, `[a](&#106;avascript:alert(1))`, `[a](//e.example/x)`,
	`[Your bank](https://e.example/login)`, `[https://bank.example](https://e.example)`, "[bank]\n\n> [bank]: https://e.example", "[a]: http://e.example\n===\n\n[a][]", "[^1]: ![x](http://e.example)",
	`<img src=x onerror=alert(1)>`, `\<img src=x>`, `\\<img src=x>`, `\\\<img src=x>`, "<script>\n\nalert(1)\n\n</script>", "<!-- `\n\n-->`![x](http://e.example)`", "<?php ?>", "<![CDATA[x]]>", "<style>\n@import url(x)</style>",
	"<https://e.example/`> ![x](http://e.example) `", "<`@x.yz> ![x](http://e.example) `", `<a title="` + "`" + `"> ![x](http://e.example) ` + "`", "http://a.bc/` ![x](http://e.example) `",
	"http://a.bc/[x](`) ` ![i](http://e.example) `", "[x](`) ` ![i](http://e.example) `", "| ` | ![x](http://e.example) ` |\n|---|---|\n| `a | b` ![x](http://e.example) `c | d` |",
	"---\n```\n---\n![x](http://e.example)\n```", "+++\n````\n+++\n![x](http://e.example)\n````", "- a\n\n      ![code](x)\n\n  ![x](http://e.example)", "a\n    ![x](http://e.example)", "```\n![x](http://e.example)",
	"[x](<http://e.example/\"onload=\"alert(1)>)", "[\u202ex](http://e.example)", "# ![x](http://e.example)\n\n<b\nonclick=x>", "    \t![x](http://e.example)\n<div>", "`` ` `` ![x](http://e.example)", "*![*x](http://e.example)",
}

func TestMarkdownIsDisarmed(t *testing.T) {
	for _, markdown := range live {
		if got := armed(disarm(markdown)); got != nil {
			t.Errorf("%q became %q, which has %q", markdown, disarm(markdown), got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(live, marks)), 1, 12).Draw(t, "parts")
		markdown := strings.Join(parts, rapid.SampledFrom([]string{"", "", " ", "\n", "\n\n", "`"}).Draw(t, "between"))
		once := disarm(markdown)
		if got := armed(once); got != nil {
			t.Errorf("%q became %q, which has %q", markdown, once, got)
		}
		if twice := disarm(once); twice != once {
			t.Errorf("%q is changed again, to %q", once, twice)
		}
	})
}

// marks are pieces of which markdown is made.
var marks = []string{
	"`", "``", "```\n", "~~~\n", "\n", "\n\n", " ", "    ", "\t", "> ", "- ", "1. ", "# ", "\n---\n", "===\n", "|", "|---|\n", "\\", "<", ">", "[", "]", "(", ")", "![", "](", "]:", "[a]: b", "<b>", "</b>", "<!--",
	"-->", "http://e.example/", "www.e.example/", "a@e.example", "a", "*", "_", "~", "&lt;", "&#33;", "\"", "é", "\r\n", "\x00", "[ ] ",
}

func FuzzDisarm(f *testing.F) {
	for _, markdown := range slices.Concat(live, marks) {
		f.Add(markdown)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if got := armed(disarm(markdown)); got != nil {
			t.Errorf("became %q, which has %q", disarm(markdown), got)
		}
	})
}

func TestDisarmedMarkdownReadsAsItWasWritten(t *testing.T) {
	for markdown, want := range map[string]string{
		"See [Ana's page](https://ana.example/x?d=1).": "See [Ana's page] (https://ana.example/x?d=1).",
		"![cat](http://e.example/c.png?d=1)":           `!\[cat] (http://e.example/c.png?d=1)`,
		"![[cat.png]] and [[Running]], [1].":           `!\[[cat.png]] and [[Running]], [1].`,
		"[r]: http://e.example":                        `[r]\: http://e.example`,
		"a < b <b>c</b> 1<2":                           `a < b \<b>c\</b> 1\<2`,
		"https://ana.example and `<b>` and `a[i](x)`":  "https://ana.example and `<b>` and `a[i](x)`",
		"- [ ] run\n- [x] walk **now** 👩\u200d🚀":       "- [ ] run\n- [x] walk **now** 👩\u200d🚀",
		"| a | `b[0](x)` |\n|:--|--:|\n| <b> | c |":    "| a | `b[0](x)` |\n|:--|--:|\n| \\<b> | c |",
		"---\ntitle: x\n---\n\n    a[i](x)":            "---\ntitle: x\n---\n\n    a[i](x)",
		"":                                             "",
	} {
		if got := disarm(markdown); got != want {
			t.Errorf("%q became %q, want %q", markdown, got, want)
		}
	}
	code := "a[i](x) ![x](http://e.example) <script>\n\t\\<b> [r]: x\n\n    <!-- `\n"
	for _, markdown := range []string{"```html\n" + code + "```\n", "~~~~ {.x}\n" + code + "~~~\n~~~~\n", "text\n\n    " + strings.ReplaceAll(code, "\n", "\n    "), "> ```c++ <x>\n> " + strings.ReplaceAll(code, "\n", "\n> ") + "```\n"} {
		if got := disarm(markdown); got != markdown {
			t.Errorf("code %q became %q", markdown, got)
		}
	}
}

// The parser alone would take minutes for each of the costly.
func TestHostileMarkdownIsDisarmedInTime(t *testing.T) {
	for _, piece := range []string{"> ", ">", "[a](", "1. ", "[a](\n"} {
		markdown := strings.Repeat(piece, 1<<20/len(piece))
		if !tooCostly(markdown) {
			t.Errorf("a megabyte of %q is parsed", piece)
		}
		if got := disarm(markdown + live[0]); strings.Contains(got, "](") || strings.Contains(got, "![") {
			t.Errorf("a megabyte of %q hides a picture", piece)
		}
	}
	if many := strings.Repeat("- [a](http://e.example) `b`\n", 1500); tooCostly(many) {
		t.Error("a long list is taken for hostile")
	}
}

// A CR alone ends a line for most readers, and so code that was begun before it.
func TestALoneCRHidesNoPicture(t *testing.T) {
	for _, live := range []string{"`a\r\r![x](http://evil/p.png)\r\rb`\n", "`a\r\n\r\n![x](http://evil/p.png)`", "a\r![x](u)"} {
		if got := disarm(live); armed(strings.ReplaceAll(got, "\r", "\n")) != nil {
			t.Errorf("%q stays live: %q", live, got)
		}
	}
}

func TestExportsAreDisarmed(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	own := "```html\n<b>[x](y)</b> ![z](w)\n```"
	for _, markdown := range live {
		turn, err := s.Begin(t.Context(), "c", markdown)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), turn, agent.Answer{Text: markdown, Citations: []agent.Citation{{N: 1, Path: "a](http://e.example)<b>"}}}); err != nil {
			t.Fatal(err)
		}
	}
	l := &life{app: &app{store: s}}
	t.Chdir(t.TempDir())
	if _, err := l.slashExport(t.Context(), "c", "all.md"); err != nil {
		t.Fatal(err)
	}
	exported, err := os.ReadFile("all.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := armed(string(exported)); got != nil {
		t.Errorf("the conversation has %q", got)
	}
	turn, err := s.Begin(t.Context(), "d", own)
	if err == nil {
		err = s.Finish(t.Context(), turn, agent.Answer{Text: own + "\n\n[Your bank](https://e.example/?d=1)"})
	}
	if err == nil {
		_, err = l.slashExport(t.Context(), "d", "own.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	if exported, err = os.ReadFile("own.md"); err != nil || strings.Count(string(exported), own) != 2 || !strings.Contains(string(exported), "[Your bank] (https://e.example/?d=1)") {
		t.Errorf("%v, the conversation is\n%s", err, exported)
	}
}

func TestAPageShowsTheAddressThatALinksTextHides(t *testing.T) {
	for markdown, want := range map[string]string{
		"[Your bank](https://e.example/?d=1&x)":        `>Your bank</a> (https://e.example/?d=1&amp;x)`,
		"[https://bank.example](https://e.example/)":   `>https://bank.example</a> (https://e.example/)`,
		"[https://e.example/](https://e.example/)":     `>https://e.example/</a></p>`,
		"[*https://e.example/*](https://e.example/)":   `</a> (https://e.example/)`,
		"[x](https://e.example/%67 \"safe\")":          `</a> (https://e.example/%67)`,
		"[r]\n\n[r]: https://e.example/":               `>r</a> (https://e.example/)`,
		"[x](https://b\u0430nk.example)":               `(https://bа⟨U+0430⟩nk.example)`,
		"[a](javascript:alert(1))":                     `<p>a (javascript:alert(1))</p>`,
		"[![p](http://e.example/1)](http://e.example)": `[picture: p · http://e.example/1]</a> (http://e.example)`,
	} {
		got, err := webAnswer(markdown)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%q became %s, %v; want %s in it", markdown, got, err, want)
		}
	}
}
