package turn

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/passages"
)

// saved is the journalled state of an interrupted turn. The zero value belongs
// to a new turn.
type saved struct {
	text     string                // the saved part of the answer
	plans    []agent.Entry         // in order
	steps    map[string]*savedCall // calls by step id; nil if there is no plan
	calls    map[string]*savedCall // calls that were started or decided, by [sameCall]
	judged   map[try]agent.Entry   // workers' reports and the verdicts on them
	steering []savedSteering       // messages sent while the turn ran, in order
	damaged  bool                  // calls may have been started that are not in calls
}

// try identifies an attempt of a step's worker.
type try struct {
	step    string
	attempt int
}

// savedCall is the state of a call.
type savedCall struct {
	step    string
	tool    string // "" if its arguments were not journalled
	input   agent.Args
	started time.Time
	mark    []byte
	outcome *Outcome // nil if it neither ended nor was refused
	ended   bool
	effects []agent.Effect // if it ended
}

// readJournal parses the saved state of a turn.
func readJournal(left agent.Unfinished) saved {
	k := saved{
		calls: map[string]*savedCall{}, judged: map[try]agent.Entry{},
		text: passages.Before(left.Text), damaged: left.Damaged,
	}
	for _, e := range left.Entries {
		if e.Version != agent.EntryVersion || !k.add(e) {
			k.damaged = true
		}
	}
	return k
}

// add adds an entry. It reports false if the entry is invalid.
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
	if e.Moment == agent.Steered {
		if e.Steering != nil {
			k.steering = append(k.steering, savedSteering{*e.Steering, k.ownPlans()})
		}
		return e.Steering != nil
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
		c.tool, c.input = e.Tool, agent.ParseArgs(e.Input)
	case agent.CallAsked:
	case agent.Decided:
		if e.Decision == agent.Refuse {
			c.outcome = &Outcome{Status: agent.Denied, Reason: agent.DeclinedFor(e.Reason)}
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

// ownPlans returns the number of plans of the turn itself.
func (k *saved) ownPlans() (n int) {
	for _, p := range k.plans {
		if p.Plan.Under == "" {
			n++
		}
	}
	return n
}

// hasPlan reports whether a plan was made before the turn was interrupted.
func (k *saved) hasPlan() bool { return k.steps != nil }

// hasAnswered reports whether the answer was complete and a plan followed it.
func (k *saved) hasAnswered() bool {
	return slices.ContainsFunc(k.plans, func(p agent.Entry) bool { return p.Plan.FollowsAnswer() })
}

// Mode returns the mode of the first plan; "" if there is none.
func (k *saved) Mode() agent.Mode {
	if len(k.plans) == 0 {
		return ""
	}
	return k.plans[0].Plan.Mode
}

// tools returns the names of the tools in saved plans, one in each line.
func (k *saved) tools() string {
	var names strings.Builder
	for _, p := range k.plans {
		for _, step := range p.Plan.Steps {
			names.WriteString("\n" + step.Tool)
		}
	}
	return names.String()
}

// longer returns the longer of text and the answer saved before the
// interruption, because text that was shown is not withdrawn.
func (k *saved) longer(text string) string {
	if len(k.text) > len(text) {
		return k.text
	}
	return text
}

// verdict returns the report of a worker's attempt and the verdict on it, if
// there is one.
func (k *saved) verdict(step string, attempt int) (report string, verdict agent.Judgement, ok bool) {
	e, ok := k.judged[try{step, attempt}]
	if !ok {
		return "", agent.Judgement{}, false
	}
	return e.Report, *e.Verdict, true
}

// resume applies the saved state of an interrupted turn: it updates former
// names of tools, and restores the outcomes of finished calls, which identical
// calls share, and the effects.
func (t *turn) resume() {
	currentName := func(name string) string {
		if tool := t.tool(name); tool != nil {
			return tool.Spec().Name
		}
		return name
	}
	for _, p := range t.saved.plans {
		for i := range p.Plan.Steps {
			p.Plan.Steps[i].Tool = currentName(p.Plan.Steps[i].Tool)
		}
	}
	done := make(chan struct{})
	close(done)
	for _, step := range slices.Sorted(maps.Keys(t.saved.steps)) {
		c := t.saved.steps[step]
		c.tool = currentName(c.tool)
		if c.tool != "" {
			same := sameCall(c.tool, c.input)
			t.saved.calls[same] = c
			if c.outcome != nil {
				t.steps.calls.made[same] = &madeCall{step: c.step, done: done, Outcome: *c.outcome}
			}
		}
		t.steps.did(step, c.effects...)
		// outcome unknown
		if !c.ended && !c.started.IsZero() && c.tool != agent.DelegateTool && !agent.ReadOnly(t.tool(c.tool)) {
			t.steps.did(step, agent.Effect{Kind: agent.Unknown, Tool: c.tool})
		}
	}
}

// recallSends counts the calls that were started before the turn was interrupted
// and sent something.
func (t *turn) recallSends() {
	for _, before := range t.saved.steps {
		tool := t.tool(before.tool)
		if _, fetches := tool.(agent.Fetcher); (fetches || agent.IsOutward(tool)) && !before.started.IsZero() {
			t.gate.RecallSend()
		}
	}
}
