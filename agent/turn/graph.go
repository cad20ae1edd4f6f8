package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// RunCall makes one call through a gate, outside any turn. If tool is nil, it
// fails. redact removes secrets from the result.
func RunCall(ctx context.Context, guard *gate.Guard, redact llm.Redactor, tool agent.Tool,
	input json.RawMessage,
) (Outcome, error) {
	t := &turn{
		agent: New(Options{Redact: redact}), events: guard.Record.Stream, record: guard.Record, gate: guard,
		steps: newSteps(1),
	}
	step := agent.Step{ID: "1", Input: input}
	if tool != nil {
		t.tools, step.Tool = []agent.Tool{tool}, tool.Spec().Name
	}
	found, err := t.runSteps(ctx, []agent.Step{step}, nil, nil)
	if err != nil {
		return Outcome{}, err
	}
	return found[0].Outcome, nil
}

// runPlan runs the steps as a graph: each as soon as the steps it depends on
// have ended, with any outcome. A failed step is recorded as failed; only a
// cancelled ctx is returned as an error. stopped is as in runSteps.
func (t *turn) runPlan(ctx context.Context, steps []agent.Step, stopped func() bool) error {
	defer t.events.Phase(agent.PhaseStarted{Agent: "worker"})()
	found, err := t.runSteps(ctx, steps, t.steps.found, stopped)
	t.steps.found = append(t.steps.found, found...)
	return err
}

// runSteps runs steps as a graph. before has the findings of earlier plans,
// whose results the steps may use. Once stopped reports true, no further step
// starts; nil: never.
func (t *turn) runSteps(ctx context.Context, steps []agent.Step, before []finding, stopped func() bool) ([]finding,
	error,
) {
	found := make([]finding, len(steps))
	ended := make(map[string]chan struct{}, len(steps)) // closed when the outcome of the step is known
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
	line := gate.QueueUp(steps, ended, func(s agent.Step) bool {
		tool := t.tool(s.Tool)
		return tool != nil && agent.MayWrite(tool)
	})

	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() {
			defer close(ended[step.ID])
			defer line[i].Leave()
			o := t.step(ctx, step, line[i], ended, earlier, stopped)
			found[i].Outcome = o
			t.events.Emit(agent.StepChanged{Step: step.ID, Status: o.Status, Reason: o.why()})
		})
	}
	running.Wait()
	return found, ctx.Err()
}

// outranked is the reason why a step does not start while a message of the user
// waits to be taken.
const outranked = "your message came first"

// step waits for the steps it depends on, fills in their results and calls its
// tool.
func (t *turn) step(ctx context.Context, step agent.Step, at *gate.Turnstile, ended map[string]chan struct{},
	earlier func(string) finding, stopped func() bool,
) (o Outcome) {
	defer func() {
		var err error
		if agent.Catch(&err); err != nil {
			o = failed(ctx, err)
		}
	}()
	before := t.saved.steps[step.ID]
	if before != nil && before.outcome != nil {
		for id, call := range t.saved.steps {
			if call.outcome != nil && (id == step.ID || strings.HasPrefix(id, step.ID+".")) { // made by its worker
				t.steps.noteCalled(id, t.tool(call.tool), call.outcome.Status)
			}
		}
		if o = *before.outcome; o.Status != agent.Denied {
			t.trace(ctx, gate.Call{Tool: t.tool(step.Tool), Input: before.input, Origin: t.record.OriginOf(step.ID)},
				gate.ChannelOf(step.Tool, t.tool(step.Tool)), &o)
		}
		t.record.Read(step.Tool, o.Result)
		t.record.Called(t.tool(step.Tool), before.input)
		return o
	}
	for _, id := range step.After {
		select {
		case <-ended[id]:
		case <-ctx.Done():
			return failed(ctx, ctx.Err())
		}
	}
	if before == nil && stopped != nil && stopped() {
		return Outcome{Status: agent.Skipped, Reason: outranked}
	}
	tool := t.tool(step.Tool)
	if tool == nil {
		return Outcome{Status: agent.StepFailed, Reason: fmt.Sprintf("unknown tool %s", step.Tool)}
	}
	input := agent.ParseArgs(step.Input)
	isStep := func(id string) bool { return slices.Contains(step.After, id) }
	ids := references(step.Input, isStep)
	made := t.record.OriginOf(step.ID)
	if made != nil {
		for _, id := range ids {
			*made = made.And(earlier(id).Result.Origin)
		}
	}
	if tool.Properties().Delegates && len(step.After) > 0 {
		filled, err := withMaterial(step.Input, ids, step.After, earlier)
		if err != nil {
			return Outcome{Status: agent.Skipped, Reason: err.Error()}
		}
		input = agent.ParseArgs(filled)
	} else if len(ids) > 0 {
		filled, err := fillIn(step.Input, ids, earlier)
		if err != nil {
			return Outcome{Status: agent.Skipped, Reason: err.Error()}
		}
		repaired, err := t.gate.Schemas.Repair(tool, filled)
		if err != nil {
			return Outcome{Status: agent.StepFailed, Reason: err.Error()}
		}
		input = repaired.Input
	}
	if before != nil && before.tool == step.Tool {
		input = before.input // the same call that was asked about before
	}
	return t.do(ctx, gate.Call{
		Step: step.ID, ID: step.ID, Key: t.events.Turn + "/" + step.ID, Tool: tool, Input: input,
		Origin: made, Place: at,
	})
}

// reference matches how a step refers to the text of an earlier result:
// {{1.text}}.
var reference = regexp.MustCompile(`\{\{\s*([\w-]+)\.(?:text|result|output)\s*\}\}`)

// references returns the ids of steps whose results an input uses, among those
// for which isStep is true.
func references(input json.RawMessage, isStep func(id string) bool) (ids []string) {
	for _, m := range reference.FindAllSubmatch(input, -1) {
		if id := string(m[1]); isStep(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// withMaterial adds the results of the steps that a task depends on as its
// material, and replaces references in the task with mentions of it.
func withMaterial(input json.RawMessage, ids, after []string, earlier func(string) finding) (json.RawMessage, error) {
	if err := areDone(ids, earlier); err != nil {
		return nil, err
	}
	input = reference.ReplaceAllFunc(input, func(ref []byte) []byte {
		if id := string(reference.FindSubmatch(ref)[1]); slices.Contains(ids, id) {
			return []byte("(see material " + id + ")")
		}
		return ref
	})
	var task map[string]json.RawMessage
	if err := json.Unmarshal(input, &task); err != nil {
		return nil, errors.New("a result can be used only inside a text value")
	}
	var list []material
	for _, id := range after {
		from := earlier(id)
		if from.Status != agent.Done || from.Result.Text == "" {
			continue
		}
		m := material{ID: id, Text: from.Result.Text}
		for _, s := range from.Result.Sources {
			if !slices.Contains(m.From, s.Path) {
				m.From = append(m.From, s.Path)
			}
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return input, nil
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	task["material"] = raw
	return json.Marshal(task)
}

// areDone returns an error for the first step without a result.
func areDone(ids []string, earlier func(string) finding) error {
	for _, id := range ids {
		if from := earlier(id); from.Status != agent.Done {
			return fmt.Errorf("it needs the result of step %s, which is %s", id, from.Status)
		}
	}
	return nil
}

// fillIn replaces references to the steps ids, inside the strings of an input,
// with the texts of their results.
func fillIn(input json.RawMessage, ids []string, earlier func(string) finding) (json.RawMessage, error) {
	if err := areDone(ids, earlier); err != nil {
		return nil, err
	}
	filled := reference.ReplaceAllFunc(input, func(ref []byte) []byte {
		id := string(reference.FindSubmatch(ref)[1])
		if !slices.Contains(ids, id) {
			return ref
		}
		quoted, err := json.Marshal(earlier(id).Result.Text)
		if err != nil {
			return ref
		}
		return quoted[1 : len(quoted)-1]
	})
	if !json.Valid(filled) {
		return nil, errors.New("a result can be used only inside a text value")
	}
	return filled, nil
}

// renameReferences replaces the step ids in references with ours.
func renameReferences(input json.RawMessage, renamed map[string]string) json.RawMessage {
	return reference.ReplaceAllFunc(input, func(ref []byte) []byte {
		id := string(reference.FindSubmatch(ref)[1])
		if ours := renamed[id]; ours != "" && ours != id {
			return []byte("{{" + ours + ".text}}")
		}
		return ref
	})
}
