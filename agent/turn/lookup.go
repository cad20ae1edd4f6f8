package turn

import (
	"context"

	"lifehub/agent"
	"lifehub/agent/answer"
	"lifehub/agent/gate"
	"lifehub/agent/work"
)

// noModel is who answers where no model is connected: its rules know nothing by heart.
const noModel = "offline"

// holdDraft keeps back what the model says before any call, where the notes may be
// searched unasked: it may be said from memory.
func (t *turn) holdDraft(ctx context.Context) {
	search, ok := t.searchStep(t.Tools)
	if !ok || t.agent.ModelName() == noModel {
		return
	}
	if v := t.Verdict(ctx, gate.Call{Tool: t.Tool(search.Tool), Input: search.Input}); v.Level == agent.Auto {
		t.HoldDraft()
	}
}

// lookUp searches the notes for a message that was answered from memory. If something
// fits, the model answers again from it; else the answer is marked.
func (t *turn) lookUp(ctx context.Context) error {
	if !t.IsDraft() || len(t.Writers()) > 0 || !t.HasSaid() || answer.RestsOn(t.Said(), t.LastAnswer()) {
		return nil
	}
	steps, saved, err := t.SavedPlan("", 0)
	if err != nil {
		return err
	}
	if search, ok := t.searchStep(t.Tools); ok && !saved {
		taken := map[string]bool{}
		for _, id := range work.IDs(t.Found) {
			taken[id] = true
		}
		search.ID, search.Extra = work.UniqueID("", taken), true
		steps, err = t.Plan(ctx, agent.PlanMade{Mode: t.Mode, Before: work.Steps(t.Found[t.Attached:]), Steps: []agent.Step{search}})
		if err != nil {
			return err
		}
	}
	if err := t.RunPlan(ctx, steps); err != nil {
		return err
	}
	if !fits(t.Found[len(t.Found)-len(steps):]) {
		t.withoutNotes = !t.Fits()
		return nil
	}
	t.Emit(agent.Thought{Content: t.TakeDraft()})
	t.Cut = false
	return t.Explain(ctx)
}

// fits reports whether a search brought what likely answers.
func fits(found []work.Finding) bool {
	for _, f := range found {
		if f.Status == agent.Done && !f.Result.Nothing && !f.Result.Unlikely {
			return true
		}
	}
	return false
}
