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

// Loop lets the model decide each next call until it answers. false: the
// model cannot call tools, and nothing was done.
func (t *turn) Loop(ctx context.Context) (able bool, err error) {
	carried, err := t.carriedParts(ctx)
	if err != nil {
		return true, err
	}
	handOut := t.delegation()
	always, called := handOut, ""
	if len(carried) > 0 { // "make it shorter" does not sound like them
		always = append(slices.Clip(always), toolchoice.ForRounds(t.steps.Tools)...)
		for _, tool := range always {
			called += tool.Spec().Name + "\n"
		}
	}
	t.steps.Tools = append(slices.Clip(t.steps.Tools), handOut...)
	end := t.events.Phase(agent.PhaseStarted{Agent: "loop"})
	l := &agentLoop{
		turn: t, tools: toolchoice.ChooseWith(always, t.steps.Tools, t.answer.Question, t.maxTools), callable: t.steps.Tools, rounds: t.rounds,
		base:   t.answer.Prompt("loop", strings.ReplaceAll(loopPrompt, "{rounds}", strconv.Itoa(t.rounds))+toolchoice.Unavailable(t.steps.Missing, t.answer.Question)),
		stream: true, numbered: true,
		called: called,
		found:  t.steps.Found,
	}
	l.base.Material = append(l.base.Material, carried...)
	l.turn.answer.Number(l.found)
	said, err := l.run(ctx)
	end()
	switch {
	case prompt.CannotCall(err) && len(t.steps.Found) == t.steps.Attached:
		return false, nil
	case err != nil:
		return true, err
	case said:
		return true, nil
	}
	t.answer.Lacking = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.answer.Explain(ctx)
}
