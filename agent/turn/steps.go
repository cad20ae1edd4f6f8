package turn

import (
	"encoding/json"
	"slices"
	"sync"

	"lifehub/agent"
	"lifehub/agent/prompt"
)

const (
	// maxSteps bounds the steps of a plan.
	maxSteps = 8
	// maxTurnSteps bounds the steps of a turn, over all its plans and workers.
	maxTurnSteps = 25
)

// steps are the steps of the plans and rounds of a turn, and what came of them. They are safe for concurrent use,
// except for found and attached, which change only between plans and rounds.
type steps struct {
	found    []finding // attachments, then the findings of the steps, in plan order
	attached int       // number of attachments in found

	calls calls

	mu        sync.Mutex       // guards the fields below, and saved.plans and saved.steering of the turn
	dropped   []string         // what was left out of the plans or changed in them, and why
	unplanned bool             // the model returned no usable plan
	again     bool             // the last plan asks to plan again when its results are known
	stepsMade int              // by all plans of the turn
	plansMade int              // of the turn itself, replayed ones included
	offered   []agent.Steering // messages of the user that are not taken yet
	effects   []stepEffect
	writers   []string // tools that change something and were named by a plan or call
	called    []string // steps that called a tool, other than to delegate a task
}

// newSteps returns no steps, of which that many may run at the same time.
func newSteps(parallel int) steps {
	return steps{calls: calls{
		slots: make(chan struct{}, parallel), writing: make(chan struct{}, 1),
		made: map[string]*madeCall{},
	}}
}

// finding is a step and its outcome.
type finding struct {
	step agent.Step
	Outcome
}

// why returns what the user should know about an outcome.
func (o Outcome) why() string {
	if o.Reason == "" && o.same != "" {
		return "the same call as step " + o.same
	}
	return o.Reason
}

// tool returns the tool with this name or former name; nil if there is none.
func (t *turn) tool(name string) agent.Tool { return prompt.Named(t.tools, name) }

// toolFor returns the tool with a use; nil if there is none.
func (t *turn) toolFor(use agent.Use) agent.Tool {
	if i := slices.IndexFunc(t.tools, func(tool agent.Tool) bool { return tool.Properties().Use == use }); i >= 0 {
		return t.tools[i]
	}
	return nil
}

// stepsOf returns the steps of findings.
func stepsOf(found []finding) (steps []agent.Step) {
	for _, f := range found {
		steps = append(steps, f.step)
	}
	return steps
}

// stepIDs returns the ids of the steps of findings.
func stepIDs(found []finding) (ids []string) {
	for _, f := range found {
		ids = append(ids, f.step.ID)
	}
	return ids
}

// Outcome is the outcome of a call.
type Outcome struct {
	Status agent.Status
	Result agent.Result
	Reason string          // why there is no result
	same   string          // the step that made the identical call
	input  json.RawMessage // arguments that it ran with, if the user changed them
	seen   bool            // the user saw and allowed the call

	stopped bool  // the turn was stopped before the call ended
	err     error // error of the tool
}

// stepEffect is an effect of a step.
type stepEffect struct {
	step   string
	effect agent.Effect
}

// did records effects of a step.
func (s *steps) did(step string, effects ...agent.Effect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range effects {
		s.effects = append(s.effects, stepEffect{step, e})
	}
}

// undid removes the recorded effects of a step.
func (s *steps) undid(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effects = slices.DeleteFunc(s.effects, func(e stepEffect) bool { return e.step == step })
}

// effectsBy returns the effects of a step so far, or of all steps if step is
// "".
func (s *steps) effectsBy(step string) (effects []agent.Effect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.effects {
		if step == "" || e.step == step {
			effects = append(effects, e.effect)
		}
	}
	return effects
}

// writingTools returns the tools that change something and were named by the
// turn's plans or calls, whatever the outcome.
func (s *steps) writingTools() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writers)
}

// noteCalled records that a step called a tool, unless it was denied or skipped.
func (s *steps) noteCalled(step string, tool agent.Tool, status agent.Status) {
	if of := agent.PropertiesOf(tool); of.Delegates || of.Use == agent.Computes || status == agent.Denied ||
		status == agent.Skipped {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = append(s.called, step)
}

// haveWritten reports whether the workers wrote texts that the evaluator accepted,
// and reported nothing else.
func (s *steps) haveWritten() (written bool) {
	for _, f := range s.found {
		if f.step.Tool == agent.DelegateTool {
			if written = f.Result.Accepted; !written {
				return false
			}
		}
	}
	return written
}

// hasCalled reports whether the model called a tool that may know something it does
// not. Delegating a task does not count.
func (s *steps) hasCalled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.called, func(id string) bool {
		return !slices.ContainsFunc(s.found, func(f finding) bool { return f.step.ID == id && f.step.Extra })
	})
}

// leaveOut records what was left out of a plan or changed, for the explainer
// and the end of the turn.
func (s *steps) leaveOut(dropped []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range dropped {
		if !slices.Contains(s.dropped, d) {
			s.dropped = append(s.dropped, d)
		}
	}
}

// lacks records what a plan lacks of what the model wanted.
func (s *steps) lacks(made agent.PlanMade) {
	if made.Fallback {
		s.unplanned = true
	} else {
		s.leaveOut(made.Dropped)
	}
}

// countPlan notes that a plan of the turn itself was made or replayed.
func (s *steps) countPlan(made agent.PlanMade) {
	if made.Under != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = made.Again
	s.plansMade++
}

// planCount returns the number of plans of the turn itself so far.
func (s *steps) planCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plansMade
}

// roomForSteps returns how many more steps the turn may make.
func (s *steps) roomForSteps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maxTurnSteps - s.stepsMade
}

// takeSteps reserves up to n steps and returns how many. Workers call it
// concurrently.
func (s *steps) takeSteps(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(n, maxTurnSteps-s.stepsMade)
	s.stepsMade += n
	return n
}
