package turn

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
)

const (
	// MaxSteps bounds a plan.
	MaxSteps = 8
	// MaxTurnSteps bounds the steps of a turn, those of all its plans and workers.
	MaxTurnSteps = 25
)

// LeaveOut notes what of a plan was left out or changed, each once, for the
// explainer and the end of the turn.
func (w *Runner) LeaveOut(dropped []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range dropped {
		if !slices.Contains(w.dropped, d) {
			w.dropped = append(w.dropped, d)
		}
	}
}

// Dropped is what of the plans was left out or changed, and why.
func (w *Runner) Dropped() []string { return w.dropped }

// Plan keeps a plan before any of it is done, and returns the steps that the
// turn has room for. reports names what of other workers was in its prompt:
// what a model made of text is untrusted to the next one.
func (w *Runner) Plan(ctx context.Context, made agent.PlanMade, reports ...string) ([]agent.Step, error) {
	for _, step := range made.Steps {
		w.NoteWriter(step.Tool)
	}
	made.Steps = made.Steps[:w.takeSteps(len(made.Steps))]
	if made.Under == "" {
		w.Again = made.Again
	}
	from := w.record.ReadSoFar()
	from.Untrusted = append(from.Untrusted, reports...)
	w.record.Planned(made.Steps, from)
	if !made.Fallback {
		w.LeaveOut(made.Dropped)
	}
	if err := w.events.Enter(ctx, agent.Entry{Moment: agent.Planned, Plan: &made, Said: w.events.Said(), Untrusted: from.Untrusted}); err != nil {
		return nil, err
	}
	w.events.Emit(made)
	return made.Steps, nil
}

// SavedPlan is the next plan that the turn, or the attempt of a worker, had
// made before it was cut. false: there is none, and one is to be made.
func (w *Runner) SavedPlan(under string, attempt int) (steps []agent.Step, saved bool, err error) {
	w.mu.Lock()
	at := slices.IndexFunc(w.Saved.plans, func(p agent.Entry) bool { return p.Plan.Under == under && p.Plan.Attempt == attempt })
	if at < 0 {
		w.mu.Unlock()
		if w.Saved.damaged && len(w.Found) == w.Attached {
			return nil, false, agent.ErrDamaged
		}
		return nil, false, nil
	}
	entry := w.Saved.plans[at]
	w.Saved.plans = slices.Delete(w.Saved.plans, at, at+1)
	w.mu.Unlock()
	made := *entry.Plan
	for _, step := range made.Steps {
		w.NoteWriter(step.Tool)
	}
	w.record.MarkUntrusted(entry.Untrusted...) // it may not be found again, and what comes of the plan is made of it
	w.record.Planned(made.Steps, w.record.ReadSoFar())
	if under == "" {
		w.Again = made.Again
		w.events.Say(strings.TrimPrefix(entry.Said, w.events.Said()))
	}
	w.takeSteps(len(made.Steps))
	if !made.Fallback {
		w.LeaveOut(made.Dropped)
	}
	w.events.Emit(made)
	return made.Steps, true, nil
}

// WithoutDone leaves out the steps whose very calls were made before; the
// others use those results instead.
func (w *Runner) WithoutDone(steps []agent.Step) []agent.Step {
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	done := map[string]string{} // by the id of a step that is left out, the step that made its call
	steps = slices.DeleteFunc(steps, func(s agent.Step) bool {
		twin := w.calls.made[sameCall(s.Tool, s.Input)]
		if twin != nil {
			done[s.ID] = twin.step
		}
		return twin != nil
	})
	for i := range steps {
		steps[i].Input = renameReferences(steps[i].Input, done)
		for j, id := range steps[i].After {
			if twin := done[id]; twin != "" {
				steps[i].After[j] = twin
			}
		}
		slices.Sort(steps[i].After)
		steps[i].After = slices.Compact(steps[i].After)
	}
	return steps
}

// RoomForSteps is how many more steps the turn may make.
func (w *Runner) RoomForSteps() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return MaxTurnSteps - w.stepsMade
}

// takeSteps counts steps, and returns how many of them the turn may make.
// Workers ask side by side.
func (w *Runner) takeSteps(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = min(n, MaxTurnSteps-w.stepsMade)
	w.stepsMade += n
	return n
}
