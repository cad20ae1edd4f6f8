package turn

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/gate"
	"lifehub/agent/prompt"
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
	if t.allows(ctx, search) {
		t.answer.holdDraft()
	}
}

// lookUp searches the notes for a message that was answered from memory. If
// something fits, the model answers again, based on it; otherwise the answer is
// marked.
func (t *turn) lookUp(ctx context.Context) error {
	if t.withoutNotes { // as the first search found
		t.withoutNotes = !t.steps.hasCalled() && len(t.steps.writingTools()) == 0 && t.answer.hasText() && !t.answer.needsNoSource()
	}
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

// searchFirst searches the notes for the message as typed before the model is
// asked, so that an ordinary question takes one request. What is an unlikely
// answer is dropped, and so are passages from outside below one of the user's own,
// because they would make later calls ask. A turn that is resumed repeats the
// search as its first round.
func (t *turn) searchFirst(ctx context.Context) error {
	if t.steps.attached > 0 || t.steps.saved.hasPlan() || strings.HasPrefix(t.answer.question, "@") || needsNoNotes(t.answer.question) {
		return nil
	}
	search, ok := t.searchStep(t.steps.tools)
	if !ok || !t.allows(ctx, search) {
		return nil
	}
	search.Extra = true
	before := t.record.Origin()
	steps, err := t.steps.plan(ctx, agent.PlanMade{Mode: t.mode, Steps: []agent.Step{search}}, before)
	if err != nil || len(steps) == 0 {
		return err
	}
	if err := t.steps.runPlan(ctx, steps, nil); err != nil {
		return err
	}
	t.steps.called = false // the model called nothing
	first := &t.steps.found[len(t.steps.found)-1].Result
	if !fits(t.steps.found) {
		t.withoutNotes = !t.recalled.Fits() && t.answer.whole == 0
		t.record.Withdraw(before)
		first.Sources, first.Unlikely, first.Nothing, first.Text = nil, false, true, ""
		return nil
	}
	if end := slices.IndexFunc(first.Sources, func(s agent.Source) bool { return s.Untrusted }); end > 0 {
		t.record.Withdraw(before.And(agent.Own()))
		first.Sources, first.Text = first.Sources[:end], ""
	}
	return nil
}

// foundFirst describes what the first search found; nil if there was none.
func (t *turn) foundFirst() (parts []prompt.Part) {
	t.answer.number(t.steps.found)
	if t.answer.whole > 0 {
		return t.changedSince()
	}
	for _, f := range t.steps.found {
		if !f.step.Extra || f.Status != agent.Done {
			continue
		}
		if f.Result.Nothing {
			return []prompt.Part{{Kind: "results", Head: "The notes were searched for the message below, and nothing fits."}}
		}
		for _, s := range t.answer.sourcesOf([]finding{f}) {
			parts = append(parts, t.answer.sourcePart(s))
		}
	}
	return parts
}

// allows reports whether a step may run without asking.
func (t *turn) allows(ctx context.Context, step agent.Step) bool {
	return t.gate.Verdict(ctx, gate.Call{Tool: t.steps.tool(step.Tool), Input: args.Read(step.Input)}).Level == agent.Auto
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
