package app

import (
	"slices"
	"strings"
	"testing"

	"lifehub/internal/hostile"

	"pgregory.net/rapid"
)

func TestMarkdownIsDisarmed(t *testing.T) {
	for _, markdown := range hostile.Markdown {
		if got := hostile.Armed(Disarm(markdown)); got != nil {
			t.Errorf("%q became %q, which has %q", markdown, Disarm(markdown), got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(hostile.Markdown, marks)), 1, 12).Draw(t, "parts")
		markdown := strings.Join(parts, rapid.SampledFrom([]string{"", "", " ", "\n", "\n\n", "`"}).Draw(t, "between"))
		once := Disarm(markdown)
		if got := hostile.Armed(once); got != nil {
			t.Errorf("%q became %q, which has %q", markdown, once, got)
		}
		if twice := Disarm(once); twice != once {
			t.Errorf("%q is changed again, to %q", once, twice)
		}
	})
}

// marks are building blocks of Markdown.
var marks = []string{
	"`", "``", "```\n", "~~~\n", "\n", "\n\n", " ", "    ", "\t", "> ", "- ", "1. ", "# ", "\n---\n", "===\n", "|",
	"|---|\n", "\\", "<", ">", "[", "]", "(", ")", "![", "](", "]:", "[a]: b", "<b>", "</b>", "<!--",
	"-->", "http://e.example/", "www.e.example/", "a@e.example", "a", "*", "_", "~", "&lt;", "&#33;", "\"",
	"é", "\r\n", "\x00", "[ ] ",
}

func FuzzDisarm(f *testing.F) {
	for _, markdown := range slices.Concat(hostile.Markdown, marks) {
		f.Add(markdown)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if got := hostile.Armed(Disarm(markdown)); got != nil {
			t.Errorf("became %q, which has %q", Disarm(markdown), got)
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
		if got := Disarm(markdown); got != want {
			t.Errorf("%q became %q, want %q", markdown, got, want)
		}
	}
	code := "a[i](x) ![x](http://e.example) <script>\n\t\\<b> [r]: x\n\n    <!-- `\n"
	for _, markdown := range []string{
		"```html\n" + code + "```\n", "~~~~ {.x}\n" + code + "~~~\n~~~~\n",
		"text\n\n    " + strings.ReplaceAll(code, "\n", "\n    "),
		"> ```c++ <x>\n> " + strings.ReplaceAll(code, "\n", "\n> ") + "```\n",
	} {
		if got := Disarm(markdown); got != markdown {
			t.Errorf("code %q became %q", markdown, got)
		}
	}
}

// The parser alone would take minutes for each of the costly texts.
func TestHostileMarkdownIsDisarmedInTime(t *testing.T) {
	for _, piece := range []string{"> ", ">", "[a](", "1. ", "[a](\n"} {
		markdown := strings.Repeat(piece, 1<<20/len(piece))
		if !tooCostly(markdown) {
			t.Errorf("a megabyte of %q is parsed", piece)
		}
		if got := Disarm(markdown + hostile.Markdown[0]); strings.Contains(got, "](") || strings.Contains(got, "![") {
			t.Errorf("a megabyte of %q hides a picture", piece)
		}
	}
	if many := strings.Repeat("- [a](http://e.example) `b`\n", 1500); tooCostly(many) {
		t.Error("a long list is taken for hostile")
	}
}

// A CR without LF ends a line for most renderers, and with it code begun before it.
func TestLoneCRHidesNoImage(t *testing.T) {
	for _, live := range []string{
		"`a\r\r![x](http://evil/p.png)\r\rb`\n",
		"`a\r\n\r\n![x](http://evil/p.png)`", "a\r![x](u)",
	} {
		if got := Disarm(live); hostile.Armed(strings.ReplaceAll(got, "\r", "\n")) != nil {
			t.Errorf("%q stays live: %q", live, got)
		}
	}
}

func TestPageShowsHiddenAddressesOfLinks(t *testing.T) {
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
