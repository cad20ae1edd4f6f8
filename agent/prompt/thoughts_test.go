package prompt

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestThoughtsAreSeparatedFromTheAnswer(t *testing.T) {
	tests := map[string]struct{ text, thought, said string }{
		"none":                  {"Hello", "", "Hello"},
		"a thought":             {"<think>Hm, </b>.</think>\n\nHello", "Hm, </b>.", "Hello"},
		"white space before it": {"\n <thinking>Hm</thinking>Hello", "Hm", "Hello"},
		"a tag in the answer":   {"Write <think> so.</think>", "", "Write <think> so.</think>"},
		"a tag that is none":    {"<thin>Hello", "", "<thin>Hello"},
		"not closed":            {"<think>Hm <", "Hm <", ""},
		"only a beginning":      {"<thi", "", "<thi"},
		"empty":                 {"<think></think>Hello", "", "Hello"},
		"only white space":      {" \n", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var thought, answer strings.Builder
				s := Thoughts{Say: func(p string) { answer.WriteString(p) }, Think: func(p string) { thought.WriteString(p) }}
				for text := tc.text; text != ""; {
					n := rapid.IntRange(1, len(text)).Draw(t, "cut")
					s.Add(text[:n])
					text = text[n:]
				}
				s.Flush()
				if thought.String() != tc.thought || answer.String() != tc.said {
					t.Fatalf("thought %q, said %q", thought.String(), answer.String())
				}
			})
		})
	}
}
