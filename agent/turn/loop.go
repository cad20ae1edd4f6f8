package turn

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
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
	t.steps.tools = append(slices.Clip(t.steps.tools), t.delegation()...)
	end := t.events.Phase(agent.PhaseStarted{Agent: "loop"})
	l := &agentLoop{
		turn: t, callable: t.steps.tools, rounds: t.rounds,
		base:   t.answer.prompt("loop", strings.ReplaceAll(loopPrompt, "{rounds}", strconv.Itoa(t.rounds))),
		stream: true, numbered: true,
		found: t.steps.found,
	}
	l.base.Material = slices.Concat(l.base.Material, carried, t.aboutNotes(ctx))
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
