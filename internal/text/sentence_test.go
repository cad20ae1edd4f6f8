package text

import (
	"slices"
	"strings"
	"testing"
)

func TestSentencesOf(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"end marks": {
			"One. Two! Three? Four",
			[]string{"One.", "Two!", "Three?", "Four"},
		},
		"abbreviations": {
			"Ask Dr. Who, e.g. at 3.14 p. Then go.",
			[]string{"Ask Dr. Who, e.g. at 3.14 p. Then go."},
		},
		"the number of a day in German": {
			"Am 3. Mai war es warm. Am 4. nicht.",
			[]string{"Am 3. Mai war es warm.", "Am 4. nicht."},
		},
		"end marks in a quotation": {
			"He said “Go. Now.” and went. Then?",
			[]string{"He said “Go. Now.” and went.", "Then?"},
		},
		"citations belong to the previous sentence": {
			"It leaks. [1][2] It drips [3].",
			[]string{"It leaks. [1][2]", "It drips [3]."},
		},

		"Chinese":                      {"你好。再见！", []string{"你好。", "再见！"}},
		"a paragraph of several lines": {"One line\nand another.\n\nNext", []string{"One line\nand another.", "Next"}},
		"items, headings and rows": {
			"# Head\n- a\n- b\n| x | y |\n| 1 | 2 |",
			[]string{"# Head", "- a", "- b", "| x | y |", "| 1 | 2 |"},
		},
		"each line of code": {"```go\na. b\nc\n```\nText.", []string{"a. b", "c", "Text."}},
		"nothing":           {" \n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range Sentences(c.text) {
				got = append(got, c.text[s.Start:s.End])
				if line := strings.Count(c.text[:s.Start], "\n"); s.Line != line {
					t.Errorf("%q is on line %d, not %d", c.text[s.Start:s.End], line, s.Line)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSentenceEndIncludesTrailingSpace(t *testing.T) {
	for text, want := range map[string]string{
		"One. Two.": "One. ", "Dr. Who.  Two": "Dr. Who.  ", "one\ntwo": "one\n", "你好。再见": "你好。",
		"no end": "no end", "": "",
	} {
		if got := text[:SentenceEnd(text)]; got != want {
			t.Errorf("%q begins with %q, want %q", text, got, want)
		}
	}
}

func TestTokensOf(t *testing.T) {
	for text, want := range map[string]string{
		"**Bold**ness don’t":            "boldness dont",
		"1,250.50 of €45, −3 °C":        "1250.50 of 45 € - 3 ° c",
		"10 mW is not 10 MW":            "10 mW is not 10 MW",
		"[a link](https://x.y) [[n|m]]": "a link m",
		"1. first\n+ second":            "first second",
		"我在":                            "我 在",
		"résumé re\u0301sume\u0301":     "résumé résumé",
	} {
		var got []string
		for _, token := range Tokens(text) {
			got = append(got, token.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, strings.Join(got, " "), want)
		}
	}
}
