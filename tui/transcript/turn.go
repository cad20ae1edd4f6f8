package transcript

import (
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/safetext"
)

// Turn has the items of the running turn, which draw its view.
type Turn struct {
	in   *Model
	view chat.View

	Asked    *Question
	Plan     *Plan
	Thought  *Thinking
	Answer   *Answer
	answers  []*Answer // all of the turn
	bytes    int       // bytes of them
	steering int       // messages that the turn has taken
	phase    string
	waiting  *Waiting       // a model that is silent; nil: none is
	found    []agent.Source // by the last search of the notes, until text of the answer has come
	Stopped  bool           // the user stopped it and has the answer so far
	plans    []*Plan        // of the plans of the view
	tools    []*Tool        // of its calls outside of them

	before   []Item                // of the turn that is resumed, each kind until the turn shows it again
	thoughts map[Thinker]*Thinking // of those who work for a step
	sources  *Sources
}

// Begin returns a turn whose items are added here. The effects of the turn before can no
// longer be undone.
func (t *Model) Begin() *Turn {
	for _, e := range t.Entries {
		if s, ok := e.Item.(*Sources); ok && s.undo {
			s.undo = false
			t.Invalidate(s)
		}
	}
	return &Turn{in: t, thoughts: map[Thinker]*Thinking{}}
}

// Resume makes it the turn of a question that was interrupted. What is shown of that turn is
// replaced as soon as the turn repeats it, so that there is one answer in the end.
func (t *Turn) Resume(asked *Question) {
	t.Asked = asked
	t.in.forgetEnding(asked)
	for _, e := range t.in.Entries[t.in.index(asked)+1:] {
		t.before = append(t.before, e.Item)
	}
}

// repeats removes what the turn that is resumed had shown of its work, or of its answer.
func (t *Turn) repeats(work bool) {
	t.before = slices.DeleteFunc(t.before, func(i Item) bool {
		works := false
		switch i.(type) {
		case *Steering:
			return false
		case *Plan, *Tool, *Thinking, *Remembered:
			works = true
		}
		if works == work {
			t.in.remove(i)
		}
		return works == work
	})
}

// Take turns an event into an item, or updates one. Nothing else does.
func (t *Turn) Take(e agent.Event, now time.Time) {
	switch e := e.Body.(type) {
	case agent.Said, agent.PlanMade, agent.Failed, agent.Ended:
		t.found = nil
		t.endWait()
	case agent.ContextCounted, agent.Thought, agent.Used:
		t.wait("")
	case agent.ToolEnded:
		if e.Coverage != nil && !strings.Contains(e.Step, ".") { // a worker's
			t.found = e.Sources
		}
	}
	switch e.Body.(type) {
	case agent.Failed, agent.Ended: // they have their own methods, Failed and Ended
	default:
		t.view.Apply(e, now)
	}
	switch e := e.Body.(type) {
	case agent.PhaseStarted:
		t.phase = e.Agent
		t.drawSteps()
		t.wait("")
	case agent.PhaseEnded:
		if e.Step != "" {
			t.endThoughts(e.Step, now)
		}
	case agent.ArtifactChanged:
		t.in.Add(&Notice{Text: chat.ArtifactLine(e)})
	case agent.Remembered:
		if r := (&Remembered{Remembered: e}); len(chat.Recalled(e, now)) > 0 {
			t.repeats(true)
			t.in.Add(r)
		}
	case agent.PlanMade:
		if t.Plan == nil || e.Under == "" && t.view.Plan() != t.Plan.State {
			t.closeThought(now)
			t.endBlock()
		}
		t.drawSteps()
	case agent.Evaluated, agent.StepChanged, agent.ToolStarted, agent.ToolEnded, agent.ToolProgressed,
		agent.PermissionGiven:
		t.drawSteps()
	case agent.Thought:
		t.think(e, now)
	case agent.Said:
		if e.Takes > 0 {
			t.unsay(e.Takes)
			return
		}
		t.Say(e.Content, now)
	case agent.ContextCounted:
		if e.Step == "" {
			t.endBlock() // further text comes after everything shown
		}
	case agent.Cited:
		t.source(e.Citation)
	case agent.Noticed:
		if e.Steering != nil {
			t.showSteering(e.Steering.Text, now)
			return
		}
		t.in.Add(&Notice{Text: e.Text})
	case agent.Reading:
		t.wait(e.String())
	}
}

// drawSteps draws the plans and calls again, new ones below all that is shown.
func (t *Turn) drawSteps() {
	if len(t.view.Plans)+len(t.view.Outside) > 0 {
		t.repeats(true)
	}
	for _, made := range t.view.Plans[len(t.plans):] {
		t.Plan = New(made, t.in.Unfolded)
		t.plans = append(t.plans, t.Plan)
		t.in.Add(t.Plan)
	}
	for _, made := range t.view.Outside[len(t.tools):] {
		alone := &Tool{Call: made, Unfolded: t.in.Unfolded}
		t.tools = append(t.tools, alone)
		t.in.Add(alone)
	}
	for _, p := range t.plans {
		t.in.Invalidate(p)
	}
	for _, alone := range t.tools {
		t.in.Invalidate(alone)
	}
}

func (t *Turn) Say(text string, now time.Time) {
	t.closeThought(now)
	if t.Stopped {
		return // the user has the answer so far
	}
	if t.Answer == nil || !t.Answer.Open {
		t.repeats(false)
		t.Answer = NewAnswer()
		t.Answer.from = t.bytes
		t.answers = append(t.answers, t.Answer)
		t.in.Add(t.Answer)
	}
	t.Answer.Grow(text)
	t.bytes += len(text)
	t.in.Invalidate(t.Answer)
}

// unsay takes back the last bytes of the answer.
func (t *Turn) unsay(n int) {
	if t.Answer != nil && n > 0 && !t.Stopped {
		t.bytes -= t.Answer.shrink(n)
		t.in.Invalidate(t.Answer)
	}
}

// showSteering shows a message that the turn has taken, unless a turn that is resumed
// has shown it before: these come first, in the same order.
func (t *Turn) showSteering(text string, now time.Time) {
	t.closeThought(now)
	t.endBlock()
	at := t.steering
	t.steering++
	if _, saved := agent.SplitSteering(t.Asked.Text); at >= len(saved) {
		t.Asked.Text = agent.WithSteering(t.Asked.Text, text)
	}
	if at >= t.in.steeringOf(t.Asked) {
		t.in.Add(&Steering{Text: text})
	}
}

// endBlock closes the answer, so that further text begins a new one below all items.
func (t *Turn) endBlock() {
	if a := t.Answer; a != nil && a.Open {
		a.End("")
		t.in.Invalidate(a)
	}
}

// think shows a piece of reasoning: of the agent that answers, or of a worker, each in an
// item of its own.
func (t *Turn) think(e agent.Thought, now time.Time) {
	who := Thinker{Step: e.Step, Agent: e.Agent}
	thought := t.thoughts[who]
	if e.Step == "" {
		if thought = t.Thought; thought != nil && thought.Who != deciders[e.Agent] {
			t.closeThought(now)
		}
		t.endBlock()
	}
	if thought == nil || thought.Took > 0 {
		t.repeats(true)
		thought = &Thinking{began: now, hidden: !t.in.Unfolded}
		t.in.Add(thought)
		if e.Step == "" {
			thought.Who, t.Thought = deciders[e.Agent], thought
		} else {
			thought.Who = safetext.Line(who.Step + " " + who.Agent)
			t.thoughts[who] = thought
		}
	}
	thought.Text.WriteString(e.Content)
	t.in.Invalidate(thought)
}

func (t *Turn) closeThought(now time.Time) { t.endThought(t.Thought, now) }

// endThoughts closes the reasoning of the workers of a step; "" for all.
func (t *Turn) endThoughts(step string, now time.Time) {
	for who, thought := range t.thoughts {
		if step == "" || who.Step == step {
			t.endThought(thought, now)
		}
	}
}

func (t *Turn) endThought(thought *Thinking, now time.Time) {
	if thought != nil && thought.Took == 0 {
		thought.End(now)
		t.in.Invalidate(thought)
	}
}

// source shows the sources, with a citation that is new.
func (t *Turn) source(c agent.Citation) {
	sources := t.atEnd()
	sources.Show(t.view.Sources())
	sources.written = !slices.ContainsFunc(sources.List, func(c Cited) bool { return !c.writtenIn(t.answers) })
	for _, a := range t.answers {
		if a.Judge(c) {
			t.in.Invalidate(a)
		}
	}
}

// Ended ends the turn with its answer. undo reports that a command can undo its effects.
func (t *Turn) Ended(e agent.Ended, undo bool, now time.Time) {
	t.view.Apply(agent.Event{Body: e}, now)
	if t.Answer == nil && e.Answer != "" {
		t.Say(e.Answer, now)
	}
	for _, s := range e.Nearest {
		t.source(agent.Citation{N: s.N, Path: s.Path, Line: s.Line, EndLine: s.EndLine})
	}
	ending := ""
	if e.Interrupted {
		ending = "stopped"
	}
	t.Close(ending, now)
	if t.Answer != nil {
		t.Answer.Caveats = e.Caveats()
		t.in.Invalidate(t.Answer)
	}
	t.Tell(e.Effects, undo)
}

// IsList reports whether the answer is a list of passages, which itself names the note and line of each.
func (t *Turn) IsList() bool { return t.sources != nil && t.sources.written && len(t.sources.List) > 0 }

// Offer returns the command that fits the question of the turn; "" if there is none.
func (t *Turn) Offer(now time.Time) string { return t.view.Offer(now) }

// Failed ends the turn with the reason for its failure.
func (t *Turn) Failed(e agent.Failed, undo bool, now time.Time) {
	t.view.Apply(agent.Event{Body: e}, now)
	t.Close("cut off", now)
	if !t.Stopped { // otherwise the user wanted it to end
		t.in.Add(&Failure{Text: e.Message, Hint: e.Hint})
	}
	t.Tell(e.Effects, undo)
}

// Tell shows the effects of the turn. undo reports that a command can undo them.
func (t *Turn) Tell(did agent.Effects, undo bool) {
	if did != nil {
		end := t.atEnd()
		end.did, end.undo = did, undo
	}
}

// atEnd returns the sources of the turn, below all that is shown.
func (t *Turn) atEnd() *Sources {
	switch {
	case t.sources == nil:
		t.sources = NewSources(t.in.Host)
		t.in.Add(t.sources)
	case !t.in.ends(t.sources):
		t.in.remove(t.sources)
		t.in.Add(t.sources)
	}
	t.in.Invalidate(t.sources)
	return t.sources
}

// Close closes all open items of the turn.
func (t *Turn) Close(ending string, now time.Time) {
	t.endWait()
	t.closeThought(now)
	t.endThoughts("", now)
	t.view.Close(now)
	t.drawSteps()
	if t.Answer != nil && t.Answer.Open {
		t.Answer.End(ending)
		t.in.Invalidate(t.Answer)
	} else if ending == "stopped" && !t.Stopped {
		t.in.Add(&Notice{Text: "stopped"})
	}
}

// State describes what the turn is doing. asking reports that a question waits for the
// user.
func (t *Turn) State(asking bool) string {
	switch {
	case asking:
		return "waiting for you"
	case t.Stopped:
		return "stopping"
	case t.waiting != nil && t.waiting.why != "":
		return "waiting for the model"
	case t.Answer != nil && t.Answer.Open || t.phase == "explainer":
		return "writing the answer"
	case t.planRuns():
		return "running · " + t.Plan.Progress()
	case t.Thought != nil && t.Thought.Took == 0 && t.Thought.Who != "":
		return t.Thought.Who + ": thinking"
	case t.Thought != nil && t.Thought.Took == 0:
		return "thinking"
	case t.phase == "planner":
		return "planning"
	case deciders[t.phase] != "":
		return deciders[t.phase] + ": working"
	}
	return "working"
}

// deciders are the agents that work before there is a plan, with their names on the screen.
var deciders = map[string]string{"lead": "lead", "planner": "planner"}

func (t *Turn) planRuns() bool { return t.Plan != nil && t.Plan.State.Took == 0 }

// Tick advances the clocks and spinners of running items.
func (t *Turn) Tick(beat int, now time.Time) {
	if t.planRuns() {
		t.Plan.Beat, t.Plan.Now = beat, now
		t.in.Invalidate(t.Plan)
	}
	if t.Thought != nil && t.Thought.Took == 0 {
		t.Thought.Beat = beat
		t.in.Invalidate(t.Thought)
	}
	for _, alone := range t.tools {
		if !alone.Call.Ended {
			alone.Beat = beat
			t.in.Invalidate(alone)
		}
	}
}
