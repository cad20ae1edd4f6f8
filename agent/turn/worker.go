package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lifehub/agent"
	"lifehub/internal/pattern"
)

// finding is what one step brought.
type finding struct {
	step agent.Step
	outcome
}

// work runs the steps as a graph: each as soon as those it comes after have
// ended, however they ended. A failed step is kept as what it is; only a
// cancelled ctx is an error.
func (t *turn) work(ctx context.Context, steps []agent.Step) error {
	defer t.phase("worker")()
	found, err := t.runSteps(ctx, steps, t.found)
	t.found = append(t.found, found...)
	return err
}

// runSteps runs the steps as a graph. before are the findings of earlier plans,
// whose results the steps may use.
func (t *turn) runSteps(ctx context.Context, steps []agent.Step, before []finding) ([]finding, error) {
	found := make([]finding, len(steps))
	ended := make(map[string]chan struct{}, len(steps)) // closed when the step's outcome is there
	at := make(map[string]*finding, len(steps)+len(before))
	over := make(chan struct{})
	close(over)
	for i := range before {
		at[before[i].step.ID], ended[before[i].step.ID] = &before[i], over
	}
	for i, step := range steps {
		found[i].step = step
		at[step.ID], ended[step.ID] = &found[i], make(chan struct{})
	}
	earlier := func(id string) finding { return *at[id] }
	line := queueUp(steps, ended)

	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() {
			defer close(ended[step.ID])
			defer line[i].letNext()
			o := t.step(ctx, step, line[i], ended, earlier)
			found[i].outcome = o
			t.emit(agent.StepChanged{Step: step.ID, Status: o.status, Reason: o.why()})
		})
	}
	running.Wait()
	return found, ctx.Err()
}

// step waits for the steps before it, fills in their results, and calls its tool.
func (t *turn) step(ctx context.Context, step agent.Step, at *turnstile, ended map[string]chan struct{}, earlier func(string) finding) (o outcome) {
	defer func() {
		var err error
		if agent.Catch(&err); err != nil {
			o = failedOutcome(ctx, err)
		}
	}()
	before := t.before(step.ID)
	if before != nil && before.outcome != nil {
		t.recordRead(step.Tool, before.outcome.result)
		t.seen.call(t.tool(step.Tool), before.input)
		t.seen.result(before.outcome.result)
		if before.outcome.status != agent.Done && before.outcome.status != agent.Denied && errorsUntrusted(t.tool(step.Tool)) {
			t.markUntrusted(saidBy(step.Tool))
		}
		return *before.outcome
	}
	for _, id := range step.After {
		select {
		case <-ended[id]:
		case <-ctx.Done():
			return stopped()
		}
	}
	tool := t.tool(step.Tool)
	if tool == nil {
		return outcome{status: agent.StepFailed, reason: fmt.Sprintf("there is no tool %s", step.Tool)}
	}
	input := step.Input
	isStep := func(id string) bool { return slices.Contains(step.After, id) }
	ids := references(input, isStep)
	made := t.originOf(step, earlier)
	if len(ids) > 0 {
		filled, err := fillIn(input, ids, earlier)
		if err != nil {
			return outcome{status: agent.Skipped, reason: err.Error()}
		}
		if input, _, err = t.schemas.Repair(tool.Spec(), filled); err != nil {
			return outcome{status: agent.StepFailed, reason: err.Error()}
		}
	}
	if before != nil && before.tool == step.Tool && before.input != nil {
		input = before.input // what is asked again is what was asked
	}
	return t.do(ctx, call{step: step.ID, id: step.ID, key: t.id + "/" + step.ID, tool: tool, input: input, made: made, at: at})
}

// why says what the user should know of an outcome.
func (o outcome) why() string {
	if o.reason == "" && o.same != "" {
		return "the same call as step " + o.same
	}
	return o.reason
}

// tool is the enabled tool of this name, or the only one that was called so
// before; nil: there is none.
func (t *turn) tool(name string) agent.Tool {
	var former []agent.Tool
	for _, tool := range t.tools {
		if tool.Spec().Name == name {
			return tool
		}
		if slices.Contains(agent.FormerNames(tool), name) {
			former = append(former, tool)
		}
	}
	if len(former) == 1 {
		return former[0]
	}
	return nil
}

// reference is how a step uses the text that an earlier one brought: {{1.text}}.
var reference = pattern.Lazy(`\{\{\s*([\w-]+)\.(?:text|result|output)\s*\}\}`)

// references lists the steps whose results an input uses. What names no step
// is plain text.
func references(input json.RawMessage, isStep func(id string) bool) (ids []string) {
	for _, m := range reference.FindAllSubmatch(input, -1) {
		if id := string(m[1]); isStep(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// fillIn puts the texts of the steps ids in place of the references to them,
// inside the strings of an input.
func fillIn(input json.RawMessage, ids []string, earlier func(string) finding) (json.RawMessage, error) {
	for _, id := range ids {
		if from := earlier(id); from.status != agent.Done {
			return nil, fmt.Errorf("it needs the result of step %s, which is %s", id, from.status)
		}
	}
	filled := reference.ReplaceAllFunc(input, func(ref []byte) []byte {
		id := string(reference.FindSubmatch(ref)[1])
		if !slices.Contains(ids, id) {
			return ref
		}
		quoted, err := json.Marshal(earlier(id).result.Text)
		if err != nil {
			return ref
		}
		return quoted[1 : len(quoted)-1]
	})
	if !json.Valid(filled) {
		return nil, errors.New("the results of earlier steps stand outside its texts")
	}
	return filled, nil
}
