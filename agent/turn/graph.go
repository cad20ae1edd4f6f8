package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/events"
	"lifehub/agent/gate"
	"lifehub/agent/toolchoice"
	"lifehub/internal/pattern"
)

// runner runs the steps that the plans and rounds of one turn ask for. The fields
// from tools to attached are set before the first step.
type runner struct {
	events *events.Stream
	record *gate.Record
	gate   *gate.Guard

	tools    []agent.Tool             // the enabled ones when the turn began
	missing  map[string]string        // why tools that are known are not among Tools, by name
	writes   func(tool string) bool   // whether one that is missing would change something; nil: unknown
	redact   func(text string) string // takes the user's secrets out
	saved    saved                    // of a turn that was interrupted and is resumed
	found    []finding                // what was attached, then what the steps brought, in plan order
	attached int                      // how many of found the user attached
	again    bool                     // the turn's last plan leaves something to plan with its results in sight

	calls calls

	mu        sync.Mutex // guards what follows, and saved.plans
	dropped   []string   // what of the plans was left out or changed, and why
	stepsMade int        // by all plans of the turn
	effects   []stepEffect
	writers   []string // tools that change something, and that a plan or a call named
	called    bool     // a tool was called, other than to hand out a task
}

// newRunner returns a runner that makes so many calls at once.
func newRunner(guard *gate.Guard, parallel int) *runner {
	return &runner{events: guard.Record.Stream, record: guard.Record, gate: guard, calls: calls{slots: make(chan struct{}, parallel), writing: make(chan struct{}, 1), made: map[string]*madeCall{}}}
}

// RunCall makes one call behind a gate, outside of any turn. A nil tool fails.
// redact takes the secrets out of what it brings.
func RunCall(ctx context.Context, guard *gate.Guard, redact func(text string) string, tool agent.Tool, input json.RawMessage) (Outcome, error) {
	w := newRunner(guard, 1)
	w.redact = redact
	step := agent.Step{ID: "1", Input: input}
	if tool != nil {
		w.tools, step.Tool = []agent.Tool{tool}, tool.Spec().Name
	}
	found, err := w.runSteps(ctx, []agent.Step{step}, nil)
	if err != nil {
		return Outcome{}, err
	}
	return found[0].Outcome, nil
}

// finding is what one step brought.
type finding struct {
	step agent.Step
	Outcome
}

// runPlan runs the steps as a graph: each as soon as those it comes after have
// ended, however they ended. A failed step is recorded as one; only a
// cancelled ctx is an error.
func (w *runner) runPlan(ctx context.Context, steps []agent.Step) error {
	defer w.events.Phase(agent.PhaseStarted{Agent: "worker"})()
	found, err := w.runSteps(ctx, steps, w.found)
	w.found = append(w.found, found...)
	return err
}

// runSteps runs the steps as a graph. before are the findings of earlier plans,
// whose results the steps may use.
func (w *runner) runSteps(ctx context.Context, steps []agent.Step, before []finding) ([]finding, error) {
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
	line := gate.QueueUp(steps, ended)

	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() {
			defer close(ended[step.ID])
			defer line[i].LetNext()
			o := w.step(ctx, step, line[i], ended, earlier)
			found[i].Outcome = o
			w.events.Emit(agent.StepChanged{Step: step.ID, Status: o.Status, Reason: o.why()})
		})
	}
	running.Wait()
	return found, ctx.Err()
}

// step waits for the steps before it, fills in their results, and calls its tool.
func (w *runner) step(ctx context.Context, step agent.Step, at *gate.Turnstile, ended map[string]chan struct{}, earlier func(string) finding) (o Outcome) {
	defer func() {
		var err error
		if agent.Catch(&err); err != nil {
			o = failed(ctx, err)
		}
	}()
	before := w.saved.steps[step.ID]
	if before != nil && before.outcome != nil {
		for id, call := range w.saved.steps {
			if call.outcome != nil && (id == step.ID || strings.HasPrefix(id, step.ID+".")) { // its worker made those
				w.noteCalled(w.tool(call.tool), call.outcome.Status)
			}
		}
		w.record.Read(step.Tool, before.outcome.Result)
		server, _ := agent.ServerOf(w.tool(step.Tool))
		w.record.ReadFrom(server, before.outcome.Result)
		w.record.Called(w.tool(step.Tool), before.input)
		if before.outcome.Status != agent.Done && before.outcome.Status != agent.Denied && gate.ErrorsUntrusted(w.tool(step.Tool)) {
			w.record.MarkError(step.Tool)
		}
		return *before.outcome
	}
	for _, id := range step.After {
		select {
		case <-ended[id]:
		case <-ctx.Done():
			return failed(ctx, ctx.Err())
		}
	}
	tool := w.tool(step.Tool)
	if tool == nil {
		return Outcome{Status: agent.StepFailed, Reason: fmt.Sprintf("there is no tool %s", step.Tool)}
	}
	input := args.Read(step.Input)
	isStep := func(id string) bool { return slices.Contains(step.After, id) }
	ids := references(step.Input, isStep)
	made := w.record.OriginOf(step.ID)
	if made != nil {
		for _, id := range step.After { // their results may be filled in
			from := earlier(id)
			made.Add(from.step.Tool, w.tool(from.step.Tool), from.Result)
		}
	}
	if _, ok := tool.(delegating); ok && len(step.After) > 0 {
		filled, err := withMaterial(step.Input, ids, step.After, earlier)
		if err != nil {
			return Outcome{Status: agent.Skipped, Reason: err.Error()}
		}
		input = args.Read(filled)
	} else if len(ids) > 0 {
		filled, err := fillIn(step.Input, ids, earlier)
		if err != nil {
			return Outcome{Status: agent.Skipped, Reason: err.Error()}
		}
		repaired, err := w.gate.Schemas.Repair(tool, filled)
		if err != nil {
			return Outcome{Status: agent.StepFailed, Reason: err.Error()}
		}
		input = repaired.Input
	}
	if before != nil && before.tool == step.Tool {
		input = before.input // what is asked again is what was asked
	}
	return w.do(ctx, gate.Call{Step: step.ID, ID: step.ID, Key: w.events.Turn + "/" + step.ID, Tool: tool, Input: input, Origin: made, Turn: at})
}

// why says what the user should know of an outcome.
func (o Outcome) why() string {
	if o.Reason == "" && o.same != "" {
		return "the same call as step " + o.same
	}
	return o.Reason
}

// tool is the turn's tool of this name, also a former one; nil: there is none.
func (w *runner) tool(name string) agent.Tool { return toolchoice.Named(w.tools, name) }

// reference is how a step uses the text that an earlier one brought: {{1.text}}.
var reference = pattern.Lazy(`\{\{\s*([\w-]+)\.(?:text|result|output)\s*\}\}`)

// references lists the steps whose results an input uses, of those that isStep
// knows.
func references(input json.RawMessage, isStep func(id string) bool) (ids []string) {
	for _, m := range reference.FindAllSubmatch(input, -1) {
		if id := string(m[1]); isStep(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// material is what an earlier step brought, for the worker of a later one.
type material struct {
	ID   string   `json:"id"`
	Text string   `json:"text"`
	From []string `json:"from,omitempty"` // the places that it was made from
}

// withMaterial gives a task the results of the steps it comes after as its
// material. The task refers to them; their words are no part of it.
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
		return nil, errors.New("the results of earlier steps stand outside its texts")
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

// areDone reports the first of the steps whose result is not there.
func areDone(ids []string, earlier func(string) finding) error {
	for _, id := range ids {
		if from := earlier(id); from.Status != agent.Done {
			return fmt.Errorf("it needs the result of step %s, which is %s", id, from.Status)
		}
	}
	return nil
}

// fillIn puts the texts of the steps ids in place of the references to them,
// inside the strings of an input.
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
		return nil, errors.New("the results of earlier steps stand outside its texts")
	}
	return filled, nil
}

// stepsOf are those of findings.
func stepsOf(found []finding) (steps []agent.Step) {
	for _, f := range found {
		steps = append(steps, f.step)
	}
	return steps
}

// stepIDs are those of the steps of findings.
func stepIDs(found []finding) (ids []string) {
	for _, f := range found {
		ids = append(ids, f.step.ID)
	}
	return ids
}
