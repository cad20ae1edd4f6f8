package work

import (
	"errors"
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
func (w *Worker) did(step string, effects ...agent.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range effects {
		w.effects = append(w.effects, stepEffect{step, e})
	}
}

// undid takes back what was said of a step's effects.
func (w *Worker) undid(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = slices.DeleteFunc(w.effects, func(e stepEffect) bool { return e.step == step })
}

// EffectsBy returns what a step did so far; "" is all steps.
func (w *Worker) EffectsBy(step string) (effects []agent.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.effects {
		if step == "" || e.step == step {
			effects = append(effects, e.Effect)
		}
	}
	return effects
}
