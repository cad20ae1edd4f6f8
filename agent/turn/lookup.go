package turn

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/prompt"
)

// isFromMemory reports whether an answer comes from the model's memory: nothing else
// is known, and it makes a claim of its own.
func (t *turn) isFromMemory(answer string) bool {
	return t.knowsNothing() && strings.TrimSpace(answer) != "" && !t.needsNoSource(answer)
}

// knowsNothing reports whether the search for the message as typed found nothing that
// fits, the notes are not in the prompt, no other tool was called and no text was
// written.
func (t *turn) knowsNothing() bool {
	i := slices.IndexFunc(t.steps.found, func(f finding) bool { return f.step.Extra })
	if i < 0 || fits(t.steps.found[i:i+1]) || t.answer.whole > 0 || t.recalled.Fits() {
		return false
	}
	return !t.steps.hasCalled() && !t.steps.haveWritten() && len(t.steps.writingTools()) == 0
}

// searchAsTyped returns a search of the notes for the message as typed; false if the
// message needs none or calls a tool, or if the search would have to ask.
func (t *turn) searchAsTyped(ctx context.Context) (agent.Step, bool) {
	if q := t.message.question; t.steps.attached > 0 || strings.HasPrefix(q, "@") || strings.HasPrefix(q, "/") ||
		needsNoNotes(q) {
		return agent.Step{}, false
	}
	search, ok := t.searchStep()
	search.Extra = true
	return search, ok && t.allows(ctx, search)
}

// searchFirst searches the notes for the message as typed before the model is
// asked, so that an ordinary question takes one request. What is an unlikely
// answer is dropped, and so are passages from outside below one of the user's own,
// because they would make later calls ask. A turn that is resumed repeats the
// search as its first round.
func (t *turn) searchFirst(ctx context.Context) error {
	search, ok := t.searchAsTyped(ctx)
	if !ok || t.saved.hasPlan() {
		return nil
	}
	before := t.record.Origin()
	steps, err := t.enterPlan(ctx, agent.PlanMade{Mode: t.mode, Steps: []agent.Step{search}}, before)
	if err != nil || len(steps) == 0 {
		return err
	}
	if err := t.runPlan(ctx, steps, nil); err != nil {
		return err
	}
	first := &t.steps.found[len(t.steps.found)-1].Result
	if !fits(t.steps.found) {
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

// foundFirst describes what the first search found that is not in the prompt already;
// nil if there was none.
func (t *turn) foundFirst() (parts []prompt.Part) {
	t.number(t.steps.found)
	for _, f := range t.steps.found {
		if !f.step.Extra || f.Status != agent.Done {
			continue
		}
		if f.Result.Nothing && t.answer.whole == 0 {
			return []prompt.Part{{Kind: "results", Head: "The notes were searched for the message below, and nothing fits."}}
		}
		for _, s := range t.sourcesOf([]finding{f}) {
			if t.answer.numberOf(s) > t.answer.whole { // the others are at the prompt's beginning
				parts = append(parts, t.sourcePart(s))
			}
		}
	}
	return parts
}

// allows reports whether a step may run without asking.
func (t *turn) allows(ctx context.Context, step agent.Step) bool {
	return t.gate.Verdict(ctx, gate.Call{
		Tool:  t.tool(step.Tool),
		Input: agent.ParseArgs(step.Input),
	}).Level == agent.Auto
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

// fewPassages is how many passages a small model gets: three were better than
// five or eight for one of 1.5 billion parameters.
const fewPassages = 3

// searchStep returns a search of the notes for the question; false if there is
// no tool for it.
func (t *turn) searchStep() (agent.Step, bool) {
	tool := t.toolFor(agent.SearchesNotes)
	if tool == nil {
		return agent.Step{}, false
	}
	spec, input := tool.Spec(), map[string]any{"query": t.agent.Redact.Known(t.topic())}
	if _, limited := agent.ShapeOf(spec.Schema).Properties["limit"]; limited {
		input["limit"] = t.agent.Limits.Passages
		if t.traits.Small {
			input["limit"] = min(fewPassages, t.agent.Limits.Passages)
		}
	}
	raw, err := json.Marshal(input)
	return agent.Step{ID: "1", Tool: spec.Name, Input: raw, Description: "Search the notes for the question"},
		err == nil
}
