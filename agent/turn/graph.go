package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lifehub/agent"
	"lifehub/agent/events"
	"lifehub/agent/gate"
	"lifehub/agent/provenance"
	"lifehub/agent/toolchoice"
	"lifehub/internal/pattern"
)

// Runner does what the plans of one turn say. Its exported fields are set
// before the first step.
type Runner struct {
	events *events.Stream
	record *provenance.Record
	gate   *gate.Guard

	Tools    []agent.Tool             // the enabled ones when the turn began
	Missing  map[string]string        // why tools that are known are not among Tools, by name
	Writes   func(tool string) bool   // whether one that is missing would change something; nil: unknown
	Redact   func(text string) string // takes the user's secrets out
	Saved    Saved                    // of a turn that was interrupted and is resumed
	Found    []Finding                // what was attached, then what the steps brought, in plan order
	Attached int                      // how many of Found the user attached
	Again    bool                     // the turn's last plan leaves something to plan with its results in sight

	calls calls

	mu        sync.Mutex // guards what follows, and Saved.plans
	dropped   []string   // what of the plans was left out or changed, and why
	stepsMade int        // by all plans of the turn
	effects   []stepEffect
	writers   []string // tools that change something, and that a plan or a call named
	called    bool     // a tool was called, other than to hand out a task
}

// New returns a worker that makes so many calls at once.
func NewRunner(guard *gate.Guard, parallel int) *Runner {
	return &Runner{events: guard.Record.Stream, record: guard.Record, gate: guard, calls: calls{slots: make(chan struct{}, parallel), writing: make(chan struct{}, 1), made: map[string]*madeCall{}}}
}

// Finding is what one step brought.
type Finding struct {
	Step agent.Step
	Outcome
}

// RunPlan runs the steps as a graph: each as soon as those it comes after have
// ended, however they ended. A failed step is recorded as one; only a
// cancelled ctx is an error.
func (w *Runner) RunPlan(ctx context.Context, steps []agent.Step) error {
	defer w.events.Phase(agent.PhaseStarted{Agent: "worker"})()
	found, err := w.RunSteps(ctx, steps, w.Found)
	w.Found = append(w.Found, found...)
	return err
}

// RunSteps runs the steps as a graph. before are the findings of earlier plans,
// whose results the steps may use.
func (w *Runner) RunSteps(ctx context.Context, steps []agent.Step, before []Finding) ([]Finding, error) {
	found := make([]Finding, len(steps))
	ended := make(map[string]chan struct{}, len(steps)) // closed when the step's outcome is there
	at := make(map[string]*Finding, len(steps)+len(before))
	over := make(chan struct{})
	close(over)
	for i := range before {
		at[before[i].Step.ID], ended[before[i].Step.ID] = &before[i], over
	}
	for i, step := range steps {
		found[i].Step = step
		at[step.ID], ended[step.ID] = &found[i], make(chan struct{})
	}
	earlier := func(id string) Finding { return *at[id] }
	line := gate.QueueUp(steps, ended)

	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() {
			defer close(ended[step.ID])
			defer line[i].LetNext()
			o := w.step(ctx, step, line[i], ended, earlier)
			found[i].Outcome = o
			w.events.Emit(agent.StepChanged{Step: step.ID, Status: o.Status, Reason: o.Why()})
		})
	}
	running.Wait()
	return found, ctx.Err()
}

// step waits for the steps before it, fills in their results, and calls its tool.
func (w *Runner) step(ctx context.Context, step agent.Step, at *gate.Turnstile, ended map[string]chan struct{}, earlier func(string) Finding) (o Outcome) {
	defer func() {
		var err error
		if agent.Catch(&err); err != nil {
			o = failed(ctx, err)
		}
	}()
	before := w.Saved.steps[step.ID]
	if before != nil && before.outcome != nil {
		w.noteCalled(w.Tool(step.Tool), before.outcome.Status)
		w.record.Read(step.Tool, before.outcome.Result)
		w.record.Called(w.Tool(step.Tool), before.input)
		if before.outcome.Status != agent.Done && before.outcome.Status != agent.Denied && provenance.ErrorsUntrusted(w.Tool(step.Tool)) {
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
	tool := w.Tool(step.Tool)
	if tool == nil {
		return Outcome{Status: agent.StepFailed, Reason: fmt.Sprintf("there is no tool %s", step.Tool)}
	}
	input := step.Input
	isStep := func(id string) bool { return slices.Contains(step.After, id) }
	ids := references(input, isStep)
	made := w.record.OriginOf(step.ID)
	if made != nil {
		for _, id := range step.After { // their results may be filled in
			from := earlier(id)
			made.Add(from.Step.Tool, w.Tool(from.Step.Tool), from.Result)
		}
	}
	if _, ok := tool.(Delegating); ok && len(step.After) > 0 {
		var err error
		if input, err = withMaterial(input, ids, step.After, earlier); err != nil {
			return Outcome{Status: agent.Skipped, Reason: err.Error()}
		}
	} else if len(ids) > 0 {
		filled, err := fillIn(input, ids, earlier)
		if err != nil {
			return Outcome{Status: agent.Skipped, Reason: err.Error()}
		}
		if input, _, err = w.gate.Schemas.Repair(tool.Spec(), filled); err != nil {
			return Outcome{Status: agent.StepFailed, Reason: err.Error()}
		}
	}
	if before != nil && before.tool == step.Tool && before.input != nil {
		input = before.input // what is asked again is what was asked
	}
	return w.do(ctx, gate.Call{Step: step.ID, ID: step.ID, Key: w.events.Turn + "/" + step.ID, Tool: tool, Input: input, Origin: made, Turn: at})
}

// Why says what the user should know of an outcome.
func (o Outcome) Why() string {
	if o.Reason == "" && o.Same != "" {
		return "the same call as step " + o.Same
	}
	return o.Reason
}

// Tool is the turn's tool of this name, also a former one; nil: there is none.
func (w *Runner) Tool(name string) agent.Tool { return toolchoice.Named(w.Tools, name) }

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

// Material is what an earlier step brought, for the worker of a later one.
type Material struct {
	ID   string   `json:"id"`
	Text string   `json:"text"`
	From []string `json:"from,omitempty"` // the places that it was made from
}

// withMaterial gives a task the results of the steps it comes after as its
// material. The task refers to them; their words are no part of it.
func withMaterial(input json.RawMessage, ids, after []string, earlier func(string) Finding) (json.RawMessage, error) {
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
	var list []Material
	for _, id := range after {
		from := earlier(id)
		if from.Status != agent.Done || from.Result.Text == "" {
			continue
		}
		m := Material{ID: id, Text: from.Result.Text}
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
func areDone(ids []string, earlier func(string) Finding) error {
	for _, id := range ids {
		if from := earlier(id); from.Status != agent.Done {
			return fmt.Errorf("it needs the result of step %s, which is %s", id, from.Status)
		}
	}
	return nil
}

// fillIn puts the texts of the steps ids in place of the references to them,
// inside the strings of an input.
func fillIn(input json.RawMessage, ids []string, earlier func(string) Finding) (json.RawMessage, error) {
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

// Steps are those of findings.
func Steps(found []Finding) (steps []agent.Step) {
	for _, f := range found {
		steps = append(steps, f.Step)
	}
	return steps
}

// IDs are those of the steps of findings.
func IDs(found []Finding) (ids []string) {
	for _, f := range found {
		ids = append(ids, f.Step.ID)
	}
	return ids
}
