package app

import (
	"strings"
	"testing"

	"lifehub/agent/turn"
	"lifehub/llm"
)

func TestTraitsFitTheModel(t *testing.T) {
	small, printed, native := turn.Traits{Small: true, Native: true}, turn.Traits{}, turn.Traits{Native: true}
	for name, tc := range map[string]struct {
		state  llm.State
		window int
		rate   float64
		want   turn.Traits
		why    string
	}{
		"no tools": {llm.State{Model: "gemma2", Parameters: 9.2e9}, 16384, 0, printed, "calls no tools"},
		"small":    {llm.State{Model: "qwen3:4b", Tools: true, Parameters: 4e9}, 16384, 0, small, "4B"},
		"very small": {
			llm.State{Model: "smollm2", Tools: true, Parameters: 134.52e6},
			16384, 0, small, "0.135B",
		},
		"little window": {llm.State{Model: "qwen3:8b", Tools: true, Parameters: 8.2e9}, 4096, 0, small, "4,096"},
		"large": {
			llm.State{Model: "qwen3:8b", Tools: true, Parameters: 8.2e9},
			8192, 0,
			native, "calls tools natively",
		},
		"just large enough": {
			llm.State{Model: "mistral", Tools: true, Parameters: 7e9},
			8192, 0,
			native, "calls tools natively",
		},
		"on another machine": {
			llm.State{Model: "kimi", Tools: true, Parameters: 1e12},
			131072, 0,
			turn.Traits{Native: true},
			"calls tools natively",
		},
		"no size, slow": {llm.State{Model: "served", Tools: true}, 16384, 19.9, small, "20 tokens"},
		"no size, fast": {llm.State{Model: "served", Tools: true}, 16384, 20, native, "unknown"},
		"large and slow": {
			llm.State{Model: "qwen3:8b", Tools: true, Parameters: 8.2e9},
			16384, 3,
			native, "calls tools natively",
		},
		"no size, no window": {llm.State{Model: "served", Tools: true}, 0, 0, native, "unknown"},
	} {
		if got, why := traits(tc.state, tc.window, tc.rate); got != tc.want || !strings.Contains(why, tc.why) {
			t.Errorf("%s: got %+v, %s; want %+v, %s", name, got, why, tc.want, tc.why)
		}
	}
}
