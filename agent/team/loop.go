package team

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
func (t *Team) Loop(ctx context.Context) (able bool, err error) {
	carried, err := t.carriedParts(ctx)
	if err != nil {
		return true, err
	}
	handOut := t.delegation()
	always, called := handOut, ""
	if len(carried) > 0 { // "make it shorter" does not sound like them
		always = append(slices.Clip(always), toolchoice.ForRounds(t.Tools)...)
		for _, tool := range always {
			called += tool.Spec().Name + "\n"
		}
	}
	t.Tools = append(slices.Clip(t.Tools), handOut...)
	end := t.Phase(agent.PhaseStarted{Agent: "loop"})
	l := &agentLoop{
		Team: t, tools: toolchoice.ChooseWith(always, t.Tools, t.Question, t.MaxTools), callable: t.Tools, rounds: t.Rounds,
		base:   t.Prompt("loop", strings.ReplaceAll(loopPrompt, "{rounds}", strconv.Itoa(t.Rounds))+toolchoice.Unavailable(t.Missing, t.Question)),
		stream: true, numbered: true,
		called: called,
		found:  t.Found,
	}
	l.base.Material = append(l.base.Material, carried...)
	l.Number(l.found)
	said, err := l.run(ctx)
	end()
	switch {
	case prompt.CannotCall(err) && len(t.Found) == t.Attached:
		return false, nil
	case err != nil:
		return true, err
	case said:
		return true, nil
	}
	t.Lacking = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.Explain(ctx)
}
