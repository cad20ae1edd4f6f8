package notes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lifehub/internal/testenv"
)

const fullNote = `---
title: Running
tags: [Health, "#sport/run"]
date: 2026-09-01
---
# Plan #goals

Three times a week, see [[log/2026-09|the log]] and [shoes](gear/My%20Shoes.md#size "t").
Not a tag: #123, a#b, ` + "`#code`" + `, https://x.example/#frag. But (#this) is. ` + "``[[no]] ` #no``" + `

![[map.png]] ![chart](https://x.example/c.png) [site](https://x.example/a.md)

Weeks
-----

| week | km |
| ---- | -- |
| 1    | 20 |

> # Quoted
> - [ ] buy gels 📅 2026-10-02

` + "```sh" + `
# not a heading #nottag
- [ ] not a task
` + "```" + `

1. [x] Race ✅ 2026-09-20 #done
- [ ] Stretch 🔁 every day ⏫ 📅 2026-10-01 ^id1
- [-] Never

<div>#html</div>

***
last [[Ende#Ziel]] #中文 #42k #a/b/ #[[Two Words]] x#[[no]]
`

func TestParseReadsAllPartsOfANote(t *testing.T) {
	n := Parse(Entry{Path: "sport/running.md"}, []byte(fullNote))

	if n.Title != "Running" || n.BodyLine != 6 || n.Date != dayOf("2026-09-01") || n.Untrusted || len(n.Problems) > 0 {
		t.Errorf("got title %q, body from %d, date %s, foreign %v, problems %q", n.Title, n.BodyLine,
			n.Date, n.Untrusted, n.Problems)
	}
	same(t, "headings", n.Headings, []Heading{{1, "Plan #goals", 6}, {2, "Weeks", 13}})
	same(t, "tags", n.Tags, []string{"42k", "a/b", "done", "goals", "health", "sport/run", "this", "two words", "中文"})
	same(t, "links", n.Links, []Link{
		{Target: "log/2026-09", Text: "the log", Wiki: true, Line: 8},
		{Target: "gear/My Shoes.md", Heading: "size", Text: "shoes", Line: 8},
		{Target: "map.png", Embed: true, Wiki: true, Line: 11},
		{Target: "Ende", Heading: "Ziel", Wiki: true, Line: 35},
		{Target: "Two Words", Wiki: true, Line: 35},
		{Target: "no", Wiki: true, Line: 35},
	})
	same(t, "lists", n.Lists, []Lines{{28, 28}, {29, 30}})
	same(t, "tasks", n.Tasks, []Task{
		{Line: 21, Text: "buy gels", Raw: "> - [ ] buy gels 📅 2026-10-02", Due: dayOf("2026-10-02")},
		{Line: 28, Text: "Race #done", Raw: "1. [x] Race ✅ 2026-09-20 #done", Done: true, DoneOn: dayOf("2026-09-20")},
		{
			Line: 29, Text: "Stretch", Raw: "- [ ] Stretch 🔁 every day ⏫ 📅 2026-10-01 ^id1", Due: dayOf("2026-10-01"),
			Recurs: "every day", Priority: "⏫",
		},
		{Line: 30, Text: "Never", Raw: "- [-] Never", Cancelled: true},
	})
}

func same[T any](t *testing.T, name string, got, want []T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
	}
}

func TestAllNotesOfTheCorporaAreParsed(t *testing.T) {
	testenv.WithoutRace(t)
	for _, corpus := range []string{"til-jbranchaud", "logseq-docs", "kepano-vault", "obsidian-tasks", "odd-prettier"} {
		t.Run(corpus, func(t *testing.T) {
			folder, err := Open(testenv.Shared(t, "data/corpora/"+corpus))
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			entries, problems, err := folder.List(t.Context())
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			if want := countNotes(t, folder.Dir()); len(entries) != want {
				t.Errorf("listed %d notes, there are %d", len(entries), want)
			}
			broken := 0
			for _, entry := range entries {
				note, err := folder.Read(entry.Path)
				if err != nil {
					t.Fatal(err)
				}
				checkNote(t, note)
				if len(note.Problems) > 0 {
					broken++
				}
			}
			t.Logf("%d notes, %d with a problem", len(entries), broken)
		})
	}
}

// countNotes counts notes independently of List.
func countNotes(t *testing.T, dir string) int {
	t.Helper()
	count := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".md") &&
			!strings.Contains(path[len(dir):], "/.") {
			count++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// checkNote checks invariants that hold for a note with any text.
func checkNote(t *testing.T, n Note) {
	t.Helper()
	lines := strings.Count(n.Text, "\n") + 1
	if !utf8.ValidString(n.Text) {
		t.Errorf("%s: the text is not UTF-8", n.Path)
	}
	if n.BodyLine < 1 || n.BodyLine > lines {
		t.Errorf("%s: the body begins on line %d of %d", n.Path, n.BodyLine, lines)
	}
	before := n.BodyLine - 1
	for _, l := range n.Lists {
		if l.First < before || l.Last < l.First || l.Last > lines {
			t.Errorf("%s: list %+v after line %d of %d", n.Path, l, before, lines)
		}
		before = l.Last
	}
	text := strings.Split(n.Text, "\n")
	for _, h := range n.Headings {
		if first, _, _ := strings.Cut(h.Text, " "); !strings.Contains(text[h.Line-1], first) {
			t.Errorf("%s:%d: the line does not hold the heading %q: %q", n.Path, h.Line, h.Text, text[h.Line-1])
		}
	}
	for _, task := range n.Tasks {
		if text[task.Line-1] != task.Raw {
			t.Errorf("%s:%d: the line is %q, not %q", n.Path, task.Line, text[task.Line-1], task.Raw)
		}
	}
	for _, l := range n.Links {
		if l.Line < 1 || l.Line > lines {
			t.Errorf("%s: link %+v is on no line", n.Path, l)
		}
	}
	if !slices.IsSorted(n.Tags) {
		t.Errorf("%s: tags %q are not sorted", n.Path, n.Tags)
	}
	if n.Title == "" && n.Path != "" {
		t.Errorf("%s: no title", n.Path)
	}
}

func TestFrontMatterIsReadAsFarAsItCanBe(t *testing.T) {
	for _, c := range []struct {
		text, title string
		tags        []string
		body        int // line of the body
	}{
		{"---\ntitle: Meeting: Ann | Bo & Co\ntags: [sync]\n---\nx", "Meeting: Ann | Bo & Co", []string{"sync"}, 5},
		{"---\ntitle: One\ntags: [red]\ntags: [blue]\ntitle: Two\n---\nx", "One", []string{"blue", "red"}, 7},
		{
			"---\ntitle: {{title}}\ncreated: {{date}} {{time}}\ntags: [day]\nurl: [\n---\nx",
			"{{title}}",
			[]string{"day"},
			7,
		},
		{"---\ntitle:\tTabs\ntags:\n\t- one\n\t- two\n---\nx", "Tabs", []string{"one", "two"}, 7},
		{"---\ntitle: \"Not closed\ntags: [a, b\n---\nx", "Not closed", []string{"a", "b"}, 5},
		{"---\ntitle: @home\ntags: #one #two\n---\nx", "@home", []string{"one", "two"}, 5},
		{
			"---\ntitle: *star* of `code`\ntags:\n- a: b: c\n- ok\n---\nx", "*star* of `code`",
			[]string{"a: b: c", "ok"},
			7,
		},
		{"---\ntags: #one\nTitle: Case\n---\nx", "Case", []string{"one"}, 5},
		{"+++\ntitle = Not quoted\ntags = ['a']\n+++\nx", "Not quoted", []string{"a"}, 5},
		{"---toml\ntitle = 'T'\n---\nx", "T", nil, 4},
		{"{\n  \"title\": \"J\",\n  \"tags\": [\"a\"]\n}\n\nx", "J", []string{"a"}, 5},
		{"{\n  \"title\": \"J\"\n}\n", "a", nil, 1},
		{"---\n**OSTER LEGAL**\nCara Oster, Esq.\n---\nx", "a", nil, 1},
		{"---\n# Home\n---\nx", "Home", nil, 1},
		{"---\ntitle: A\na line that is none\ntags: b\n---\nx", "A", []string{"b"}, 1},
		{"---\ntitle: Not closed\n\nx", "a", nil, 1},
		{"---\r\ntitle: CRLF: a\r\n---\r\nx", "CRLF: a", nil, 4},
		{"\xef\xbb\xbf---\rtitle: CR\r---\rx", "CR", nil, 4},
	} {
		n := Parse(Entry{Path: "a.md"}, []byte(c.text))
		if n.Title != c.title || !slices.Equal(n.Tags, c.tags) || n.BodyLine != c.body {
			t.Errorf("%q: title %q, tags %q, body on line %d", c.text, n.Title, n.Tags, n.BodyLine)
		}
		if stray := strings.Contains(c.text, "none"); stray != (len(n.Problems) == 1) {
			t.Errorf("%q: problems %q", c.text, n.Problems)
		}
	}
}

// Each line of front matter is part of a property, or in the text of the note.
func TestNoLineOfFrontMatterIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var block string
		words := map[string]int{} // the line of each word
		for i := range rapid.IntRange(1, 8).Draw(t, "lines") {
			word := fmt.Sprintf("w%dx", i)
			words[word] = i + 2
			block += strings.ReplaceAll(rapid.SampledFrom([]string{
				"k%: W", "k: W", "k%:W", "- W", "  W", "\tW", "W", "k%: \"W", "k%: [W", "k%: W: b", "k%: {{W}}",
				"k%:\tW", "k%: 'W' b", "k%: |\n  W", "k% = 'W'", "[W]", "k%: @W", "**W**", "'W': 1",
			}).Draw(t, "line"), "W", word) + "\n"
			block = strings.ReplaceAll(block, "%", fmt.Sprint(i))
		}
		fence := rapid.SampledFrom([]string{"---", "+++"}).Draw(t, "fence")
		n := Parse(Entry{Path: "a.md"}, []byte(fence+"\n"+block+fence+"\nText\n"))
		for word := range words {
			if read := fmt.Sprintf("%#v", n.Front); n.BodyLine > 1 && !strings.Contains(read, word) {
				t.Fatalf("%q loses %s: %s", block, word, read)
			}
		}
	})
}

func TestAllEncodingsGiveTheSameNote(t *testing.T) {
	const text = "# Zürich 東京\n\nsecond #tag\n"
	utf16Of := func(order binary.AppendByteOrder, mark []byte) []byte {
		raw := mark
		for _, unit := range utf16.Encode([]rune(text)) {
			raw = order.AppendUint16(raw, unit)
		}
		return raw
	}
	for name, raw := range map[string][]byte{
		"plain":      []byte(text),
		"BOM":        append([]byte{0xEF, 0xBB, 0xBF}, text...),
		"CRLF":       bytes.ReplaceAll([]byte(text), []byte("\n"), []byte("\r\n")),
		"UTF-16 LE":  utf16Of(binary.LittleEndian, []byte{0xFF, 0xFE}),
		"UTF-16 BE":  utf16Of(binary.BigEndian, []byte{0xFE, 0xFF}),
		"not closed": []byte(strings.TrimSuffix(text, "\n")),
	} {
		n := Parse(Entry{Path: "a.md"}, raw)
		if strings.TrimSuffix(n.Text, "\n") != strings.TrimSuffix(text, "\n") ||
			n.Title != "Zürich 東京" || len(n.Problems) > 0 {
			t.Errorf("%s: got title %q, problems %q, text %q", name, n.Title, n.Problems, n.Text)
		}
	}
}

func TestInvalidBytesAreReplacedAndReported(t *testing.T) {
	n := Parse(Entry{Path: "a.md"}, []byte("# Á\xff\x00B\n"))
	if n.Title != "Á��B" || len(n.Problems) != 2 {
		t.Errorf("got title %q, problems %q", n.Title, n.Problems)
	}
}

func TestTOMLFrontMatterIsRead(t *testing.T) {
	n := Parse(Entry{Path: "a.md"}, []byte("+++\ntitle = 'Hugo'\ntags = ['x y', 'Z']\ndate = 2026-02-03\nsource = "+
		"'https://x.example'\n+++\ntext\n"))
	if n.Title != "Hugo" || n.Date != dayOf("2026-02-03") || !n.Untrusted || n.BodyLine != 7 {
		t.Errorf("got %+v", n)
	}
	same(t, "tags", n.Tags, []string{"x y", "z"})
}

func TestNoteThatNamesASourceIsUntrusted(t *testing.T) {
	for front, want := range map[string]bool{
		"source: https://x.example":    true,
		"url: x":                       true,
		"url:":                         false,
		"source: ''":                   false,
		"sources: x":                   false,
		"Source: x":                    true,
		"URL: x":                       true,
		"title: a: b\nurl: x":          true, // invalid YAML: the title contains a colon
		"title: a: b\n\"source\": x":   true,
		"title: a: b\nsource:\ntag: x": false,
		"title: a: b":                  false,
		"title: [a\nsource: x":         true,
		"title: " + strings.Repeat("[", 101) + "\nsource: x":               true,
		"title: " + strings.Repeat("a", MaxFront) + "\nsource: x":          true, // too long for front matter
		"source: x\ntitle: " + strings.Repeat("a\n ", MaxFront) + "\nb: c": true,
	} {
		if n := Parse(Entry{Path: "a.md"}, []byte("---\n"+front+"\n---\n")); n.Untrusted != want {
			t.Errorf("%.60s: got %v, want %v", front, n.Untrusted, want)
		}
	}
	for text, want := range map[string]bool{
		"---\nsource: x\n# A\n":           true, // not closed
		"+++\nurl = 'x'\ntitle = \n+++\n": true,
		"---\n\nA line across.\n":         false,
		"# A\n\nsource: x\n":              false,
	} {
		if n := Parse(Entry{Path: "a.md"}, []byte(text)); n.Untrusted != want {
			t.Errorf("%s: got %v, want %v", text, n.Untrusted, want)
		}
	}
}
