package chat

import (
	"encoding/json"
	"slices"
	"time"

	"lifehub/agent"
)

// Plan is the steps of a turn with their current states. Its methods do nothing if it is nil.
type Plan struct {
	Steps    []Step
	Repairs  []string // steps of the model's plan that were left out or changed
	Fallback []string // why the model gave no usable plan; nil if it gave one
	Began    time.Time
	Took     time.Duration // 0 while it runs
}

// Step is one row of a plan.
type Step struct {
	Step     agent.Step
	Status   agent.Status
	Reason   string // why it has this status, in words for the user
	Declined bool   // the user said no to it
	Calls    []*Call
	Under    string // ID of the step whose worker makes this one; "" for the turn itself
	Attempt  int    // of its worker; 0 if it has none
	Judged   []agent.Evaluated
	Allowed  string // how the user allowed it
	Began    time.Time
	Took     time.Duration
}

// Call is one run of a tool, with its input and result.
type Call struct {
	ID       string
	Name     string
	Input    json.RawMessage
	Result   agent.ToolEnded
	Progress agent.Progress // the last that was reported
	Took     time.Duration
	Ended    bool
}

func (c *Call) end(e agent.ToolEnded) {
	c.Result, c.Took, c.Ended = e, time.Duration(e.Took)*time.Millisecond, true
}

func newPlan(made agent.PlanMade, now time.Time) *Plan {
	p := &Plan{Began: now}
	if made.Fallback {
		p.Fallback, made.Dropped = slices.Concat([]string{}, made.Dropped), nil
	}
	p.add(made)
	p.settle(now)
	return p
}

// add appends steps.
func (p *Plan) add(made agent.PlanMade) {
	p.Repairs = append(p.Repairs, made.Dropped...)
	for _, s := range made.Steps {
		p.Steps = append(p.Steps, Step{Step: s, Status: agent.Pending})
		p.Took = 0
	}
}

// nest adds the steps of a worker below the step it works for.
func (p *Plan) nest(made agent.PlanMade) {
	at := -1
	for i, s := range p.Steps {
		if s.Step.ID == made.Under || s.Under == made.Under {
			at = i
		}
	}
	if at < 0 {
		return
	}
	var below []Step
	for _, s := range made.Steps {
		below = append(below, Step{Step: s, Status: agent.Pending, Under: made.Under})
	}
	p.Steps = slices.Insert(p.Steps, at+1, below...)
	p.Repairs = append(p.Repairs, made.Dropped...)
}

// Over reports whether the step has ended.
func (s *Step) Over() bool { return s.Status != agent.Pending && s.Status != agent.Running }

// settle stops the clock if all steps have ended.
func (p *Plan) settle(now time.Time) {
	if p.Took == 0 && !slices.ContainsFunc(p.Steps, func(s Step) bool { return !s.Over() }) {
		p.Took = max(1, now.Sub(p.Began))
	}
}

// Step returns the step with an ID, or nil.
func (p *Plan) Step(id string) *Step {
	if p == nil {
		return nil
	}
	for i := range p.Steps {
		if p.Steps[i].Step.ID == id {
			return &p.Steps[i]
		}
	}
	return nil
}

// mark sets the state of a step.
func (p *Plan) mark(e agent.StepChanged, now time.Time) {
	s := p.Step(e.Step)
	if s == nil {
		return
	}
	switch e.Status {
	case agent.Running:
		s.Began = now
	case agent.Done, agent.StepFailed:
		if !s.Began.IsZero() && s.Took == 0 {
			s.Took = now.Sub(s.Began)
		}
	}
	s.Status, s.Reason = e.Status, ForUser(e)
	_, s.Declined = agent.DeclinedIn(e.Status, e.Reason)
	p.settle(now)
}

// End stops the clock and marks unfinished steps as skipped.
func (p *Plan) End(now time.Time) {
	if p == nil {
		return
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; !s.Over() {
			s.Status = agent.Skipped
		}
	}
	p.settle(now)
}

// ForUser returns the reason for a step's status, which addresses the model, in words for the user.
func ForUser(e agent.StepChanged) string {
	if own, declined := agent.DeclinedIn(e.Status, e.Reason); declined {
		return "you said no" + own
	}
	return e.Reason
}

// allowed is how the user allowed a call.
var allowed = map[agent.Decision]string{
	agent.AllowOnce: "allowed once", agent.AllowConversation: "allowed here", agent.AllowAlways: "allowed always",
}
