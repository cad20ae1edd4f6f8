package turn

import (
	"context"
	"errors"
	"fmt"

	"lifehub/agent"
	"lifehub/agent/gate"
)

// Then makes a call of an answer that is whole, as the last step of its turn: it
// passes the gate, is journalled and taken back like any other.
type Then func(agent.Answer) agent.Step

// ErrNotDone is that of a turn whose answer is there, and whose [Then] was not done.
var ErrNotDone = errors.New("the answer was not written")

// finish makes the call that follows the answer.
func (t *turn) finish(ctx context.Context) (err error) {
	defer agent.Catch(&err)
	if t.agent.Then == nil && !t.steps.Saved.HasAnswered() {
		return nil
	}
	t.steps.Tools = t.agent.Tools() // also where the message names those that may answer it
	t.answer.SayHeld(true)
	steps, saved, err := t.steps.SavedPlan("", agent.AfterAnswer)
	if err != nil {
		return err
	}
	if !saved {
		if why := t.lacking(); why != "" {
			return fmt.Errorf("%w: %s", ErrNotDone, why)
		}
	}
	answer := agent.Answer{Text: t.answer.Said(), Sources: t.answer.Sources}
	answer.Citations = t.answer.Check(ctx, answer.Text)
	t.citations = &answer.Citations
	if !saved {
		step := t.agent.Then(answer)
		taken := map[string]bool{}
		for _, id := range IDs(t.steps.Found) {
			taken[id] = true
		}
		step.ID = UniqueID("", taken)
		t.steps.NoteWriter(step.Tool)
		if t.steps.Tool(step.Tool) == nil {
			return fmt.Errorf("%w: %s", ErrNotDone, gate.Because("the tool "+step.Tool+" is not available", t.steps.Missing[step.Tool]))
		}
		if steps, err = t.steps.Plan(ctx, agent.PlanMade{Attempt: agent.AfterAnswer, Before: Steps(t.steps.Found[t.steps.Attached:]), Steps: []agent.Step{step}}); err != nil {
			return err
		}
		if len(steps) == 0 {
			return fmt.Errorf("%w: the turn has no room for a further step", ErrNotDone)
		}
	}
	if err := t.steps.RunPlan(ctx, steps); err != nil {
		return err
	}
	if last := t.steps.Found[len(t.steps.Found)-1]; last.Status != agent.Done {
		return fmt.Errorf("%w: %s", ErrNotDone, last.Why())
	}
	return nil
}

// lacking says why the answer is not whole; "": it is.
func (t *turn) lacking() string {
	switch {
	case t.events.Cut:
		return "it reached the model's length limit"
	case t.answer.Unanswered:
		return "it says that your notes don't say"
	case len(t.gate.Unasked()) > 0:
		return "a call that it needed was refused"
	case !t.answer.HasSaid():
		return "it is empty"
	}
	return ""
}

// retrace goes through the plans of a resumed turn whose answer was said already, and
// was on its way to its [Then]: nothing is asked again. false: it came not so far.
func (t *turn) retrace(ctx context.Context) (retraced bool, err error) {
	if !t.steps.Saved.HasAnswered() {
		return false, nil
	}
	for first := true; ; first = false {
		steps, saved, err := t.steps.SavedPlan("", 0)
		if !saved || err != nil {
			t.answer.NumberAll()
			return true, err
		}
		if err := t.steps.RunPlan(ctx, steps); err != nil {
			return true, err
		}
		if first {
			t.withoutWeak()
		}
	}
}
