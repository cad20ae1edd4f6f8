package turn

import (
	"context"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/gate"
)

// noModel is the name of the model if none is connected. Its rules know nothing
// from memory.
const noModel = "offline"

// holdDraft makes the answer a draft if the notes may be searched without
// asking, because text before any call may come from the model's memory.
func (t *turn) holdDraft(ctx context.Context) {
	search, ok := t.searchStep(t.steps.tools)
	if !ok || t.agent.ModelName() == noModel {
		return
	}
	if v := t.gate.Verdict(ctx, gate.Call{Tool: t.steps.tool(search.Tool), Input: args.Read(search.Input)}); v.Level == agent.Auto {
		t.answer.holdDraft()
	}
}

// lookUp searches the notes for a message that was answered from memory. If
// something fits, the model answers again, based on it; otherwise the answer is
// marked.
func (t *turn) lookUp(ctx context.Context) error {
	if !t.answer.isDraft() || len(t.steps.writingTools()) > 0 || !t.answer.hasText() || t.answer.needsNoSource() {
		return nil
	}
	steps, saved, err := t.steps.savedPlan("", 0)
	if err != nil {
		return err
	}
	if search, ok := t.searchStep(t.steps.tools); ok && !saved {
		taken := map[string]bool{}
		for _, id := range stepIDs(t.steps.found) {
			taken[id] = true
		}
		search.ID, search.Extra = uniqueID("", taken), true
		steps, err = t.steps.plan(ctx, agent.PlanMade{Mode: t.mode, Before: stepsOf(t.steps.found[t.steps.attached:]), Steps: []agent.Step{search}}, t.record.Origin())
		if err != nil {
			return err
		}
	}
	if err := t.steps.runPlan(ctx, steps, nil); err != nil {
		return err
	}
	if !fits(t.steps.found[len(t.steps.found)-len(steps):]) {
		t.withoutNotes = !t.recalled.Fits()
		return nil
	}
	t.events.Emit(agent.Thought{Content: t.answer.takeDraft()})
	t.events.Cut = false
	return t.explain(ctx)
}

// fits reports whether a search found a likely answer.
func fits(found []finding) bool {
	for _, f := range found {
		if f.Status == agent.Done && !f.Result.Nothing && !f.Result.Unlikely {
			return true
		}
	}
	return false
}
