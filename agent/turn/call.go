package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/internal/text"
	"lifehub/llm"
)

const (
	// callTimeout bounds a call of a tool that is without one of its own.
	callTimeout = 60 * time.Second
	// MaxResult bounds the text of a result that reaches the model, in bytes.
	MaxResult = 32 << 10
	// maxReason bounds the text of an error, in bytes.
	maxReason = 4 << 10
)

// calls coordinates the calls of one turn.
type calls struct {
	slots   chan struct{} // limits concurrent calls
	writing chan struct{} // calls that change something run one at a time
	mu      sync.Mutex
	made    map[string]*madeCall
}

// madeCall is a running or finished call. done is closed when it ends.
type madeCall struct {
	step    string
	done    chan struct{}
	reading bool // its tool changes nothing
	Outcome
}

// sameCall returns a key that is equal for identical calls.
func sameCall(tool string, input agent.Args) string { return tool + " " + input.Canonical() }

// do makes a call. If another step makes the identical call, do waits for its
// outcome instead: identical calls of a turn run once.
func (t *turn) do(ctx context.Context, c gate.Call) Outcome {
	ctx = agent.WithCaller(ctx, agent.Caller{
		Conversation: t.record.Conversation, Turn: t.events.Turn,
		Origin: t.gate.OriginOf(c),
	})
	key := sameCall(c.Name(), c.Input)
	t.steps.calls.mu.Lock()
	other := t.steps.calls.made[key]
	if other == nil {
		mine := &madeCall{
			step: c.Step, done: make(chan struct{}), reading: agent.ReadOnly(c.Tool),
			Outcome: Outcome{Status: agent.StepFailed, Reason: "the tool broke"},
		}
		t.steps.calls.made[key] = mine
		t.steps.calls.mu.Unlock()
		defer close(mine.done)
		mine.Outcome = t.call(ctx, c)
		return mine.Outcome
	}
	t.steps.calls.mu.Unlock()
	c.Place.Leave() // only the other call asks the user and runs
	select {
	case <-other.done:
		shared := other.Outcome
		shared.same = other.step
		return shared
	case <-ctx.Done():
		return failed(ctx, ctx.Err())
	}
}

// call takes a call through the gate and runs it. Its outcome is journalled
// before it is used or shown.
func (t *turn) call(ctx context.Context, c gate.Call) Outcome {
	t.record.Called(c.Tool, c.Input)
	ctx = t.gate.WithHidden(ctx, c.Tool)
	permit, o := t.admit(ctx, c)
	c.Place.LetNext()
	if permit == nil {
		through := gate.ChannelOf(c.Name(), c.Tool)
		if o.Result.Untrusted {
			through.Source = "what the before_call hook said"
		}
		if o.Result.Untrusted || o.Status != agent.Denied {
			t.trace(ctx, c, through, &o)
		}
		t.recordEnd(ctx, c, o)
		return o
	}
	planned := c
	c.Input = permit.Input() // the user may have changed it
	release, err := t.steps.calls.enter(ctx, c)
	if err != nil {
		return failed(ctx, ctx.Err())
	}
	defer release()
	if err := t.gate.Ready(ctx, planned, permit); err != nil {
		return failed(ctx, err)
	}
	if err := t.gate.Start(ctx, c, permit); err != nil {
		return failed(ctx, err)
	}
	t.events.Count(func(m *agent.Metrics) { m.ToolCalls++ })
	t.steps.noteCalled(c.Step, c.Tool, agent.Running)
	t.events.Emit(agent.StepChanged{Step: c.Step, Status: agent.Running})
	name := c.Name()
	t.events.Emit(agent.ToolStarted{Step: c.Step, Call: c.ID, Name: name, Input: c.Input.JSON()})
	start := t.events.Now()
	host := agent.HostOptions{
		Step: c.Step, Call: c.ID, Tool: name,
		Unattended: t.gate.Unattended(), Events: t.events, Working: 1, Redact: t.agent.Redact,
	}.Open()
	o = t.perform(agent.WithHost(ctx, host), c.Tool, permit)
	if c.Input.String() != planned.Input.String() {
		o.input = c.Input.JSON()
	}
	o.seen = permit.Asked()
	t.steps.did(c.Step, effectsOf(c.Tool, host.Close(), o.err)...)
	t.trace(ctx, planned, gate.ChannelOf(name, c.Tool), &o)
	t.recordEnd(ctx, c, o)
	ended := agent.ToolEnded{Step: c.Step, Call: c.ID, Name: name, Took: t.events.Since(start)}
	if o.Status != agent.Done {
		ended.Error, ended.Cause = o.Reason, text.Clip(t.agent.Redact.Known(llm.Cause(o.err)), maxReason)
		t.events.Emit(ended)
		return o
	}
	if !agent.ReadOnly(c.Tool) {
		t.steps.calls.forgetReadings()
	}
	if a := o.Result.Artifact; a != nil {
		t.events.Emit(agent.ArtifactChanged{Step: c.Step, Name: a.Name, Version: a.Version, By: a.By, Why: a.Why})
	}
	t.events.Count(func(m *agent.Metrics) {
		if o.Result.Searched {
			m.Searches++
			m.RAGHits += len(o.Result.Sources)
		}
	})
	t.record.Read(name, o.Result)
	ended.Nothing = o.Result.Nothing
	ended.Output, ended.Sources, ended.Coverage = o.Result.Text, o.Result.Sources, o.Result.Coverage
	t.events.Emit(ended)
	return o
}

// trace determines where the result or error of a call comes from, which is in the
// prompts from now on.
func (t *turn) trace(ctx context.Context, c gate.Call, through gate.Channel, o *Outcome) {
	t.record.Trace(ctx, t.gate.OriginOf(c), through, &o.Result, o.Reason)
	t.record.Add(o.Result.Origin)
}

// perform runs a permitted call.
func (t *turn) perform(ctx context.Context, tool agent.Tool, p *gate.Permit) Outcome {
	result, err := t.runInTime(ctx, tool, p)
	o := outcomeOf(ctx, result, err)
	o.Result.Text, o.Reason = text.Clip(t.agent.Redact.Known(o.Result.Text), MaxResult),
		text.Clip(t.agent.Redact.Known(o.Reason), MaxResult)
	if o.stopped && !agent.ReadOnly(tool) {
		o.Status, o.Reason = agent.StepFailed, "stopped in the middle: outcome unknown"
	}
	return o
}

// runInTime runs a permitted call with its timeout.
func (t *turn) runInTime(ctx context.Context, tool agent.Tool, p *gate.Permit) (result agent.Result, err error) {
	of := tool.Properties()
	if of.Delegates { // it emits events and must end before the turn
		defer agent.Catch(&err)
		return p.Run(ctx)
	}
	defer t.events.CountWork()()
	limit := cmp.Or(of.Timeout, callTimeout)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err = agent.Guarded(timed, p.Run)
	if errors.Is(err, context.DeadlineExceeded) && timed.Err() != nil && ctx.Err() == nil {
		return agent.Result{}, fmt.Errorf("no answer within %s", limit)
	}
	return result, err
}

// enter waits for a free slot and, if the call may change something, for the earlier
// such calls of its reply and for those of other workers to end. The caller must call
// leave.
func (c *calls) enter(ctx context.Context, made gate.Call) (leave func(), err error) {
	if made.Tool.Properties().Delegates {
		return func() {}, nil // the calls of its worker take the slots
	}
	writes := agent.MayWrite(made.Tool)
	if writes {
		if err := made.Place.WaitToWrite(ctx); err != nil {
			return nil, err
		}
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

// forgetReadings allows read-only calls to be repeated, because something was
// changed.
func (c *calls) forgetReadings() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, made := range c.made {
		select {
		case <-made.done:
			if made.reading && made.Status == agent.Done {
				delete(c.made, key)
			}
		default: // still running
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

// outcomeOf returns the outcome of a call that returned result and err.
func outcomeOf(ctx context.Context, result agent.Result, err error) Outcome {
	var broke *agent.PanicError
	switch {
	case err == nil:
		return Outcome{Status: agent.Done, Result: result}
	case ctx.Err() != nil:
		return Outcome{Status: agent.Skipped, Reason: "the turn was stopped", stopped: true, err: err}
	case errors.As(err, &broke):
		err = fmt.Errorf("the tool broke: %v", broke.Fault)
	}
	return Outcome{Status: agent.StepFailed, Reason: text.Clip(err.Error(), maxReason), err: err}
}

func failed(ctx context.Context, err error) Outcome { return outcomeOf(ctx, agent.Result{}, err) }

// admit decides whether a call may run. Without a permit it may not, and the
// outcome says why.
func (t *turn) admit(ctx context.Context, c gate.Call) (*gate.Permit, Outcome) {
	pass := t.gate.Pass
	if before := t.saved.calls[sameCall(c.Name(), c.Input)]; t.saved.damaged ||
		before != nil && !before.started.IsZero() {
		if before != nil {
			t.steps.undid(before.step) // it is determined again below
		}
		switch happened, effects := t.happened(ctx, c, before); happened {
		case agent.HasHappened:
			t.steps.did(c.Step, effects...)
			return nil, Outcome{Status: agent.Done, Result: agent.Result{Text: "It was done before LifeHub was stopped."}}
		case agent.MayHaveHappened:
			t.steps.did(c.Step, agent.Effect{Kind: agent.Unknown, Tool: c.Name()})
			since := time.Time{}
			if before != nil {
				since = before.started
			}
			pass = func(ctx context.Context, c gate.Call) (*gate.Permit,
				error,
			) {
				return t.gate.PassAgain(ctx, c, since)
			}
		}
	}
	p, err := pass(ctx, c)
	var no *gate.Refusal
	var denied *gate.Denial
	switch {
	case errors.Is(err, gate.ErrAlreadyDone):
		t.steps.undid(c.Step)
		t.steps.did(c.Step, agent.Effect{Kind: agent.ToolCalled, Tool: c.Name(), Count: 1})
		return nil, Outcome{Status: agent.Done, Result: agent.Result{Text: "It was done before LifeHub was stopped: " +
			"the user has checked."}}
	case errors.As(err, &no):
		return nil, Outcome{Status: agent.Denied, Reason: no.Reason}
	case errors.As(err, &denied):
		return nil, Outcome{
			Status: agent.Denied, Reason: t.agent.Redact.Known(denied.Error()),
			Result: agent.Result{Untrusted: true},
		}
	case err != nil:
		return nil, failed(ctx, err)
	}
	return p, Outcome{}
}

// happened determines whether a call happened that was, or may have been,
// started before the turn was interrupted. before is nil if nothing is known
// about it.
func (t *turn) happened(ctx context.Context, c gate.Call, before *savedCall) (agent.Happened, []agent.Effect) {
	if agent.ReadOnly(c.Tool) {
		return agent.HasNotHappened, nil // repeating it is harmless
	}
	checker, ok := c.Tool.(agent.Checker)
	if !ok || before == nil || before.mark == nil {
		return agent.MayHaveHappened, nil
	}
	type found struct {
		happened agent.Happened
		effects  []agent.Effect
	}
	f, err := agent.Guarded(ctx, func(ctx context.Context) (f found, err error) {
		f.happened, f.effects, err = checker.Check(ctx, before.mark)
		return f, err
	})
	if err != nil {
		return agent.MayHaveHappened, nil
	}
	return f.happened, f.effects
}

// recordEnd journals how a call ended. A call that was stopped is not recorded:
// it stays open or its outcome unknown.
func (t *turn) recordEnd(ctx context.Context, c gate.Call, o Outcome) {
	if o.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), agent.SaveTimeout)
	defer cancel()
	entry := agent.Entry{
		Moment: agent.CallEnded, Step: c.Step, Status: o.Status, Reason: o.Reason,
		Effects: t.steps.effectsBy(c.Step),
	}
	if o.Status == agent.Done || o.Result.Untrusted {
		entry.Result = &o.Result
	}
	if err := t.events.Enter(ctx, entry); err != nil {
		t.events.Notice("The result of step %s could not be saved: %v. If LifeHub is stopped now, it will ask about "+
			"this step again.", c.Step, err)
	}
}
