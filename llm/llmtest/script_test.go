package llmtest

import (
	"context"
	"errors"
	"testing"

	"lifehub/llm"
)

func ask(s *Script, ctx context.Context, text string) (string, error) {
	m, _, err := llm.Collect(s.Stream(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}))
	return m.Text, err
}

func TestScriptAnswersInOrderAndByMatch(t *testing.T) {
	s := NewScript(Answer{Match: "plan", Text: "a plan"}, Answer{
		Match: "again", Text: "always",
		Always: true,
	}).Say("first", "second")
	for _, c := range [][2]string{
		{"hello", "first"},
		{"plan it", "a plan"},
		{"again", "always"},
		{"again", "always"},
		{"plan it", "second"},
	} {
		if got, err := ask(s, t.Context(), c[0]); err != nil || got != c[1] {
			t.Errorf("%q: got %q, %v", c[0], got, err)
		}
	}
	if _, err := ask(s, t.Context(), "more"); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("at its end: got %v", err)
	}
	if n := len(s.Requests()); n != 6 {
		t.Errorf("it kept %d requests", n)
	}
}

func TestScriptedAnswerCanBeCutAndHeld(t *testing.T) {
	s := NewScript(
		Answer{Text: "half of it", Err: llm.ErrCut, Calls: []llm.ToolCall{{Name: "x"}}},
		Answer{Text: "one two three", Hold: make(chan struct{}), HoldAfter: 1},
	)
	m, _, err := llm.Collect(s.Stream(t.Context(), llm.Request{}))
	if !errors.Is(err, llm.ErrCut) || m.Text != "half of it" || len(m.Calls) > 0 {
		t.Errorf("cut: got %+v, %v", m, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text := ""
	for d, err := range s.Stream(ctx, llm.Request{}) {
		if text += d.Text; text == "one " {
			cancel()
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("held: got %v", err)
		}
	}
	if text != "one " {
		t.Errorf("held: got %q", text)
	}
}
