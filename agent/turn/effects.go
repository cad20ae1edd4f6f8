package turn

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"lifehub/agent"
)

// effectsOf returns the effects of a call that ended with err: those its tool
// reported or, if it reported none, that it was called or that its outcome is
// unknown.
func effectsOf(tool agent.Tool, reported []agent.Effect, err error) []agent.Effect {
	name := tool.Spec().Name
	switch {
	case len(reported) > 0 || agent.ReadOnly(tool) || errors.As(err, new(agent.NothingDone)):
		return reported
	case err != nil:
		return []agent.Effect{{Kind: agent.Unknown, Tool: name}}
	}
	return []agent.Effect{{Kind: agent.ToolCalled, Tool: name, Count: 1}}
}

// stepEffect is an effect of a step.
type stepEffect struct {
	step   string
	effect agent.Effect
}

// did records effects of a step.
func (w *runner) did(step string, effects ...agent.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range effects {
		w.effects = append(w.effects, stepEffect{step, e})
	}
}

// undid removes the recorded effects of a step.
func (w *runner) undid(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = slices.DeleteFunc(w.effects, func(e stepEffect) bool { return e.step == step })
}

// effectsBy returns the effects of a step so far, or of all steps if step is
// "".
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

// reportOfWrites returns the answer of a turn that only made changes: the
// result of each call, or that the user declined it, without asking a model. It
// returns "" if there is anything else to explain.
func (t *turn) reportOfWrites() string {
	if len(t.steps.found) == 0 || t.steps.attached > 0 || len(t.steps.dropped) > 0 {
		return ""
	}
	var lines []string
	for _, f := range t.steps.found {
		if f.step.Extra {
			continue
		}
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

// changes reports whether a tool is known to change something. A tool of
// another program that declares nothing is not.
func (w *runner) changes(name string) bool {
	tool := w.tool(name)
	if tool == nil {
		return w.toolbox != nil && w.toolbox.Writes(name)
	}
	hinted, foreign := tool.(agent.Hinted)
	return agent.MayWrite(tool) && (!foreign || hinted.ReadOnlyHint() != nil)
}

// noteWriter records a tool named by a plan or call, if it changes something.
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

// writingTools returns the tools that change something and were named by the
// turn's plans or calls, whatever the outcome.
func (w *runner) writingTools() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writers)
}

// noteCalled records that a step called a tool, unless it was denied or skipped.
func (w *runner) noteCalled(step string, tool agent.Tool, status agent.Status) {
	_, delegates := tool.(delegating)
	if delegates || tool != nil && onlyReckons(tool.Spec().Name) || status == agent.Denied || status == agent.Skipped {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.called = append(w.called, step)
}

// onlyReckons reports whether a tool only computes, and so knows nothing that
// the model does not.
func onlyReckons(tool string) bool { return tool == agent.Today || tool == agent.Calculate }

// haveWritten reports whether the workers wrote texts that the evaluator accepted,
// and reported nothing else.
func (w *runner) haveWritten() (written bool) {
	for _, f := range w.found {
		if f.step.Tool == agent.DelegateTool {
			if written = f.Result.Accepted; !written {
				return false
			}
		}
	}
	return written
}

// hasCalled reports whether the model called a tool that may know something it does
// not. Delegating a task does not count.
func (w *runner) hasCalled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.called, func(id string) bool {
		return !slices.ContainsFunc(w.found, func(f finding) bool { return f.step.ID == id && f.step.Extra })
	})
}
