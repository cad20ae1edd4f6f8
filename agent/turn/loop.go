package turn

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"strings"

	"lifehub/llm"
)

//go:embed prompts/loop.md
var loopPrompt string

// defaultRounds are the rounds of the loop.
const defaultRounds = 8

// loop lets the model decide each next call until it answers. false: the
// model cannot call tools, and nothing was done.
func (t *turn) loop(ctx context.Context) (able bool, err error) {
	kept, err := t.keptParts(ctx)
	if err != nil {
		return true, err
	}
	always := t.delegation()
	if len(kept) > 0 { // "make it shorter" does not sound like them
		always = append(always, byRounds(t.tools)...)
	}
	t.tools = append(slices.Clip(t.tools), t.delegation()...)
	end := t.phase("loop")
	th := &agentLoop{
		turn: t, agent: "loop", tools: chooseToolsWith(always, t.tools, t.question, t.MaxTools), callable: t.tools, rounds: t.Rounds,
		system:   t.withPersona(strings.NewReplacer("{today}", date(t.Now()), "{rounds}", strconv.Itoa(t.Rounds)).Replace(loopPrompt)),
		history:  t.history,
		material: slices.Concat(t.factPart(0), t.pastParts(), kept),
		task:     t.question,
		stream:   true,
		found:    t.found,
	}
	th.number(th.found)
	said, err := th.run(ctx)
	end()
	switch {
	case cannotCall(err) && len(t.found) == t.attached:
		return false, nil
	case err != nil:
		return true, err
	case said:
		return true, nil
	}
	t.missing = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.explain(ctx)
}

// cannotCall reports whether a model, or its server, knows no calls of tools.
func cannotCall(err error) bool {
	var unsupported *llm.UnsupportedError
	var status *llm.StatusError
	return errors.As(err, &unsupported) && unsupported.Capability != images ||
		errors.As(err, &status) && status.Code != 429 && strings.Contains(strings.ToLower(status.Message), "tool")
}
