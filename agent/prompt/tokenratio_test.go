package prompt

import (
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/llm"
)

func TestPromptTruncatedByTheServerIsNoticed(t *testing.T) {
	measured := agent.TokenRatio{High: 0.9}
	cached := []Count{{8000, 2300, 6000}, {8400, 3100, 5000}, {9000, 2200, 7000}, {12000, 5000, 0}, {8000, 900, 0}, {9000, 12, 0}}
	for name, tc := range map[string]struct {
		ratio   agent.TokenRatio
		prompts []Count
		window  int
		refuses bool
		told    bool
		learned int // window size
	}{
		"as expected":                         {measured, []Count{{4000, 3400, 0}}, 16384, false, false, 0},
		"the window is full":                  {measured, []Count{{12000, 16384, 0}, {12000, 16384, 0}}, 16384, true, true, 0},
		"counts without what was cached":      {measured, cached, 16384, false, false, 0},
		"the same of a new model":             {agent.TokenRatio{}, cached, 16384, false, false, 0},
		"one count of a usual window":         {measured, []Count{{5000, 4096, 0}}, 16384, false, true, 0},
		"more than the window was read":       {measured, []Count{{12000, 17000, 0}, {12000, 1 << 40, 0}}, 16384, true, false, 0},
		"two prompts cut to it":               {measured, []Count{{5000, 4096, 0}, {6000, 4095, 0}}, 16384, false, true, 4096 - 1},
		"two prompts cut to another":          {measured, []Count{{8000, 6000, 0}, {12000, 6000, 0}, {9000, 6000, 0}}, 16384, false, true, 6000},
		"two counts of one prompt":            {measured, []Count{{8000, 3000, 0}, {8000, 3000, 0}}, 16384, false, false, 0},
		"less than any server cuts to":        {measured, []Count{{8000, 300, 0}, {12000, 300, 0}}, 16384, false, false, 0},
		"where nothing is cut in silence":     {measured, []Count{{5000, 4096, 0}, {8000, 4096, 0}}, 16384, true, false, 0},
		"the server does not count":           {measured, []Count{{8000, 0, 0}, {12000, 0, 0}}, 16384, false, false, 0},
		"it counts the same whatever is sent": {measured, []Count{{8000, 1000, 0}, {300, 1000, 0}}, 16384, false, false, 0},
		"far less than was sent":              {measured, []Count{{16000, 1800, 0}, {16000, 1900, 0}}, 16384, true, true, 0},
		"the same of any window":              {agent.TokenRatio{}, []Count{{16000, 1800, 0}}, 131072, true, true, 0},
		"the same of no window":               {agent.TokenRatio{}, []Count{{16000, 1800, 0}}, 0, false, true, 0},
		"far less, but most was sent before":  {measured, []Count{{16000, 1800, 13000}}, 16384, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := Meters{By: map[string]agent.TokenRatio{"m": tc.ratio}, Last: map[string]Count{}}
			notices := 0
			for _, c := range tc.prompts {
				if s.Cut(t.Context(), "m", c, tc.window, tc.refuses) {
					notices++
				}
			}
			if g := s.Of(t.Context(), "m"); (notices > 0) != tc.told || notices > 1 || g.Window != tc.learned {
				t.Errorf("told %d times, learned %+v; want told %v, window %d", notices, g, tc.told, tc.learned)
			}
		})
	}
}

// Whatever a server counts and reports, the learned ratio stays within bounds.
func TestLearnedRatioIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Meters{By: map[string]agent.TokenRatio{}, Last: map[string]Count{}}
		for range rapid.IntRange(1, 60).Draw(t, "prompts") {
			if rapid.Bool().Draw(t, "too long") {
				s.Learn(t.Context(), "m", Longer)
			}
			c := Count{rapid.IntRange(1, 30_000).Draw(t, "estimate"), rapid.IntRange(0, 1<<30).Draw(t, "counted"), 0}
			s.Cut(t.Context(), "m", c, rapid.SampledFrom([]int{0, 2048, 16384}).Draw(t, "window"), rapid.Bool().Draw(t, "refuses"))
			g := s.Of(t.Context(), "m")
			if Scale(g, true) < leastScale || Scale(g, true) > margin*mostPlausible || g.Window != 0 && g.Window < leastWindow {
				t.Fatalf("%+v", g)
			}
		}
	})
}

// Once measured, no prompt similar to earlier ones is underestimated.
func TestMeasuredRatioDoesNotUnderestimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g agent.TokenRatio
		tokenizer := rapid.Float64Range(0.3, 4).Draw(t, "tokens of the server for one of the estimate")
		for range rapid.IntRange(1, 40).Draw(t, "prompts") {
			estimate := rapid.IntRange(200, 20_000).Draw(t, "estimate")
			counted := int(tokenizer * rapid.Float64Range(0.95, 1.03).Draw(t, "mixture") * float64(estimate))
			if g.High > 0 && float64(counted) > Scale(g, true)*float64(estimate) {
				t.Fatalf("%d tokens were estimated as %.0f", counted, Scale(g, true)*float64(estimate))
			}
			seen(&g, Count{estimate, counted, 0})
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
