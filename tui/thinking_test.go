package tui

import (
	"testing"

	"lifehub/agent"
	"lifehub/internal/chattest"
)

func TestWorkersThinkInRowsOfTheirOwn(t *testing.T) {
	told := append(teamwork[:len(teamwork):len(teamwork)],
		agent.Thought{Agent: "notes", Step: "1", Content: "one two "}, agent.Thought{Agent: "search", Step: "2", Content: "<b>red</b> "},
		agent.Thought{Agent: "notes", Step: "1", Content: "three"}, agent.Thought{Agent: "evaluator", Step: "1", Content: "judging"},
		agent.PhaseEnded{Agent: "notes", Step: "1", Attempt: 2})
	inRig(t, 100, 40, chattest.WithWorld(chattest.Hold(told...)), func(r *rig) {
		r.ask("Tips?")
		r.mustShow("1 notes: thought for")
		r.mustShow("· 3 words")
		r.mustShow("1 evaluator: thought for")
		r.mustShow("2 search: thinking · 1 word")
		r.keys("ctrl+o")
		r.mustShow("one two three")
		r.keys("esc")
		r.pass(100_000_000)
		r.mustShow("2 search: thought for")
	})
}
