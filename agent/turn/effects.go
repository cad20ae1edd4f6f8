package turn

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/passages"
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
		_, writes := t.tool(f.step.Tool).(agent.Preparer)
		if !writes || f.Status != agent.Done && f.Status != agent.Denied || f.Result.IsUntrusted() {
			return ""
		}
		if f.same == "" {
			lines = append(lines, passages.Tell(f.step.Tool, f.Status, cmp.Or(f.Result.Text, f.why()), 0))
		}
	}
	return strings.Join(lines, "\n\n")
}

// changes reports whether a tool is known to change something. A tool of
// another program that declares nothing is not.
func (t *turn) changes(name string) bool {
	tool := t.tool(name)
	if tool == nil {
		return t.agent.Tools != nil && t.agent.Tools.Writes(name)
	}
	of := tool.Properties()
	return agent.MayWrite(tool) && (of.Server == "" || of.Declared != nil)
}

// noteWriter records a tool named by a plan or call, if it changes something.
func (t *turn) noteWriter(name string) {
	if !t.changes(name) {
		return
	}
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	if !slices.Contains(t.steps.writers, name) {
		t.steps.writers = append(t.steps.writers, name)
	}
}
