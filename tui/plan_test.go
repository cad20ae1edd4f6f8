package tui

import (
	"testing"

	"lifehub/agent"
	"lifehub/internal/chattest"
)

// In the loop no phase of a plan writes the answer: its row goes away when the
// answer is there, also where a call failed.
func TestFinishedAnswerIsNotShownAsSkipped(t *testing.T) {
	o := chattest.WithWorld(chattest.Play(
		agent.Started{Message: "Hi", Mode: "loop"},
		agent.PlanMade{Mode: agent.LoopMode, Steps: []agent.Step{{
			ID: "1", Tool: "read_note",
			Input: chattest.Raw(`{"path":"x.md"}`),
		}}},
		agent.StepChanged{Step: "1", Status: agent.Running},
		agent.StepChanged{Step: "1", Status: agent.StepFailed, Reason: "there is no note x.md"},
		agent.Said{Content: "There is no such note."},
		agent.Ended{Answer: "There is no such note."},
	))
	inRig(t, 100, 30, o, func(r *rig) {
		r.ask("Hi")
		r.mustShow("There is no such note.")
		r.mustShow("failed: there is no note x.md")
		r.mustNotShow("skipped")
	})
}
