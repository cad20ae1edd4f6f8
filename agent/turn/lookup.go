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
	search, ok := t.searchStep(t.Team.Answer.Worker.Tools)
	if !ok || t.agent.ModelName() == noModel {
		return
	}
	if v := t.Team.Answer.Worker.Guard.Verdict(ctx, gate.Call{Tool: t.Team.Answer.Worker.Tool(search.Tool), Input: search.Input}); v.Level == agent.Auto {
		t.Team.Answer.HoldDraft()
	}
}

// lookUp searches the notes for a message that was answered from memory. If something
// fits, the model answers again from it; else the answer is marked.
func (t *turn) lookUp(ctx context.Context) error {
	if !t.Team.Answer.IsDraft() || len(t.Team.Answer.Worker.Writers()) > 0 || !t.Team.Answer.HasSaid() || RestsOn(t.Team.Answer.Said(), t.Team.Answer.LastAnswer()) {
		return nil
	}
	steps, saved, err := t.Team.Answer.Worker.SavedPlan("", 0)
	if err != nil {
		return err
	}
	if search, ok := t.searchStep(t.Team.Answer.Worker.Tools); ok && !saved {
		taken := map[string]bool{}
		for _, id := range IDs(t.Team.Answer.Worker.Found) {
			taken[id] = true
		}
		search.ID, search.Extra = UniqueID("", taken), true
		steps, err = t.Team.Answer.Worker.Plan(ctx, agent.PlanMade{Mode: t.Team.Mode, Before: Steps(t.Team.Answer.Worker.Found[t.Team.Answer.Worker.Attached:]), Steps: []agent.Step{search}})
		if err != nil {
			return err
		}
	}
	if err := t.Team.Answer.Worker.RunPlan(ctx, steps); err != nil {
		return err
	}
	if !fits(t.Team.Answer.Worker.Found[len(t.Team.Answer.Worker.Found)-len(steps):]) {
		t.withoutNotes = !t.Team.Answer.Recalled.Fits()
		return nil
	}
	t.Team.Answer.Asker.Stream.Emit(agent.Thought{Content: t.Team.Answer.TakeDraft()})
	t.Team.Answer.Asker.Stream.Cut = false
	return t.Team.Answer.Explain(ctx)
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
