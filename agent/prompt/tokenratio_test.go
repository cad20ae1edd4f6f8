package prompt

import (
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/llm"
)

func TestPromptTruncatedByTheServerIsNoticed(t *testing.T) {
	for name, tc := range map[string]struct {
		estimate, fresh, counted, window int
		told                             bool
	}{
		"as expected":                   {4000, 4000, 3400, 16384, false},
		"the window is full":            {12000, 12000, 16384, 16384, true},
		"one short of it":               {12000, 12000, 16383, 16384, true},
		"a usual window":                {5000, 5000, 4096, 16384, true},
		"more than the window was read": {12000, 12000, 17000, 16384, false},
		"a short prompt":                {3000, 3000, 4096, 16384, false},
		"a part was dropped":            {8000, 8000, 3000, 16384, true},
		"that part was sent before":     {8000, 4000, 3000, 16384, false},
		"the server does not count":     {8000, 8000, 0, 16384, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := Meters{By: map[string]agent.TokenRatio{"m": {Scale: 0.9}}}
			if told := s.Counted(t.Context(), "m", tc.estimate, tc.fresh, tc.counted, tc.window); told != tc.told {
				t.Errorf("told: %t", told)
			}
			if s.Counted(t.Context(), "m", tc.estimate, tc.fresh, tc.counted, tc.window) {
				t.Error("told twice")
			}
		})
	}
}

// A count that is suspiciously small, rightly or not, shortens no later prompt.
func TestSuspicionDoesNotGrow(t *testing.T) {
	s := Meters{By: map[string]agent.TokenRatio{"m": {Scale: 1.2}}}
	for range 20 {
		s.Counted(t.Context(), "m", 8000, 8000, 4800, 16384)
	}
	if got := s.Of(t.Context(), "m").Scale; got > 1.2 {
		t.Errorf("the ratio grew to %v", got)
	}
}

// Whatever a server counts, the learned ratio stays within bounds, and the next prompt of the same
// kind is not underestimated.
func TestLearnedRatioIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Meters{By: map[string]agent.TokenRatio{}}
		for range rapid.IntRange(1, 60).Draw(t, "prompts") {
			estimate, counted := rapid.IntRange(1, 30_000).Draw(t, "estimate"),
				rapid.IntRange(0, 1<<30).Draw(t, "counted")
			s.Counted(t.Context(), "m", estimate, estimate, counted,
				rapid.SampledFrom([]int{0, 2048, 16384}).Draw(t, "window"))
			if scale := Scale(s.Of(t.Context(), "m"), true); scale < leastScale || scale > margin*mostPlausible {
				t.Fatalf("scale %v", scale)
			}
		}
		tokenizer, estimate := rapid.Float64Range(leastScale, 4).Draw(t,
			"tokens of the server for one of the estimate"), rapid.IntRange(200, 1500).Draw(t, "estimate")
		if s.Counted(t.Context(), "m", estimate, 0, int(tokenizer*float64(estimate)), 0) {
			return
		}
		if most := Scale(s.Of(t.Context(), "m"), true) * 1e4; most < tokenizer*1e4 {
			t.Fatalf("%v tokens were estimated as %v", tokenizer*1e4, most)
		}
	})
}

func TestOnlyMessagesSentBeforeMayBeCached(t *testing.T) {
	t.Parallel()
	s := Meters{}
	message := func(text string) llm.Message { return llm.Message{Role: llm.User, Text: text} }
	a, b, c := message("all that was said"), message("and asked"), message("now")
	for i, step := range []struct {
		model    string
		messages []llm.Message
		want     int
	}{
		{"m", []llm.Message{a, b}, 0},
		{"m", []llm.Message{a, b, c}, Tokens(a.Text) + Tokens(b.Text)},
		{"m", []llm.Message{a, c}, Tokens(a.Text)},
		{"m", []llm.Message{b}, 0},
		{"other", []llm.Message{a}, 0},
	} {
		if got := s.cached(step.model, step.messages); got != step.want {
			t.Errorf("prompt %d: got %d, want %d", i+1, got, step.want)
		}
	}
}
