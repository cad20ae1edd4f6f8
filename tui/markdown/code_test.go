package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/tui/layout"
)

// framed draws a text whose frames are numbered, without its colours.
func framed(src string, width, full int, open bool) string {
	s := New(width, full, layout.Palette{}.Theme())
	s.Copy = "/copy %d"
	s.Write(src)
	if !open {
		s.Close()
	}
	return plain(s.Lines())
}

func TestCodeIsInANumberedFrame(t *testing.T) {
	for _, test := range []struct {
		name, src   string
		width, full int
		open        bool
		want        string
	}{
		{"language and number", "```go\na := 1\n```\ntext\n~~~\nb\n~~~", 31, 31, false, `
╭ go ─────────────── /copy 1 ─╮
│ a := 1                      │
╰─────────────────────────────╯

text

╭─────────────────── /copy 2 ─╮
│ b                           │
╰─────────────────────────────╯`},
		{"what is longer is cut", "```\n0123456789 0123456789 0123\n漢字漢字漢字漢字漢字漢字漢字\n```", 24, 24, false, `
╭──────────── /copy 1 ─╮
│ 0123456789 012345678›│
│ 漢字漢字漢字漢字漢字›│
╰──────────────────────╯`},
		{"prose is narrower than code", "one two three four five\n\n```\n0123456789 0123456789\n```", 16, 30, false, `
one two three
four five

╭────────────────── /copy 1 ─╮
│ 0123456789 0123456789      │
╰────────────────────────────╯`},
		{"in a list and a quotation", "- item\n  ```sh\n  ls\n  ```\n\n> ```\n> quoted\n> ```", 31, 31, false, `
• item
  ╭ sh ───────────── /copy 1 ─╮
  │ ls                        │
  ╰───────────────────────────╯

│ ╭───────────────── /copy 2 ─╮
│ │ quoted                    │
│ ╰───────────────────────────╯`},
		{"more may come", "```go\na := 1\nb", 31, 31, true, `
╭ go ─────────────── /copy 1 ─╮
│ a := 1                      │
│ b                           │`},
		{"a title without room", "```language with a long description\nx\n```", 20, 20, false, `
╭ language with a… ╮
│ x                │
╰──────────────────╯`},
		{"no room for a frame", "```go\n0123456789\n```", 8, 8, false, `
go
01234567
89`},
	} {
		if got := "\n" + framed(test.src, test.width, test.full, test.open); got != test.want {
			t.Errorf("%s: got%s\nwant%s", test.name, got, test.want)
		}
	}
}

// TestTokenOfCodeChangesOneLine counts the lines that a token of a long block
// draws again: the current line, and the one begun.
func TestTokenOfCodeChangesOneLine(t *testing.T) {
	s := New(80, 80, layout.Palette{}.Theme())
	s.Write("```go\n")
	s.Lines()
	s.Changed()
	for i := range 200 {
		s.Write(fmt.Sprintf("a%d := 1", i) + strings.Repeat("\n", i%3))
		if changed := len(s.Lines()) - s.Changed(); changed > 3 {
			t.Fatalf("token %d draws %d lines", i, changed)
		}
	}
}

func TestCodeIsReturnedAsInTheSource(t *testing.T) {
	source := "Text\n```go\na := 1\n\n  b\n```\nand `inline` and\n\n- item\n  ~~~\n  c\n  ```\n  ~~~\n````\n```\nd\n```\n````\n```sh\nopen"
	want := []string{"a := 1\n\n  b\n", "c\n```\n", "```\nd\n```\n", "open"}
	if got := Code(source); !slices.Equal(got, want) {
		t.Errorf("blocks = %q, want %q", got, want)
	}
	source = "1. one\n\n   ```make\n   all:\n   \tgo build\n   ```\n> ```\n> a\n>\n>  > b\n> ```\n- ```\n  in an item\n\ttab\nnot code\n\n    ```\n    indented\n    ```\n```\n\tx\r\n```"
	want = []string{"all:\n\tgo build\n", "a\n\n > b\n", "in an item\n  tab\n", "\tx\n"}
	if got := Code(source); !slices.Equal(got, want) {
		t.Errorf("blocks = %q, want %q", got, want)
	}
	if got := Code("no ```code``` here"); len(got) != 0 {
		t.Errorf("blocks = %q, want none", got)
	}
}
