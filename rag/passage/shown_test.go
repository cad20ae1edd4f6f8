package passage

import (
	"fmt"
	"strings"
	"testing"
)

func TestBlocksHaveTheirHeadingsAndLeads(t *testing.T) {
	long := strings.Repeat("A sentence of some length. ", 30)
	for name, c := range map[string]struct {
		path, md string
		want     []string // line–end heading | lead | text
	}{
		"paragraphs below headings": {
			"a.md", "# A\n\nOne.\nStill one.\n\n## B\n\nTwo.",
			[]string{"3–4 A |  | One.\nStill one.", "8–8 A › B |  | Two."},
		},
		"items with their parents": {
			"a.md", "Packed:\n- tent\n\t- poles\n- stove",
			[]string{
				"1–1  |  | Packed:", "2–2  | Packed: | - tent", "3–3  | - tent | - poles",
				"4–4  | Packed: | - stove",
			},
		},
		"rows with their header": {
			"a.md", "| shoe | km |\n| --- | --- |\n| Kite | 96 |\n| Lane | 4 |",
			[]string{"3–3  | | shoe | km | | | Kite | 96 |", "4–4  | | shoe | km | | | Lane | 4 |"},
		},
		"properties": {
			"a.md", "type:: car\n生日:: 5月",
			[]string{"1–1  |  | type:: car", "2–2  |  | 生日:: 5月"},
		},
		"code with what leads to it": {
			"a.md", "Deploy with\n\n```sh\nmake all\n```\nThen wait.",
			[]string{"1–4  | Deploy with | make all", "6–6  |  | Then wait."},
		},
		"an outline": {
			"a.md", "- ## Shelf\n\t- jars\n- ## Damp\n\t- 71 %",
			[]string{"2–2 Shelf |  | - jars", "4–4 Damp |  | - 71 %"},
		},
		"lines of a text file": {
			"a.txt", "wifi: otter\ncode: 7\n\n" + strings.Repeat("word ", 20) + "\ngoes on",
			[]string{
				"1–1  |  | wifi: otter", "2–2  |  | code: 7",
				"4–5  |  | " + strings.Repeat("word ", 20) + "\ngoes on",
			},
		},
		"a task in an Org file": {"a.org", "# TODO Call\n", []string{"1–1  |  | TODO Call"}},
		"nothing":               {"a.md", "# A\n\n---\n", nil},
	} {
		var got []string
		for _, b := range Blocks(c.path, c.md, "", 1) {
			got = append(got, fmt.Sprintf("%d–%d %s | %s | %s", b.Line, b.EndLine, b.Heading, b.Lead, b.Text))
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
	parts := Blocks("a.md", long, "A › B", 7)
	whole := ""
	for _, b := range parts {
		if whole += b.Text + " "; len(b.Text) > maxBlock || b.Line != 7 || b.Heading != "A › B" ||
			!strings.HasSuffix(b.Text, ".") {
			t.Errorf("a piece is %+v", b)
		}
	}
	if whole != long {
		t.Errorf("the pieces are %q", whole)
	}
}

func TestFrontMatterIsSplitIntoFields(t *testing.T) {
	for front, want := range map[string]string{
		"---\ntitle: x\ntags: [a]\nauthor: Ines Falk\nphones:\n  - 1\n  - 2\n---\n": "4–4 author: Ines Falk; 5–7 " +
			"phones: - 1 - 2; ",
		"+++\ndoctor = \"Voss\"\n+++\n": "2–2 doctor = \"Voss\"; ",
		"---\nnever: closed\n":          "",
		"Text.\n\n---\n":                "",
		"":                              "",
	} {
		got := ""
		for _, b := range FrontBlocks(front) {
			got += fmt.Sprintf("%d–%d %s; ", b.Line, b.EndLine, b.Text)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", front, got, want)
		}
	}
}

// FuzzBlocks: the blocks of any text have its lines, in order.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{
		"# A\n\n- b\n  - c\n\n| d |\n|-|\n| e |", "```\nx", "a:: b\n> c",
		strings.Repeat("word ", 300), "\ufeff- ## x", "日本語。" + strings.Repeat("日", 500),
	} {
		f.Add("a.md", s)
		f.Add("a.txt", s)
	}
	f.Fuzz(func(t *testing.T, path, md string) {
		last := 1 + strings.Count(md, "\n")
		for _, b := range Blocks(path, md, "H", 1) {
			if b.Line < 1 || b.EndLine < b.Line || b.EndLine > last || b.Text == "" {
				t.Fatalf("%+v of %d lines", b, last)
			}
		}
		FrontBlocks(md)
	})
}
