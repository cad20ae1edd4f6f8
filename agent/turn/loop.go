package turn

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/agent/toolchoice"
)

//go:embed prompts/loop.md
var loopPrompt string

// loop lets the model decide each next call until it answers. false: the
// model cannot call tools, and nothing was done.
func (t *turn) loop(ctx context.Context) (able bool, err error) {
	carried, err := t.carriedParts(ctx)
	if err != nil {
		return true, err
	}
	handOut := t.delegation()
	always, called := handOut, ""
	if len(carried) > 0 { // "make it shorter" does not sound like them
		always = append(slices.Clip(always), toolchoice.ForRounds(t.steps.tools)...)
		for _, tool := range always {
			called += tool.Spec().Name + "\n"
		}
	}
	t.steps.tools = append(slices.Clip(t.steps.tools), handOut...)
	end := t.events.Phase(agent.PhaseStarted{Agent: "loop"})
	l := &agentLoop{
		turn: t, tools: toolchoice.ChooseWith(always, t.steps.tools, t.answer.question, t.maxTools), callable: t.steps.tools, rounds: t.rounds,
		base:   t.answer.prompt("loop", strings.ReplaceAll(loopPrompt, "{rounds}", strconv.Itoa(t.rounds))+toolchoice.Unavailable(t.steps.missing, t.answer.question)),
		stream: true, numbered: true,
		called: called,
		found:  t.steps.found,
	}
	l.base.Material = append(l.base.Material, carried...)
	l.turn.answer.number(l.found)
	said, err := l.run(ctx)
	end()
	switch {
	case prompt.CannotCall(err) && len(t.steps.found) == t.steps.attached:
		return false, nil
	case err != nil:
		return true, err
	case said:
		return true, nil
	}
	t.answer.lacking = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.answer.explain(ctx)
}
