package turn

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
)

const (
	// maxSteps bounds the steps of a plan.
	maxSteps = 8
	// maxTurnSteps bounds the steps of a turn, over all its plans and workers.
	maxTurnSteps = 25
)

// leaveOut records what was left out of a plan or changed, for the explainer
// and the end of the turn.
func (w *runner) leaveOut(dropped []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range dropped {
		if !slices.Contains(w.dropped, d) {
			w.dropped = append(w.dropped, d)
		}
	}
}

// lacks records what a plan lacks of what the model wanted.
func (w *runner) lacks(made agent.PlanMade) {
	if made.Fallback {
		w.unplanned = true
	} else {
		w.leaveOut(made.Dropped)
	}
}

// plan journals a plan before it is run, and returns the steps that the turn
// has room for. from is the origin of the prompt in which it was made.
func (w *runner) plan(ctx context.Context, made agent.PlanMade, from agent.Origin) ([]agent.Step, error) {
	for _, step := range made.Steps {
		w.noteWriter(step.Tool)
	}
	made.Steps = made.Steps[:w.takeSteps(len(made.Steps))]
	w.countPlan(made)
	w.record.Planned(made.Steps, from)
	w.lacks(made)
	if err := w.events.Enter(ctx, agent.Entry{Moment: agent.Planned, Plan: &made, Said: w.events.Text(), Origin: from}); err != nil {
		return nil, err
	}
	w.events.Emit(made)
	return made.Steps, nil
}

// countPlan notes that a plan of the turn itself was made or replayed.
func (w *runner) countPlan(made agent.PlanMade) {
	if made.Under != "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again = made.Again
	w.plansMade++
}

// planCount returns the number of plans of the turn itself so far.
func (w *runner) planCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plansMade
}

// savedPlan returns the next plan that the turn, or an attempt of a worker,
// made before it was interrupted. It reports false if there is none, so that a
// new one has to be made.
func (w *runner) savedPlan(under string, attempt int) (steps []agent.Step, saved bool, err error) {
	w.mu.Lock()
	at := slices.IndexFunc(w.saved.plans, func(p agent.Entry) bool { return p.Plan.Under == under && p.Plan.Attempt == attempt })
	if at < 0 {
		w.mu.Unlock()
		if w.saved.damaged && len(w.found) == w.attached {
			return nil, false, agent.ErrDamaged
		}
		return nil, false, nil
	}
	entry := w.saved.plans[at]
	w.saved.plans = slices.Delete(w.saved.plans, at, at+1)
	w.mu.Unlock()
	made := *entry.Plan
	for _, step := range made.Steps {
		w.noteWriter(step.Tool)
	}
	w.record.Add(entry.Origin)
	w.record.Planned(made.Steps, w.record.Origin())
	w.countPlan(made)
	if under == "" {
		w.events.Say(strings.TrimPrefix(entry.Said, w.events.Text()))
	}
	w.takeSteps(len(made.Steps))
	w.lacks(made)
	w.events.Emit(made)
	return made.Steps, true, nil
}

// withoutDone removes steps whose identical calls were already made. Other
// steps use those results instead.
func (w *runner) withoutDone(steps []agent.Step) []agent.Step {
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	done := map[string]string{} // by the id of a removed step: the step that made its call
	steps = slices.DeleteFunc(steps, func(s agent.Step) bool {
		same := w.calls.made[sameCall(s.Tool, args.Read(s.Input))]
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

// roomForSteps returns how many more steps the turn may make.
func (w *runner) roomForSteps() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maxTurnSteps - w.stepsMade
}

// takeSteps reserves up to n steps and returns how many. Workers call it
// concurrently.
func (w *runner) takeSteps(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = min(n, maxTurnSteps-w.stepsMade)
	w.stepsMade += n
	return n
}
