// Package chat is what the front ends share, whatever shows a chat. [View] is what a person sees of a turn so far, and
// its Lines say an event in words; [Options] are what a front end needs from the rest of LifeHub: assistant, storage,
// status and commands.
package chat

import (
	"cmp"
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/internal/when"
	"lifehub/llm/offline"
)

// View is a turn as its events have told it so far. Only Apply and Close change it.
type View struct {
	Turn     string
	Question string // as it was typed
	Answer   []byte // what was said and not taken back
	Plans    []*Plan
	Outside  []*Call // calls that are in no plan
	Cited    []agent.Cited
	Asked    []agent.PermissionAsked
	Ended    *agent.Ended
	Failed   *agent.Failed

	below bool // something stands below the last plan
}

// Apply adds an event. now is when it happened.
func (v *View) Apply(e agent.Event, now time.Time) {
	v.Turn = cmp.Or(e.Turn, v.Turn)
	plan := v.Plan()
	switch body := e.Body.(type) {
	case agent.Started:
		v.Question = body.Message
	case agent.PlanMade:
		v.planMade(body, now)
	case agent.PhaseStarted:
		if body.Agent == "explainer" {
			plan.End(now)
		} else if s := plan.Step(body.Step); s != nil {
			s.Attempt = body.Attempt
		}
	case agent.Evaluated:
		if s := plan.Step(body.Step); s != nil {
			s.Judged = append(s.Judged, body)
		}
	case agent.StepChanged:
		plan.mark(body, now)
	case agent.ToolStarted:
		call := &Call{ID: body.Call, Name: body.Name, Input: body.Input}
		if s := plan.Step(body.Step); s != nil {
			s.Calls = append(s.Calls, call)
		} else {
			v.Outside, v.below = append(v.Outside, call), true
		}
	case agent.ToolProgressed:
		if c := v.Call(body.Call); c != nil {
			c.Progress = body.Progress
		}
	case agent.ToolEnded:
		v.toolEnded(body)
	case agent.PermissionAsked:
		v.Asked = append(v.Asked, body)
	case agent.PermissionGiven:
		if s := plan.Step(body.Step); s != nil {
			s.Allowed = allowed[body.Decision]
		}
	case agent.Said:
		v.Answer = append(v.Answer[:max(0, len(v.Answer)-body.Takes)], body.Content...)
		v.below = true
	case agent.Thought:
		v.below = v.below || body.Step == ""
	case agent.Noticed, agent.ArtifactChanged, agent.Remembered:
		v.below = true
	case agent.Cited:
		v.Cited = append(v.Cited, body)
	case agent.Failed:
		v.Failed = &body
		v.Close(now)
	case agent.Ended:
		v.Ended = &body
		v.Close(now)
	}
}

// Close ends what still runs, for a turn that the user stopped.
func (v *View) Close(now time.Time) { v.Plan().End(now) }

// Plan returns the last plan. Its methods may be called if it is nil.
func (v *View) Plan() *Plan {
	if len(v.Plans) == 0 {
		return nil
	}
	return v.Plans[len(v.Plans)-1]
}

// planMade adds a new plan, the rest of the last one if nothing stands between, or the part of a worker.
func (v *View) planMade(made agent.PlanMade, now time.Time) {
	last := v.Plan()
	switch {
	case last != nil && made.Under != "":
		last.nest(made)
	case last != nil && len(made.Before) > 0 && !v.below:
		last.add(made)
	default:
		last.End(now)
		if len(made.Steps) > 0 || made.Fallback || len(made.Dropped) > 0 {
			v.Plans, v.below = append(v.Plans, newPlan(made, now)), false
		}
	}
}

// Call returns a call by its ID, or nil.
func (v *View) Call(id string) *Call {
	for _, p := range slices.Backward(v.Plans) {
		for i := range p.Steps {
			if c := byID(p.Steps[i].Calls, id); c != nil {
				return c
			}
		}
	}
	return byID(v.Outside, id)
}

func byID(calls []*Call, id string) *Call {
	if at := slices.IndexFunc(calls, func(c *Call) bool { return c.ID == id }); at >= 0 {
		return calls[at]
	}
	return nil
}

func (v *View) toolEnded(e agent.ToolEnded) {
	c := v.Call(e.Call)
	if c == nil {
		return
	}
	c.end(e)
	for _, p := range v.Plans {
		if s := p.Step(e.Step); s != nil && byID(s.Calls, e.Call) == c {
			s.Took = c.Took
		}
	}
}

// Effects returns what the turn changed and sent; nil until it has ended.
func (v *View) Effects() agent.Effects {
	switch {
	case v.Ended != nil:
		return v.Ended.Effects
	case v.Failed != nil:
		return v.Failed.Effects
	}
	return nil
}

// Offer returns the command that fits the question, for a turn that has ended and changed nothing; "" if there is none.
func (v *View) Offer(now time.Time) string {
	if v.Ended == nil || v.Ended.Interrupted || v.Ended.Effects.Changed() {
		return ""
	}
	offered, _ := offline.OfferFor(v.Question, when.DayOf(now))
	return offered.Command
}

// Sources returns the places that the answer cites, by number and each once, then the closest passages of an answer
// that the notes do not give.
func (v *View) Sources() (list []Cited) {
	for _, c := range v.Cited {
		list = Cite(list, c.Citation, c.Source)
	}
	if v.Ended != nil {
		for _, s := range v.Ended.Nearest {
			list = Cite(list, agent.Citation{N: s.N, Path: s.Path, Line: s.Line, EndLine: s.EndLine}, s)
		}
	}
	return list
}

// Cited is a citation with its source.
type Cited struct {
	Citation agent.Citation
	Source   agent.Source
	At       []int // where the answer cites it so, in bytes
}

// Cite adds a citation to a list; identical ones are in it once. A nearest passage has no verdict, and is left out if
// it is cited as well.
func Cite(list []Cited, c agent.Citation, from agent.Source) []Cited {
	for i, have := range list {
		if have.Citation.N == c.N && c.Verdict == "" {
			return list
		}
		same := have.Citation.Mark() == c.Mark() && have.Citation.Place() == c.Place()
		if same && have.Citation.Label() == c.Label() {
			list[i].At = append(have.At, c.At)
			return list
		}
	}
	at, _ := slices.BinarySearchFunc(list, c.N+1, func(have Cited, n int) int { return have.Citation.N - n })
	return slices.Insert(list, at, Cited{Citation: c, Source: from, At: []int{c.At}})
}

// FailedSteps returns the steps that the model planned, with how they ended, if all of them failed; otherwise nil.
// Steps that were denied or found nothing did not fail, and one that was skipped counts with what it waited for.
func (v *View) FailedSteps() (failed []Step) {
	for _, p := range v.Plans {
		for _, s := range p.Steps {
			switch {
			case s.Step.Extra || s.Status == agent.Skipped:
			case s.Status == agent.StepFailed:
				failed = append(failed, s)
			default:
				return nil
			}
		}
	}
	return failed
}
