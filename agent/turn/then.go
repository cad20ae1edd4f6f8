package turn

import (
	"context"
	"errors"
	"fmt"

	"lifehub/agent"
	"lifehub/agent/gate"
)

// then returns a call that follows a complete answer as the last step of its
// turn. It passes the gate and is journalled and undone like any other call.
type then func(agent.Answer) agent.Step

// ErrNotDone means that the answer is complete but the call that follows it was
// not made.
var ErrNotDone = errors.New("the answer was not written")

// finish makes the call that follows the answer.
func (t *turn) finish(ctx context.Context) (err error) {
	defer agent.Catch(&err)
	if t.agent.Then == nil && !t.saved.hasAnswered() {
		return nil
	}
	t.tools = t.agent.Tools.Offered() // even if the message restricts the tools
	steps, saved, err := t.savedPlan("", agent.AfterAnswer)
	if err != nil {
		return err
	}
	if !saved {
		if why := t.lacking(); why != "" {
			return fmt.Errorf("%w: %s", ErrNotDone, why)
		}
	}
	answer := agent.Answer{Text: t.events.Text(), Sources: t.answer.sources}
	answer.Citations = t.check(ctx, answer.Text)
	t.answer.citations = &answer.Citations
	if !saved {
		step := t.agent.Then(answer)
		taken := map[string]bool{}
		for _, id := range stepIDs(t.steps.found) {
			taken[id] = true
		}
		step.ID = uniqueID("", taken)
		t.noteWriter(step.Tool)
		if t.tool(step.Tool) == nil {
			return fmt.Errorf("%w: %s", ErrNotDone, gate.Because("the tool "+step.Tool+" is not available",
				t.missing[step.Tool]))
		}
		if steps, err = t.enterPlan(ctx, agent.PlanMade{
			Attempt: agent.AfterAnswer,
			Before:  stepsOf(t.steps.found[t.steps.attached:]), Steps: []agent.Step{step},
		},
			t.record.Origin()); err != nil {
			return fmt.Errorf("%w: %w", ErrNotDone, err)
		}
		if len(steps) == 0 {
			return fmt.Errorf("%w: the turn has no room for a further step", ErrNotDone)
		}
	}
	if err := t.runPlan(ctx, steps, nil); err != nil {
		return err
	}
	if last := t.steps.found[len(t.steps.found)-1]; last.Status != agent.Done {
		return fmt.Errorf("%w: %s", ErrNotDone, last.why())
	}
	return nil
}

// lacking returns why the answer is incomplete; "" if it is complete.
func (t *turn) lacking() string {
	switch {
	case t.events.Cut:
		return "it reached the model's length limit"
	case t.answer.unanswered:
		return "it says that your notes don't say"
	case t.unlikely():
		return "no note has the words of the question"
	case len(t.gate.Unasked()) > 0:
		return "a call that it needed was refused"
	case !t.hasText():
		return "it is empty"
	}
	return ""
}

// retrace replays the plans of a resumed turn whose answer was complete before
// the interruption, without asking the model. It reports false if the answer
// was not complete.
func (t *turn) retrace(ctx context.Context) (retraced bool, err error) {
	if !t.saved.hasAnswered() {
		return false, nil
	}
	for first := true; ; first = false {
		if _, _, err := t.listen(ctx); err != nil {
			return true, err
		}
		steps, saved, err := t.savedPlan("", 0)
		if !saved || err != nil {
			t.numberAll()
			return true, err
		}
		if err := t.runPlan(ctx, steps, t.steeringWaits); err != nil {
			return true, err
		}
		if first {
			t.withoutWeak()
		}
	}
}
