package passage

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"lifehub/internal/testenv"
	"lifehub/notes"
)

func TestCutFollowsTheStructure(t *testing.T) {
	long := strings.Repeat("many words stand here ", 12) // 66 tokens
	cases := map[string]struct {
		text string
		size int
		want []string // "first line–last line heading | first words"
	}{
		"a short note is one passage": {
			"# Bread\n\nFlour.\n\n## Crust\n\nSteam.\n", 256,
			[]string{"1–7 Bread | # Bread"},
		},
		"sections part": {
			"# Bread\n\n" + long + "\n\n## Crust\n\n" + long + "\n\n## Crumb\n\n" + long + "\n", 100,
			[]string{"1–3 Bread | # Bread", "5–7 Bread › Crust | ## Crust", "9–11 Bread › Crumb | ## Crumb"},
		},
		"a heading stays with what follows": {
			long + "\n\n# Next\n\n" + long + "\n", 70,
			[]string{"1–1  | many", "3–5 Next | # Next"},
		},
		"front matter is not text": {
			"---\ntags: [a]\n---\nText.\n", 256,
			[]string{"4–4  | Text."},
		},
		"a table is not cut": {
			long + "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n" + long + "\n", 72,
			[]string{"1–1  | many", "3–6  | | a |", "8–8  | many"},
		},
		"a code block is not cut": {
			long + "\n\n```sh\nfirst\n\nlast\n```\n" + long + "\n", 69,
			[]string{"1–1  | many", "3–7  | ```sh", "8–8  | many"},
		},
		"a code block too big is cut between lines": {
			"```\n" + strings.Repeat(strings.Repeat("x", 79)+"\n", 4) + "```\n", 45,
			[]string{"1–3  | ```", "4–6 ``` | xxxx"},
		},
		"an outliner's bullets are headings": {
			"- Trips\n\t- Lisbon\n\t\t- " + long + "\n\t- Porto\n\t\t- " + long + "\n", 72,
			[]string{"1–3  | - Trips", "4–5 Trips | \t- Porto"},
		},
		"a long line is cut between sentences": {
			"One sentence is here. Another one follows it. A third ends the line.\n", 8,
			[]string{"1–1  | One", "1–1  | Another", "1–1  | A third"},
		},
		"headings lose their markup": {
			"# The [[Note|way]] to `go` **home**\n\nText.\n", 256,
			[]string{"1–3 The way to go home | # The"},
		},
		"a note of nothing still has a place": {"", 256, []string{"1–1  | "}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			note := notes.Parse(notes.Entry{Path: "n.md"}, []byte(c.text))
			var got []string
			for _, p := range Cut(note, c.size) {
				words := note.Text[p.Start:p.End]
				got = append(got, fmt.Sprintf("%d–%d %s | %s", p.Line, p.EndLine,
					strings.Join(p.Heading, Separator), words))
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %d passages, want %d:\n%s", len(got), len(c.want), strings.Join(got, "\n---\n"))
			}
			for i := range got {
				if !strings.HasPrefix(strings.TrimLeft(got[i], " "), c.want[i]) {
					t.Errorf("passage %d is %q, want %q…", i, got[i], c.want[i])
				}
			}
		})
	}
}

// Cut loses and duplicates nothing, whatever is in the note.
func TestCutKeepsEveryWord(t *testing.T) {
	check := func(t interface {
		Errorf(string, ...any)
	}, name, text string, size int,
	) {
		note := notes.Parse(notes.Entry{Path: "n.md"}, []byte(text))
		at := BodyStart(note.Text, note.BodyLine)
		pieces := Cut(note, size)
		for i, p := range pieces {
			if p.Start > p.End || p.End > len(note.Text) || (p.Start < at && len(pieces) > 1) {
				t.Errorf("%s: passage %d is [%d:%d] after %d", name, i, p.Start, p.End, at)
				return
			}
			if p.Start > at {
				if left := strings.TrimFunc(note.Text[at:p.Start], unicode.IsSpace); left != "" {
					t.Errorf("%s: before passage %d is left out: %q", name, i, left)
				}
			}
			at = p.End
			if p.Line < 1 || p.EndLine < p.Line {
				t.Errorf("%s: passage %d stands on lines %d to %d", name, i, p.Line, p.EndLine)
			}
		}
		if left := strings.TrimFunc(note.Text[min(at, len(note.Text)):], unicode.IsSpace); left != "" {
			t.Errorf("%s: at the end is left out: %q", name, left)
		}
	}
	t.Run("of real notes", func(t *testing.T) {
		root := testenv.Shared(t, "data/corpora")
		count := 0
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
				return err
			}
			raw, err := os.ReadFile(path)
			count++
			check(t, path, string(raw), 40+count%300)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d notes", count)
	})
	t.Run("of notes made up of marks", func(t *testing.T) {
		marks := []string{
			"#", "-", "*", ">", "|", "`", "~~~", "```", "\n", "\n\n", " ", "    ", "\t", "1.", "word",
			"。", "[", "]", "(", ")", "<div>", "---", "===", "$$", "\r\n", "é", "[^1]:", "[a]: b", "- [ ]", "::", "%%",
		}
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(marks), 0, 80).Draw(t, "marks"), "")
			check(t, fmt.Sprintf("%q", text), text, rapid.IntRange(1, 60).Draw(t, "size"))
		})
	})
}

func TestLongHeadingIsCut(t *testing.T) {
	var lines []string
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("Line %d of a paragraph that somebody underlined.", i))
	}
	paragraph := strings.Join(lines, "\n") + "\n---\n"
	for name, text := range map[string]string{
		"alone": paragraph, "twice": paragraph + paragraph, "before text": paragraph + "\nText.\n",
		"after text":  "Text.\n\n" + paragraph,
		"on one line": "# " + strings.Join(lines, " ") + "\n\nText.\n",
	} {
		for i, p := range Cut(notes.Parse(notes.Entry{Path: "n.md"}, []byte(text)), 100) {
			if n := EstimateTokens(text[p.Start:p.End]); n > 200 {
				t.Errorf("%s: passage %d has %d tokens", name, i, n)
			}
			if n := EstimateTokens(strings.Join(p.Heading, Separator)); n > 100 {
				t.Errorf("%s: the headings of passage %d have %d tokens", name, i, n)
			}
		}
	}
}

func TestPageReadByOCRNamesIt(t *testing.T) {
	note := notes.Parse(notes.Entry{Path: "scan.pdf"}, []byte("The valve.\n\x01The seal.\n"))
	pieces := Cut(note, 100)
	if len(pieces) != 2 || len(pieces[0].Heading) != 0 || !slices.Equal(pieces[1].Heading, []string{notes.ByOCR}) {
		t.Errorf("%+v", pieces)
	}
}
