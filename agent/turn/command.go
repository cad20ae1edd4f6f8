package turn

import (
	"context"
	"fmt"

	"lifehub/agent"
)

// Call makes one call of a tool as a turn of its own, for a user who asked for
// just that: no model has a part in it, and the gate asks as ever. What the
// tool said is the answer. Its events are to be read as those of [Agent.Ask].
func (a *Agent) Call(ctx context.Context, conversation, message string, step agent.Step) <-chan agent.Event {
	events := make(chan agent.Event)
	go func() {
		defer close(events)
		t := newTurn(a, conversation, events)
		t.mode, t.command = agent.PlanMode, &step
		t.sent(message)
		t.run(ctx, t.begin)
	}()
	return events
}

// runCommand makes the one call that the user asked for.
func (t *turn) runCommand(ctx context.Context) error {
	step := *t.command
	step.ID = "1"
	if t.tool(step.Tool) == nil {
		return fmt.Errorf("there is no tool %s now", step.Tool)
	}
	plan, err := t.planned(ctx, agent.PlanMade{Steps: []agent.Step{step}})
	if err != nil {
		return err
	}
	if err := t.work(ctx, plan.steps); err != nil {
		return err
	}
	for _, f := range t.found {
		if f.status != agent.Done {
			t.say("Not done: " + f.why() + ".")
			continue
		}
		t.say(f.result.Text)
	}
	return nil
}
