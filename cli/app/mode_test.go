package app

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

func TestModeFitsTheModel(t *testing.T) {
	for name, tc := range map[string]struct {
		state  llm.State
		window int
		mode   agent.Mode
		why    string
	}{
		"no model":               {llm.State{Provider: "offline"}, 0, agent.PlanMode, "no model"},
		"no tools":               {llm.State{Model: "gemma2", Parameters: "9.2B"}, 16384, agent.PlanMode, "calls no tools"},
		"small":                  {llm.State{Model: "qwen3:4b", Tools: true, Parameters: "4.0B"}, 16384, agent.PlanMode, "4.0B"},
		"very small":             {llm.State{Model: "smollm2", Tools: true, Parameters: "134.52M"}, 16384, agent.PlanMode, "134.52M"},
		"little window":          {llm.State{Model: "qwen3:8b", Tools: true, Parameters: "8.2B"}, 4096, agent.PlanMode, "4,096"},
		"large":                  {llm.State{Model: "qwen3:8b", Tools: true, Parameters: "8.2B"}, 8192, agent.LoopMode, "calls tools"},
		"just large enough":      {llm.State{Model: "mistral", Tools: true, Parameters: "7B"}, 8192, agent.LoopMode, "calls tools"},
		"very large":             {llm.State{Model: "kimi", Tools: true, Parameters: "1.0T"}, 131072, agent.LoopMode, "calls tools"},
		"no size, no window":     {llm.State{Model: "served", Tools: true}, 0, agent.LoopMode, "calls tools"},
		"a size that is no size": {llm.State{Model: "served", Tools: true, Parameters: "mid-sized"}, 0, agent.LoopMode, "calls tools"},
	} {
		if mode, why := fitting(tc.state, tc.window); mode != tc.mode || !strings.Contains(why, tc.why) {
			t.Errorf("%s: got %s, %s; want %s, %s", name, mode, why, tc.mode, tc.why)
		}
	}
}
