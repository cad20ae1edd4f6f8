package turn

import (
	"errors"
	"maps"
	"slices"

	"lifehub/agent"
)

// effectsOf returns what a call did that ended with err: what its tool said
// while it ran, or that nobody knows.
func effectsOf(tool agent.Tool, said []agent.Effect, err error) []agent.Effect {
	name := tool.Spec().Name
	switch {
	case len(said) > 0 || agent.ReadOnly(tool) || errors.As(err, new(agent.NothingDone)):
		return said
	case err != nil:
		return []agent.Effect{{Kind: agent.Unknown, Tool: name}}
	}
	return []agent.Effect{{Kind: agent.ToolCalled, Tool: name, Count: 1}}
}

// stepEffect is what a step did.
type stepEffect struct {
	step string
	agent.Effect
}

// did adds what a step did to the effects of the turn.
func (t *turn) did(step string, effects ...agent.Effect) {
	t.counting.Lock()
	defer t.counting.Unlock()
	for _, e := range effects {
		t.effects = append(t.effects, stepEffect{step, e})
	}
}

// undid takes back what was said of a step's effects.
func (t *turn) undid(step string) {
	t.counting.Lock()
	defer t.counting.Unlock()
	t.effects = slices.DeleteFunc(t.effects, func(e stepEffect) bool { return e.step == step })
}

// recallEffects takes up what the turn did before it was cut. Of a call that
// was started and did not end nobody knows, unless it changes nothing.
func (t *turn) recallEffects() {
	tools := append(slices.Clip(t.Tools()), &delegate{turn: t})
	for _, step := range slices.Sorted(maps.Keys(t.saved.steps)) {
		c := t.saved.steps[step]
		t.did(step, c.effects...)
		at := slices.IndexFunc(tools, func(tool agent.Tool) bool { return tool.Spec().Name == c.tool })
		if c.outcome == nil && !c.started.IsZero() && (at < 0 || !agent.ReadOnly(tools[at])) {
			t.did(step, agent.Effect{Kind: agent.Unknown, Tool: c.tool})
		}
	}
}

// effectsBy returns what a step did so far; "" is all steps.
func (t *turn) effectsBy(step string) (effects []agent.Effect) {
	t.counting.Lock()
	defer t.counting.Unlock()
	for _, e := range t.effects {
		if step == "" || e.step == step {
			effects = append(effects, e.Effect)
		}
	}
	return effects
}
