package turn

import (
	"cmp"
	"errors"
	"slices"
	"strings"

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
	step   string
	effect agent.Effect
}

// did adds what a step did to the effects of the turn.
func (w *runner) did(step string, effects ...agent.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range effects {
		w.effects = append(w.effects, stepEffect{step, e})
	}
}

// undid takes back what was said of a step's effects.
func (w *runner) undid(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = slices.DeleteFunc(w.effects, func(e stepEffect) bool { return e.step == step })
}

// effectsBy returns what a step did so far; "" is all steps.
func (w *runner) effectsBy(step string) (effects []agent.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.effects {
		if step == "" || e.step == step {
			effects = append(effects, e.effect)
		}
	}
	return effects
}

// reportOfWrites is the answer of a turn that only wrote: what each call said when it
// was done, as the journal has it, or that the user declined it. No model is asked
// what was done. "": there is something to explain.
func (t *turn) reportOfWrites() string {
	if len(t.steps.found) == 0 || t.steps.attached > 0 || len(t.steps.dropped) > 0 {
		return ""
	}
	var lines []string
	for _, f := range t.steps.found {
		_, writes := t.steps.tool(f.step.Tool).(agent.Preparer)
		if !writes || f.Status != agent.Done && f.Status != agent.Denied || f.Result.IsUntrusted() {
			return ""
		}
		if f.same == "" {
			lines = append(lines, tell(f.step.Tool, f.Status, cmp.Or(f.Result.Text, f.why()), 0))
		}
	}
	return strings.Join(lines, "\n\n")
}

// changes reports whether a tool is known to change something: one of another
// program that does not say so is not.
func (w *runner) changes(name string) bool {
	tool := w.tool(name)
	if tool == nil {
		return w.writes != nil && w.writes(name)
	}
	hinted, foreign := tool.(agent.Hinted)
	return agent.MayWrite(tool) && (!foreign || hinted.ReadOnlyHint() != nil)
}

// noteWriter notes a tool that a plan or a call named, if it changes something.
func (w *runner) noteWriter(name string) {
	if !w.changes(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.writers, name) {
		w.writers = append(w.writers, name)
	}
}

// writingTools are the tools that change something, and that the turn's plans or calls
// named, whatever became of them.
func (w *runner) writingTools() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writers)
}

// noteCalled notes that a tool was called, by the status of the call.
func (w *runner) noteCalled(tool agent.Tool, status agent.Status) {
	_, delegates := tool.(delegating)
	if delegates || tool != nil && onlyReckons(tool.Spec().Name) || status == agent.Denied || status == agent.Skipped {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.called = true
}

// onlyReckons reports whether a tool knows nothing that a model could not.
func onlyReckons(tool string) bool { return tool == agent.Today || tool == agent.Calculate }

// hasCalled reports whether a tool was called that may know what the model does not.
// Handing out a task is not a call.
func (w *runner) hasCalled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.called
}
