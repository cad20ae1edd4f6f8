package turn

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
)

// plan journals a plan before it is run, and returns the steps that the turn
// has room for. from is the origin of the prompt in which it was made.
func (t *turn) enterPlan(ctx context.Context, made agent.PlanMade, from agent.Origin) ([]agent.Step, error) {
	for _, step := range made.Steps {
		t.noteWriter(step.Tool)
	}
	made.Steps = made.Steps[:t.steps.takeSteps(len(made.Steps))]
	t.steps.countPlan(made)
	t.record.Planned(made.Steps, from)
	t.steps.lacks(made)
	if err := t.events.Enter(ctx, agent.Entry{
		Moment: agent.Planned, Plan: &made, Said: t.events.Text(), Origin: from,
		Requested: t.command != nil,
	}); err != nil {
		return nil, err
	}
	t.events.Emit(made)
	return made.Steps, nil
}

// savedPlan returns the next plan that the turn, or an attempt of a worker,
// made before it was interrupted. It reports false if there is none, so that a
// new one has to be made.
func (t *turn) savedPlan(under string, attempt int) (steps []agent.Step, saved bool, err error) {
	t.steps.mu.Lock()
	at := slices.IndexFunc(t.saved.plans, func(p agent.Entry) bool {
		return p.Plan.Under == under &&
			p.Plan.Attempt == attempt
	})
	if at < 0 {
		t.steps.mu.Unlock()
		if t.saved.damaged && len(t.steps.found) == t.steps.attached {
			return nil, false, agent.ErrDamaged
		}
		return nil, false, nil
	}
	entry := t.saved.plans[at]
	t.saved.plans = slices.Delete(t.saved.plans, at, at+1)
	t.steps.mu.Unlock()
	made := *entry.Plan
	for _, step := range made.Steps {
		t.noteWriter(step.Tool)
	}
	t.record.Add(entry.Origin)
	if from := entry.Origin; entry.Requested {
		t.record.Planned(made.Steps, from)
	} else {
		t.record.Planned(made.Steps, t.record.Origin())
	}
	t.steps.countPlan(made)
	if under == "" {
		t.events.Say(strings.TrimPrefix(entry.Said, t.events.Text()))
	}
	t.steps.takeSteps(len(made.Steps))
	t.steps.lacks(made)
	t.events.Emit(made)
	return made.Steps, true, nil
}

// withoutDone removes steps whose identical calls were already made. Other
// steps use those results instead.
func (t *turn) withoutDone(steps []agent.Step) []agent.Step {
	t.steps.calls.mu.Lock()
	defer t.steps.calls.mu.Unlock()
	done := map[string]string{} // by the id of a removed step: the step that made its call
	steps = slices.DeleteFunc(steps, func(s agent.Step) bool {
		same := t.steps.calls.made[sameCall(s.Tool, agent.ParseArgs(s.Input))]
		if same != nil {
			done[s.ID] = same.step
		}
		return same != nil
	})
	for i := range steps {
		steps[i].Input = renameReferences(steps[i].Input, done)
		for j, id := range steps[i].After {
			if same := done[id]; same != "" {
				steps[i].After[j] = same
			}
		}
		slices.Sort(steps[i].After)
		steps[i].After = slices.Compact(steps[i].After)
	}
	return steps
}
