package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/rules"
	"lifehub/internal/text"
)

const (
	// callTimeout bounds a call of a tool that is not Timed.
	callTimeout = 60 * time.Second
	// maxResult is what of a tool's text reaches the model, in bytes.
	maxResult = 32 << 10
	// maxReason bounds what a tool's error says, in bytes.
	maxReason = 4 << 10
)

// call is one use of a tool.
type call struct {
	step  string
	id    string // pairs the events of the call
	key   string // the same when the call is made again after a kill, and like no other
	tool  agent.Tool
	input json.RawMessage
	as    rules.Reading // how rules read the input; zero: as it stands
	at    *turnstile    // among the steps that may ask
	made  *origin       // nil: not known, so that everything read so far may have had a part in it
}

// ruled is how rules read the call.
func (c call) ruled() rules.Reading {
	if c.as.Plain == nil {
		return rules.Reading{Plain: c.input, Former: agent.FormerNames(c.tool)}
	}
	return c.as
}

// outcome is what became of a call.
type outcome struct {
	status agent.Status
	result agent.Result
	reason string // why there is no result
	same   string // the step whose identical call stands for this one

	stopped bool  // the turn was stopped before its end was known
	err     error // of the tool
}

// calls keeps order among the calls of one turn.
type calls struct {
	slots   chan struct{} // as many calls run at once
	writing chan struct{} // calls that change something run one at a time
	mu      sync.Mutex
	made    map[string]*madeCall
	before  map[string]*savedCall // by step, from before the turn was cut
}

// madeCall is a call that runs or has run; done is closed when it has.
type madeCall struct {
	step    string
	done    chan struct{}
	reading bool // its tool changes nothing
	outcome
}

func (c *calls) init(parallel int) {
	c.slots = make(chan struct{}, parallel)
	c.writing = make(chan struct{}, 1)
	c.made = map[string]*madeCall{}
}

// sameCall is the same for identical calls.
func sameCall(tool string, input json.RawMessage) string { return tool + " " + args.Canonical(input) }

// do makes a call, or waits for the identical one that another step makes:
// identical calls of a turn run once.
func (t *turn) do(ctx context.Context, c call) outcome {
	ctx = agent.WithOrigin(ctx, agent.Origin{Conversation: t.conversation, Turn: t.id})
	key := sameCall(c.tool.Spec().Name, c.input)
	t.calls.mu.Lock()
	twin := t.calls.made[key]
	if twin == nil {
		mine := &madeCall{step: c.step, done: make(chan struct{}), reading: agent.ReadOnly(c.tool), outcome: outcome{status: agent.StepFailed, reason: "the tool broke"}}
		t.calls.made[key] = mine
		t.calls.mu.Unlock()
		defer close(mine.done)
		mine.outcome = t.make(ctx, c)
		return mine.outcome
	}
	t.calls.mu.Unlock()
	c.at.letNext() // it is the other one that may ask
	select {
	case <-twin.done:
		shared := twin.outcome
		shared.same = twin.step
		return shared
	case <-ctx.Done():
		return stopped()
	}
}

// make takes a call through the gate and runs it. Its end is in the journal
// before anybody learns of it.
func (t *turn) make(ctx context.Context, c call) outcome {
	t.seen.call(c.tool, c.input)
	ctx = t.withHidden(ctx, c.tool)
	permit, o := t.admit(ctx, c)
	c.at.letNext()
	if permit == nil {
		t.mark(ctx, c.tool.Spec().Name, false, &o.result, o.reason)
		if o.result.Untrusted {
			t.markUntrusted(saidBy(c.tool.Spec().Name))
		}
		t.over(ctx, c, o)
		return o
	}
	planned := c
	c.input = permit.input // the user may have changed it
	release, err := t.calls.enter(ctx, c, permit)
	if err != nil {
		return stopped()
	}
	defer release()
	if err := t.rememberWritten(ctx, planned, permit.preview); err != nil {
		return failedOutcome(ctx, err)
	}
	if err := t.begun(ctx, c, permit); err != nil {
		return failedOutcome(ctx, err)
	}
	t.count(func(m *agent.Metrics) { m.ToolCalls++ })
	t.emit(agent.StepChanged{Step: c.step, Status: agent.Running})
	name := c.tool.Spec().Name
	t.emit(agent.ToolStarted{Step: c.step, Call: c.id, Name: name, Input: c.input})
	start := t.Now()
	seated, leave := t.sit(ctx, c)
	o = t.perform(seated, permit)
	t.did(c.step, effectsOf(c.tool, leave(), o.err)...)
	t.mark(ctx, name, errorsUntrusted(c.tool), &o.result, o.reason)
	t.over(ctx, c, o)
	ended := agent.ToolEnded{Step: c.step, Call: c.id, Name: name, Took: t.since(start)}
	if o.status != agent.Done {
		if o.result.Untrusted {
			t.markUntrusted(saidBy(name)) // its error, in its own words
		}
		ended.Error = o.reason
		t.emit(ended)
		return o
	}
	if !agent.ReadOnly(c.tool) {
		t.calls.forgetReadings()
	}
	if a := o.result.Artifact; a != nil {
		t.emit(agent.ArtifactChanged{Step: c.step, Name: a.Name, Version: a.Version, By: a.By, Why: a.Why})
	}
	t.count(func(m *agent.Metrics) {
		if o.result.Searched {
			m.Searches++
			m.RAGHits += len(o.result.Sources)
		}
	})
	t.recordRead(name, o.result)
	t.seen.result(o.result)
	ended.Nothing = o.result.Nothing
	ended.Output, ended.Sources, ended.Coverage = o.result.Text, o.result.Sources, o.result.Coverage
	t.emit(ended)
	return o
}

// perform runs a permitted call and tells what became of it.
func (t *turn) perform(ctx context.Context, p *permit) outcome {
	result, err := t.runInTime(ctx, p)
	if err == nil {
		result.Text = text.Clip(t.Redact(result.Text), maxResult)
		return outcome{status: agent.Done, result: result}
	}
	o := failedOutcome(ctx, err)
	o.err = err
	o.reason = text.Clip(t.Redact(o.reason), maxResult)
	if o.stopped && !agent.ReadOnly(p.tool) {
		o.status, o.reason = agent.StepFailed, "it was stopped in the middle: whether it happened is not known"
	}
	return o
}

// runInTime runs a permitted call within its time.
func (t *turn) runInTime(ctx context.Context, p *permit) (agent.Result, error) {
	if d, ok := p.tool.(*delegate); ok { // it tells of itself, so that it has to end before the turn
		return d.wait(ctx, p)
	}
	defer t.countWork()()
	limit := callTimeout
	if timed, ok := p.tool.(agent.Timed); ok && timed.Timeout() > 0 {
		limit = timed.Timeout()
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := agent.Guarded(timed, p.run)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return agent.Result{}, fmt.Errorf("no answer within %s", limit)
	}
	return result, err
}

// mayWrite reports whether a permitted call waits until no other that may
// change something runs. A tool of another program is believed when it says
// that it only reads, here and nowhere else; where it says nothing, a rule that
// lets the call run unseen counts as much.
func mayWrite(c call, p *permit) bool {
	hinted, ok := c.tool.(agent.Hinted)
	if ok && hinted.ReadOnlyHint() != nil {
		return !*hinted.ReadOnlyHint()
	}
	return c.tool.Level(c.input) != agent.Auto && (p.asked || !ok)
}

// enter waits for a free slot, and, if the call may change something, for the
// other such calls to end. Call leave afterwards.
func (c *calls) enter(ctx context.Context, made call, p *permit) (leave func(), err error) {
	if _, ok := made.tool.(*delegate); ok {
		return func() {}, nil // its worker's calls take the places
	}
	writes := mayWrite(made, p)
	if writes {
		if err := take(ctx, c.writing); err != nil {
			return nil, err
		}
	}
	if err := take(ctx, c.slots); err != nil {
		if writes {
			<-c.writing
		}
		return nil, err
	}
	return func() {
		<-c.slots
		if writes {
			<-c.writing
		}
	}, nil
}

// forgetReadings lets calls that change nothing be made again, because
// something was changed since.
func (c *calls) forgetReadings() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, made := range c.made {
		select {
		case <-made.done:
			if made.reading && made.status == agent.Done {
				delete(c.made, key)
			}
		default: // it goes on
		}
	}
}

func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func failedOutcome(ctx context.Context, err error) outcome {
	if ctx.Err() != nil {
		return stopped()
	}
	var broke *agent.PanicError
	if errors.As(err, &broke) {
		return outcome{status: agent.StepFailed, reason: text.Clip(fmt.Sprintf("the tool broke: %v", broke.Fault), maxReason)}
	}
	return outcome{status: agent.StepFailed, reason: text.Clip(err.Error(), maxReason)}
}

func stopped() outcome {
	return outcome{status: agent.Skipped, reason: "the turn was stopped", stopped: true}
}

// sit opens a desk for a call; leave closes it, so that nothing comes from there
// any more, and returns what the call said it did.
func (t *turn) sit(ctx context.Context, c call) (_ context.Context, leave func() []agent.Effect) {
	d := agent.Seat{
		Step: c.step, Call: c.id, Tool: c.tool.Spec().Name,
		Unattended: t.gate.unattended, Emit: t.emit, Redact: t.Redact, Asks: func() func() { return t.waitForUser(1) },
	}.Open()
	return agent.WithHost(ctx, d), d.Close
}
