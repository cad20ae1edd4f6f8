package turn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/events"
	"lifehub/agent/gate"
)

// saved is what is known of a turn that was interrupted and is resumed. The zero
// value is a turn that begins.
type saved struct {
	text    string                // of the answer, as far as it was kept
	plans   []agent.Entry         // in the order in which they were made
	steps   map[string]*savedCall // what became of their steps; nil: there is no plan
	calls   map[string]*savedCall // those that were begun or decided, by [sameCall]
	judged  map[try]agent.Entry   // what workers reported, and the verdict
	damaged bool                  // calls may have been started that are not in calls
}

// try is which attempt of a step's worker.
type try struct {
	step    string
	attempt int
}

// savedCall is how far a call came.
type savedCall struct {
	step    string
	tool    string // "": it never got as far as its arguments
	input   args.Input
	started time.Time
	mark    []byte
	outcome *Outcome // nil: it did not end, and the user did not refuse it
	ended   bool
	effects []agent.Effect // of one that ended
}

// readJournal makes sense of what was saved.
func readJournal(left agent.Unfinished) saved {
	k := saved{calls: map[string]*savedCall{}, judged: map[try]agent.Entry{}, text: left.Text, damaged: left.Damaged}
	for _, e := range left.Entries {
		if e.Version != events.EntryVersion || !k.add(e) {
			k.damaged = true
		}
	}
	return k
}

// add takes in an entry, and reports false for one that makes no sense.
func (k *saved) add(e agent.Entry) bool {
	if e.Moment == agent.Planned {
		if e.Plan == nil {
			return false
		}
		k.plans = append(k.plans, e)
		if k.steps == nil {
			k.steps = map[string]*savedCall{}
		}
		return true
	}
	if k.steps == nil {
		return false
	}
	if e.Moment == agent.Judged {
		if e.Verdict != nil {
			k.judged[try{e.Step, e.Attempt}] = e
		}
		return e.Verdict != nil
	}
	c := k.steps[e.Step]
	if c == nil {
		c = &savedCall{step: e.Step}
		k.steps[e.Step] = c
	}
	switch e.Moment {
	case agent.Intended:
		if gate.Hash(e.Input) != e.Hash {
			return false
		}
		c.tool, c.input = e.Tool, args.Read(e.Input)
	case agent.CallAsked:
	case agent.Decided:
		if e.Decision == agent.Refuse {
			c.outcome = &Outcome{Status: agent.Denied, Reason: gate.Because(gate.Declined, e.Reason)}
		}
	case agent.CallStarted:
		c.started, c.mark, c.outcome, c.ended = e.Time, e.Mark, nil, false
	case agent.CallEnded:
		c.outcome, c.effects, c.ended = &Outcome{Status: e.Status, Reason: e.Reason}, e.Effects, true
		if e.Result != nil {
			c.outcome.Result = *e.Result
		}
	default:
		return false
	}
	if c.tool != "" {
		k.calls[sameCall(c.tool, c.input)] = c
	}
	return true
}

// hasPlan reports whether a plan was made before the turn was interrupted.
func (k *saved) hasPlan() bool { return k.steps != nil }

// hasAnswered reports whether the answer was there, and a plan followed it.
func (k *saved) hasAnswered() bool {
	return slices.ContainsFunc(k.plans, func(p agent.Entry) bool { return p.Plan.FollowsAnswer() })
}

// Mode is that of the first plan; "": there is none.
func (k *saved) Mode() agent.Mode {
	if len(k.plans) == 0 {
		return ""
	}
	return k.plans[0].Plan.Mode
}

// tools names the tools of saved plans, one a line.
func (k *saved) tools() string {
	var names strings.Builder
	for _, p := range k.plans {
		for _, step := range p.Plan.Steps {
			names.WriteString("\n" + step.Tool)
		}
	}
	return names.String()
}

// longer is the answer as kept before the turn was interrupted, if text has not
// become as long: what the user was told is not taken back.
func (k *saved) longer(text string) string {
	if len(k.text) > len(text) {
		return k.text
	}
	return text
}

// verdict is what a worker's attempt reported and what the evaluator said of it,
// if it came so far.
func (k *saved) verdict(step string, attempt int) (report string, verdict agent.Judgement, ok bool) {
	e, ok := k.judged[try{step, attempt}]
	if !ok {
		return "", agent.Judgement{}, false
	}
	return e.Report, *e.Verdict, true
}

// resume takes up what was saved of an interrupted turn: its tools get the names
// that they have now, identical calls share what ended, and its effects and the
// liberties of its calls count.
func (w *runner) resume() {
	now := func(name string) string {
		if tool := w.tool(name); tool != nil {
			return tool.Spec().Name
		}
		return name
	}
	for _, p := range w.saved.plans {
		for i := range p.Plan.Steps {
			p.Plan.Steps[i].Tool = now(p.Plan.Steps[i].Tool)
		}
	}
	done := make(chan struct{})
	close(done)
	for _, step := range slices.Sorted(maps.Keys(w.saved.steps)) {
		c := w.saved.steps[step]
		c.tool = now(c.tool)
		if c.tool != "" {
			same := sameCall(c.tool, c.input)
			w.saved.calls[same] = c
			if c.outcome != nil {
				w.calls.made[same] = &madeCall{step: c.step, done: done, Outcome: *c.outcome}
			}
		}
		w.did(step, c.effects...)
		if !c.ended && !c.started.IsZero() && c.tool != agent.DelegateTool && !agent.ReadOnly(w.tool(c.tool)) { // nobody knows
			w.did(step, agent.Effect{Kind: agent.Unknown, Tool: c.tool})
		}
	}
}

// recallLiberties counts those of the calls that began before the turn was interrupted.
func (w *runner) recallLiberties() {
	for _, before := range w.saved.steps {
		if tool := w.tool(before.tool); agent.IsOutward(tool) && !before.started.IsZero() {
			w.gate.RecallLiberties(tool, before.input)
		}
	}
}

// admit decides whether a call runs. Without a permit it does not, and the
// outcome is what becomes of it.
func (w *runner) admit(ctx context.Context, c gate.Call) (*gate.Permit, Outcome) {
	pass := w.gate.Pass
	if before := w.saved.calls[sameCall(c.Name(), c.Input)]; w.saved.damaged || before != nil && !before.started.IsZero() {
		if before != nil {
			w.undid(before.step) // now it is found out
		}
		switch happened, effects := w.happened(ctx, c, before); happened {
		case agent.HasHappened:
			w.did(c.Step, effects...)
			return nil, Outcome{Status: agent.Done, Result: agent.Result{Text: "It was done before LifeHub was stopped."}}
		case agent.MayHaveHappened:
			w.did(c.Step, agent.Effect{Kind: agent.Unknown, Tool: c.Name()})
			since := time.Time{}
			if before != nil {
				since = before.started
			}
			pass = func(ctx context.Context, c gate.Call) (*gate.Permit, error) { return w.gate.PassAgain(ctx, c, since) }
		}
	}
	p, err := pass(ctx, c)
	var no *gate.Refusal
	switch {
	case errors.Is(err, gate.ErrAlreadyDone):
		w.undid(c.Step)
		w.did(c.Step, agent.Effect{Kind: agent.ToolCalled, Tool: c.Name(), Count: 1})
		return nil, Outcome{Status: agent.Done, Result: agent.Result{Text: "It was done before LifeHub was stopped: the user has checked."}}
	case errors.As(err, &no):
		return nil, Outcome{Status: agent.Denied, Reason: no.Reason}
	case err != nil:
		return nil, failed(ctx, err)
	}
	return p, Outcome{}
}

// happened returns what became of a call that was or may have been started
// before the turn was interrupted. before is nil where nothing is known.
func (w *runner) happened(ctx context.Context, c gate.Call, before *savedCall) (agent.Happened, []agent.Effect) {
	if agent.ReadOnly(c.Tool) {
		return agent.HasNotHappened, nil // and if not, nobody minds
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

// recordEnd records how a call ended. One that was stopped before it began stays
// open, and one that was stopped in the middle stays unknown.
func (w *runner) recordEnd(ctx context.Context, c gate.Call, o Outcome) {
	if o.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), events.SaveTimeout)
	defer cancel()
	entry := agent.Entry{Moment: agent.CallEnded, Step: c.Step, Status: o.Status, Reason: o.Reason, Effects: w.effectsBy(c.Step)}
	if o.Status == agent.Done || o.Result.Untrusted {
		entry.Result = &o.Result
	}
	if err := w.events.Enter(ctx, entry); err != nil {
		w.events.Notice("The result of step %s could not be saved: %v. If LifeHub is stopped now, it will ask about this step again.", c.Step, err)
	}
}
