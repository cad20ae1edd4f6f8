package turn

import (
	"context"

	"lifehub/agent"
	"lifehub/agent/gate"
)

// noModel is who answers where no model is connected: its rules know nothing by heart.
const noModel = "offline"

// holdDraft keeps back what the model says before any call, where the notes may be
// searched unasked: it may be said from memory.
func (t *turn) holdDraft(ctx context.Context) {
	search, ok := t.searchStep(t.steps.Tools)
	if !ok || t.agent.ModelName() == noModel {
		return
	}
	if v := t.gate.Verdict(ctx, gate.Call{Tool: t.steps.Tool(search.Tool), Input: search.Input}); v.Level == agent.Auto {
		t.answer.HoldDraft()
	}
}

// lookUp searches the notes for a message that was answered from memory. If something
// fits, the model answers again from it; else the answer is marked.
func (t *turn) lookUp(ctx context.Context) error {
	if !t.answer.IsDraft() || len(t.steps.Writers()) > 0 || !t.answer.HasSaid() || RestsOn(t.answer.Said(), t.answer.LastAnswer()) {
		return nil
	}
	steps, saved, err := t.steps.SavedPlan("", 0)
	if err != nil {
		return err
	}
	if search, ok := t.searchStep(t.steps.Tools); ok && !saved {
		taken := map[string]bool{}
		for _, id := range IDs(t.steps.Found) {
			taken[id] = true
		}
		search.ID, search.Extra = UniqueID("", taken), true
		steps, err = t.steps.Plan(ctx, agent.PlanMade{Mode: t.mode, Before: Steps(t.steps.Found[t.steps.Attached:]), Steps: []agent.Step{search}})
		if err != nil {
			return err
		}
	}
	if err := t.steps.RunPlan(ctx, steps); err != nil {
		return err
	}
	if !fits(t.steps.Found[len(t.steps.Found)-len(steps):]) {
		t.withoutNotes = !t.recalled.Fits()
		return nil
	}
	t.events.Emit(agent.Thought{Content: t.answer.TakeDraft()})
	t.events.Cut = false
	return t.answer.Explain(ctx)
}

// fits reports whether a search brought what likely answers.
func fits(found []Finding) bool {
	for _, f := range found {
		if f.Status == agent.Done && !f.Result.Nothing && !f.Result.Unlikely {
			return true
		}
	}
	return false
}
