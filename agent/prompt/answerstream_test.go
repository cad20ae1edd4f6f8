package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An answer is streamed while it is written, however its JSON is split.
func TestAnswerIsStreamedOutOfItsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := strings.TrimSpace(rapid.String().Draw(t, "answer"))
		fields := rapid.Permutation([]string{"reasoning", "kind", "answer", "steps", "note"}).Draw(t, "order")
		var parts []string
		for _, field := range fields {
			value := map[string]any{"answer": " " + want + "\n", "kind": "last \"answer\"", "steps": []any{}, "reasoning": "a \"steps\": [{ 1", "note": map[string]any{"answer": "no", "kind": "no", "x": []any{"answer", 1}}}[field]
			raw, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, fmt.Sprintf("%q: %s", field, raw))
		}
		text := "Sure:\n```json\n{" + strings.Join(parts, ", ") + "}\n```"
		var got strings.Builder
		stream := AnswerStream{Say: func(s string) { got.WriteString(s) }}
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "cut")
			stream.Add(text[:n])
			text = text[n:]
		}
		if !equalText(got.String(), want) {
			t.Fatalf("got %q, want %q", got.String(), want)
		}
		if stream.Kind != "last \"answer\"" {
			t.Fatalf("the kind is %q", stream.Kind)
		}
	})
}

// An escape, or a surrogate pair, that arrives in parts is decoded as a whole.
func TestSplitEscapesAreDecoded(t *testing.T) {
	const text = `{"answer":"a\u00e4\ud83d\ude00b\ud83d c\"\\\td😀\$"}`
	const want = "aä😀b\ufffd c\"\\\td😀" + `\$`
	for first := range len(text) {
		for second := first; second < len(text); second++ {
			var got strings.Builder
			stream := AnswerStream{Say: func(s string) { got.WriteString(s) }}
			for _, piece := range []string{text[:first], text[first:second], text[second:]} {
				stream.Add(piece)
			}
			if got.String() != want {
				t.Fatalf("cut at %d and %d: %q", first, second, got.String())
			}
		}
	}
}

// equalText compares texts as JSON stores them, with invalid UTF-8 replaced.
func equalText(a, b string) bool {
	return strings.TrimSpace(strings.ToValidUTF8(a, "\ufffd")) == strings.TrimSpace(strings.ToValidUTF8(b, "\ufffd"))
}

func TestPlanWithStepsStreamsNoAnswer(t *testing.T) {
	stream := AnswerStream{Say: func(s string) { t.Errorf("said %q", s) }}
	stream.Add(`{"reasoning":"","steps":[{"id":"1","tool":"find","input":{"answer":"no"}}],"answer":"I looked."}`)
}
