package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
)

// saved is what is known of a turn that was cut and is resumed. The zero
// value is a turn that begins.
type saved struct {
	plans   []*savedPlan          // in the order in which they were made
	steps   map[string]*savedCall // what became of their steps; nil: there is no plan
	calls   map[string]*savedCall // those that were begun or decided, by [sameCall]
	judged  map[try]attempt       // what workers reported, and the verdict
	text    string                // of the answer, as far as it was kept
	damaged bool                  // calls may have been started that are not in calls
}

// try is which attempt of a step's worker.
type try struct {
	step    string
	attempt int
}

// savedPlan is a plan and what was said before it.
type savedPlan struct {
	made agent.PlanMade
	said string

	untrusted []string // as in its Entry
}

// savedCall is how far a call came.
type savedCall struct {
	step    string
	tool    string
	input   []byte // nil: it never got as far
	started time.Time
	mark    []byte
	outcome *outcome       // nil: it did not end
	effects []agent.Effect // of one that ended
}

// reopen takes up a turn that was cut.
func (t *turn) reopen(ctx context.Context, id string) (err error) {
	defer func() {
		t.emit(agent.Started{Conversation: t.conversation, Message: t.message, Mode: string(t.mode), Resumed: true})
	}()
	defer agent.Catch(&err)
	if t.Journal == nil {
		return errors.New("nothing is kept of this conversation")
	}
	left, err := t.Journal.Reopen(ctx, t.conversation, id)
	if err != nil {
		return fmt.Errorf("go on with the turn: %w", err)
	}
	t.id = id
	t.sent(left.Question)
	t.saved = readJournal(left)
	if len(t.saved.plans) > 0 {
		t.mode = cmp.Or(t.saved.plans[0].made.Mode, agent.PlanMode)
	}
	return nil
}

// readJournal makes sense of what was kept.
func readJournal(left agent.Unfinished) saved {
	k := saved{calls: map[string]*savedCall{}, judged: map[try]attempt{}, text: left.Text, damaged: left.Damaged}
	for _, e := range left.Entries {
		if e.Version != entryVersion || !k.take(e) {
			k.damaged = true
		}
	}
	return k
}

// take adds an entry, and reports false for one that makes no sense.
func (k *saved) take(e agent.Entry) bool {
	if e.Moment == agent.Planned {
		if e.Plan == nil {
			return false
		}
		k.plans = append(k.plans, &savedPlan{made: *e.Plan, said: e.Said, untrusted: e.Untrusted})
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
			k.judged[try{e.Step, e.Attempt}] = attempt{e.Report, *e.Verdict}
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
		if hash(e.Input) != e.Hash {
			return false
		}
		c.tool, c.input = e.Tool, e.Input
	case agent.CallAsked:
	case agent.Decided:
		if e.Decision == agent.Refuse {
			c.outcome = &outcome{status: agent.Denied, reason: because("the user said no", e.Reason)}
		}
	case agent.CallStarted:
		c.started, c.mark, c.outcome = e.Time, e.Mark, nil
	case agent.CallEnded:
		c.outcome, c.effects = &outcome{status: e.Status, reason: e.Reason}, e.Effects
		if e.Result != nil {
			c.outcome.result = *e.Result
		}
	default:
		return false
	}
	if c.input != nil {
		k.calls[sameCall(c.tool, c.input)] = c
	}
	return true
}

// resumeKept takes up what was saved of a turn that was cut. Its tools get the
// names that they have now.
func (t *turn) resumeKept() {
	now := func(name string) string {
		if tool := t.tool(name); tool != nil {
			return tool.Spec().Name
		}
		return name
	}
	for _, p := range t.saved.plans {
		for i := range p.made.Steps {
			p.made.Steps[i].Tool = now(p.made.Steps[i].Tool)
		}
	}
	for _, c := range t.saved.steps {
		if c.tool = now(c.tool); c.input != nil {
			t.saved.calls[sameCall(c.tool, c.input)] = c
		}
	}
	t.calls.ended(t.saved.steps)
	t.recallEffects()
}

// tools names the tools of saved plans, one a line.
func (k *saved) tools() string {
	var names strings.Builder
	for _, p := range k.plans {
		for _, step := range p.made.Steps {
			names.WriteString("\n" + step.Tool)
		}
	}
	return names.String()
}

// longer is the answer as kept before the turn was cut, if text has not
// become as long: what the user was told is not taken back.
func (k *saved) longer(text string) string {
	if len(k.text) > len(text) {
		return k.text
	}
	return text
}

// savedPlan is the next plan that the turn, or the attempt of a worker, had
// made before it was cut; nil: there is none, and one is to be made.
func (t *turn) savedPlan(under string, attempt int) (*savedPlan, error) {
	t.counting.Lock()
	at := slices.IndexFunc(t.saved.plans, func(p *savedPlan) bool { return p.made.Under == under && p.made.Attempt == attempt })
	var p *savedPlan
	if at >= 0 {
		p = t.saved.plans[at]
		t.saved.plans = slices.Delete(t.saved.plans, at, at+1)
	}
	t.counting.Unlock()
	if p == nil {
		if t.saved.damaged && len(t.found) == t.attached {
			return nil, agent.ErrDamaged
		}
		return nil, nil
	}
	for _, from := range p.untrusted {
		t.markUntrusted(from) // it may not be found again, and what comes of the plan is made of it
	}
	t.provenance.planned(p.made.Steps, t.provenance.now())
	if under == "" {
		t.say(strings.TrimPrefix(p.said, t.answer.String()))
	}
	t.takeSteps(len(p.made.Steps))
	if !p.made.Fallback {
		t.leaveOut(p.made.Dropped)
	}
	t.emit(p.made)
	return p, nil
}

// ended lets identical calls share what ended before the turn was cut.
func (c *calls) ended(steps map[string]*savedCall) {
	done := make(chan struct{})
	close(done)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = steps
	for _, k := range steps {
		if k.outcome != nil && k.input != nil {
			c.made[sameCall(k.tool, k.input)] = &madeCall{step: k.step, done: done, outcome: *k.outcome}
		}
	}
}

// before is what is known of a step from before the turn was cut; nil: nothing.
func (t *turn) before(step string) *savedCall {
	t.calls.mu.Lock()
	defer t.calls.mu.Unlock()
	return t.calls.before[step]
}

// admit decides whether a call runs. Without a permit it does not, and the
// outcome is what becomes of it.
func (t *turn) admit(ctx context.Context, c call) (*permit, outcome) {
	pass := t.pass
	if before := t.saved.calls[sameCall(c.tool.Spec().Name, c.input)]; t.saved.damaged || before != nil && !before.started.IsZero() {
		if before != nil {
			t.undid(before.step) // now it is found out
		}
		switch happened, effects := t.happened(ctx, c, before); happened {
		case agent.HasHappened:
			t.did(c.step, effects...)
			return nil, outcome{status: agent.Done, result: agent.Result{Text: "It was done before LifeHub was stopped."}}
		case agent.MayHaveHappened:
			t.did(c.step, agent.Effect{Kind: agent.Unknown, Tool: c.tool.Spec().Name})
			pass = func(ctx context.Context, c call) (*permit, error) { return t.passAgain(ctx, c, before) }
		}
	}
	p, err := pass(ctx, c)
	var no *refusal
	switch {
	case errors.Is(err, errAlreadyDone):
		t.undid(c.step)
		t.did(c.step, agent.Effect{Kind: agent.ToolCalled, Tool: c.tool.Spec().Name, Count: 1})
		return nil, outcome{status: agent.Done, result: agent.Result{Text: "It was done before LifeHub was stopped: the user has checked."}}
	case errors.As(err, &no):
		return nil, outcome{status: agent.Denied, reason: no.reason}
	case err != nil:
		return nil, failedOutcome(ctx, err)
	}
	return p, outcome{}
}

// happened returns what became of a call that was or may have been started
// before the turn was cut. before is nil where nothing is known.
func (t *turn) happened(ctx context.Context, c call, before *savedCall) (agent.Happened, []agent.Effect) {
	if agent.ReadOnly(c.tool) {
		return agent.HasNotHappened, nil // and if not, nobody minds
	}
	checker, ok := c.tool.(agent.Checker)
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

// errAlreadyDone: the user has seen that the call happened.
var errAlreadyDone = errors.New("it was done already")

// passAgain asks what to do about a call whose outcome is not known. Only an
// explicit yes makes it again.
func (t *turn) passAgain(ctx context.Context, c call, before *savedCall) (*permit, error) {
	c.as = t.ruledBy(ctx, c)
	if v := t.verdict(c); v.Level == agent.Deny {
		return nil, &refusal{"whether it happened before LifeHub was stopped is not known, and now it is forbidden: " + v.Reason}
	}
	asked := agent.PermissionAsked{
		Unknown: true,
		Reason:  "LifeHub was stopped while this was under way: whether it happened is not known",
	}
	if before != nil {
		asked.Since = before.started
	}
	p := newPermit(c)
	reply, err := t.askPermission(ctx, c, p, asked)
	if err != nil {
		return nil, err
	}
	switch reply.Decision {
	case agent.AllowOnce:
		return p, nil
	case agent.AlreadyDone:
		return nil, errAlreadyDone
	}
	return nil, &refusal{because("whether it happened before LifeHub was stopped is not known; it was not made again", reply.Reason)}
}
