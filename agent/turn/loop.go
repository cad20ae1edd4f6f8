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
func (t *Team) Loop(ctx context.Context) (able bool, err error) {
	carried, err := t.carriedParts(ctx)
	if err != nil {
		return true, err
	}
	handOut := t.delegation()
	always, called := handOut, ""
	if len(carried) > 0 { // "make it shorter" does not sound like them
		always = append(slices.Clip(always), toolchoice.ForRounds(t.Answer.Worker.Tools)...)
		for _, tool := range always {
			called += tool.Spec().Name + "\n"
		}
	}
	t.Answer.Worker.Tools = append(slices.Clip(t.Answer.Worker.Tools), handOut...)
	end := t.Answer.Asker.Stream.Phase(agent.PhaseStarted{Agent: "loop"})
	l := &agentLoop{
		Team: t, tools: toolchoice.ChooseWith(always, t.Answer.Worker.Tools, t.Answer.Question, t.MaxTools), callable: t.Answer.Worker.Tools, rounds: t.Rounds,
		base:   t.Answer.Prompt("loop", strings.ReplaceAll(loopPrompt, "{rounds}", strconv.Itoa(t.Rounds))+toolchoice.Unavailable(t.Answer.Worker.Missing, t.Answer.Question)),
		stream: true, numbered: true,
		called: called,
		found:  t.Answer.Worker.Found,
	}
	l.base.Material = append(l.base.Material, carried...)
	l.Answer.Number(l.found)
	said, err := l.run(ctx)
	end()
	switch {
	case prompt.CannotCall(err) && len(t.Answer.Worker.Found) == t.Answer.Worker.Attached:
		return false, nil
	case err != nil:
		return true, err
	case said:
		return true, nil
	}
	t.Answer.Lacking = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.Answer.Explain(ctx)
}
