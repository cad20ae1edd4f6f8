package turn

import (
	"context"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/llm"
	"lifehub/llm/offline"
)

// certainly answers a message for which no model is needed, since it names a tool or
// nothing but a list of tasks. It reports false for any other message. The result of
// the call is the answer.
func (t *turn) certainly(ctx context.Context) (done bool, err error) {
	if t.agent.Server.ModelName() == noModel || len(t.message.attached) > 0 || t.steps.attached > 0 {
		return false, nil
	}
	task := llm.Task{
		Question: t.message.question, Today: t.events.Now(), History: t.typedBefore(),
		Tools: prompt.Specs(t.tools),
	}
	call, certain := offline.Certain(task)
	if !certain {
		return false, nil
	}
	steps, saved, err := t.savedPlan("", 0)
	if err != nil {
		return false, err
	}
	if !saved {
		made := agent.PlanMade{Mode: t.mode}
		made.Steps, made.Dropped, made.Repaired = t.repairSteps([]prompt.Step{{
			ID: "1", Tool: call.Name,
			Input: call.Args,
		}}, t.tools, nil)
		if len(made.Steps) == 0 {
			return false, nil
		}
		if t.mode == agent.PlanMode {
			var declined string
			if made, declined = t.approve(ctx, made); declined != "" {
				t.events.Say("Not run: " + declined + ".")
				return true, ctx.Err()
			}
		}
		if steps, err = t.enterPlan(ctx, made, agent.MessageOrigin(t.message.whole)); err != nil {
			return false, err
		}
	}
	if err := t.runPlan(ctx, steps, nil); err != nil {
		return false, err
	}
	t.numberAll()
	t.answer.passageList = t.passages(t.steps.found, "")
	t.events.Say(t.answer.passageList)
	return true, nil
}
