package turn

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

//go:embed prompts/loop.md
var loopPrompt string

// loop lets the model decide each next call until it answers. able is false if
// the model cannot call tools, or is not connected any more; then nothing was done.
func (t *turn) loop(ctx context.Context) (able bool, err error) {
	carried, err := t.carriedParts(ctx)
	if err != nil {
		return true, err
	}
	t.steps.tools = append(slices.Clip(t.steps.tools), t.delegation()...)
	return t.decideAgain(ctx, slices.Concat(carried, t.aboutNotes(ctx)), &agentLoop{
		turn: t, callable: t.steps.tools,
		base: t.answer.prompt("loop", answeringPrompt, strings.ReplaceAll(loopPrompt, "{rounds}", strconv.Itoa(t.rounds))),
	})
}

// decideAgain runs the loop of the turn itself, whose text is the answer.
func (t *turn) decideAgain(ctx context.Context, material []prompt.Part, l *agentLoop) (able bool, err error) {
	l.rounds, l.stream, l.numbered, l.found = t.rounds, true, true, t.steps.found
	l.base.Material = append(l.base.Material, material...)
	t.answer.number(l.found)
	end := t.events.Phase(agent.PhaseStarted{Agent: l.base.Agent})
	answered, err := l.run(ctx)
	end()
	lost := errors.Is(err, llm.ErrUnreachable) && t.agent.ModelName() == noModel && !t.answer.hasText()
	switch {
	case (lost || prompt.CannotCall(err)) && len(t.steps.found) == t.steps.attached:
		return false, nil
	case err != nil:
		return true, err
	case answered:
		return true, nil
	}
	t.answer.lacking = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.explain(ctx)
}
