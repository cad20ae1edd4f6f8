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
func (s *steps) leaveOut(dropped []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range dropped {
		if !slices.Contains(s.dropped, d) {
			s.dropped = append(s.dropped, d)
		}
	}
}

// lacks records what a plan lacks of what the model wanted.
func (s *steps) lacks(made agent.PlanMade) {
	if made.Fallback {
		s.unplanned = true
	} else {
		s.leaveOut(made.Dropped)
	}
}

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
	if err := t.events.Enter(ctx, agent.Entry{Moment: agent.Planned, Plan: &made, Said: t.events.Text(), Origin: from}); err != nil {
		return nil, err
	}
	t.events.Emit(made)
	return made.Steps, nil
}

// countPlan notes that a plan of the turn itself was made or replayed.
func (s *steps) countPlan(made agent.PlanMade) {
	if made.Under != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = made.Again
	s.plansMade++
}

// planCount returns the number of plans of the turn itself so far.
func (s *steps) planCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plansMade
}

// savedPlan returns the next plan that the turn, or an attempt of a worker,
// made before it was interrupted. It reports false if there is none, so that a
// new one has to be made.
func (t *turn) savedPlan(under string, attempt int) (steps []agent.Step, saved bool, err error) {
	t.steps.mu.Lock()
	at := slices.IndexFunc(t.saved.plans, func(p agent.Entry) bool { return p.Plan.Under == under && p.Plan.Attempt == attempt })
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
	t.record.Planned(made.Steps, t.record.Origin())
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
		same := t.steps.calls.made[sameCall(s.Tool, args.Read(s.Input))]
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
func (s *steps) roomForSteps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maxTurnSteps - s.stepsMade
}

// takeSteps reserves up to n steps and returns how many. Workers call it
// concurrently.
func (s *steps) takeSteps(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(n, maxTurnSteps-s.stepsMade)
	s.stepsMade += n
	return n
}
