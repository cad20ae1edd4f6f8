package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// frame is the least time between two pictures while events stream in: tokens
// that arrive within it are drawn together. A picture costs about 27 bytes for
// the cursor besides its text (docs/figures/screen.md), and its length is what
// a token may wait before it shows.
const frame = 25 * time.Millisecond

type (
	// eventsMsg is all that arrived since the last one.
	eventsMsg struct {
		turn   int
		events []agent.Event
		pieces int // of text, as the model sent them
		over   bool
	}
	// startedMsg says that a turn is under way.
	startedMsg struct {
		turn         int
		conversation string
		events       <-chan agent.Event
		err          error
	}
)

// next waits for an event and then takes along what arrives until a frame
// after the last batch has passed, so that a burst of tokens costs one redraw.
// Pieces of text that follow one another become one.
func next(events <-chan agent.Event, turn int, last time.Time) tea.Cmd {
	return func() tea.Msg {
		msg := eventsMsg{turn: turn}
		first, open := <-events
		if !open {
			msg.over = true
			return msg
		}
		deadline := time.NewTimer(time.Until(last.Add(frame)))
		defer deadline.Stop()
		b := batch{msg: &msg}
		b.add(first)
		for !b.urgent {
			select {
			case e, open := <-events:
				if !open {
					msg.over = true
					b.flush()
					return msg
				}
				b.add(e)
				continue
			default:
			}
			select {
			case e, open := <-events:
				if !open {
					msg.over = true
					b.flush()
					return msg
				}
				b.add(e)
			case <-deadline.C:
				b.flush()
				return msg
			}
		}
		b.flush()
		return msg
	}
}

// batch collects events and joins the text of pieces in a row.
type batch struct {
	msg    *eventsMsg
	said   *agent.Event // the open run of pieces; nil: none
	text   strings.Builder
	urgent bool // something came that must be seen at once
}

func (b *batch) add(e agent.Event) {
	if said, ok := e.Body.(agent.Said); ok {
		if b.said == nil {
			b.said = &e
		}
		b.text.WriteString(said.Content)
		b.msg.pieces++
		b.urgent = b.urgent || b.msg.pieces >= 2048
		return
	}
	b.flush()
	b.msg.events = append(b.msg.events, e)
	switch e.Body.(type) {
	case agent.PermissionAsked, agent.InputAsked, agent.Ended, agent.Failed:
		b.urgent = true
	}
	b.urgent = b.urgent || len(b.msg.events) >= 256
}

// flush closes the run of pieces.
func (b *batch) flush() {
	if b.said == nil {
		return
	}
	e := *b.said
	e.Body = agent.Said{Content: b.text.String()}
	b.msg.events = append(b.msg.events, e)
	b.said = nil
	b.text.Reset()
}

// turn is what the screen knows of the turn that is under way.
type turn struct {
	number   int
	events   <-chan agent.Event // nil until it has started
	cancel   func()
	abandon  func() // leaves it open, for LifeHub ends
	question string
	stopped  bool // the user stopped it
	failed   bool
	phase    string

	asked   *transcript.Question
	plan    *transcript.Plan
	thought *transcript.Thinking
	answer  *transcript.Answer

	thoughts map[transcript.Thinker]*transcript.Thinking // of those who work for a step

	sources *transcript.Sources
	tools   map[string]*transcript.Tool // calls outside the plan, by call
	steps   map[string]*transcript.Plan // the plan that a call belongs to

	health string // how far the last search of the notes went

	pieces   int // of text so far, and when the first came
	first    time.Time
	speed    float64 // tokens a second, and when that was worked out
	measured time.Time
	missed   string // the model that was not there

	streams bool // text came since the last beat
	rested  int  // beats since the spinner turned
}

// newSpeed is how long a speed is shown: each other one is bytes for the
// terminal, and nobody reads faster.
const newSpeed = 500 * time.Millisecond

// count takes pieces of text into the speed.
func (t *turn) count(pieces int, now time.Time) {
	if t.first.IsZero() {
		t.first = now
	}
	t.pieces += pieces
	t.streams = true
	if passed := now.Sub(t.first).Seconds(); t.pieces > 8 && passed > 0.3 && now.Sub(t.measured) >= newSpeed {
		t.speed, t.measured = float64(t.pieces)/passed, now
	}
}

// receive shows a batch of events and asks for the next.
func (m *Model) receive(msg eventsMsg) tea.Cmd {
	t := m.turn
	if t == nil || msg.turn != t.number {
		return nil
	}
	now := m.now()
	if msg.pieces > 0 {
		t.count(msg.pieces, now)
	}
	var cmds []tea.Cmd
	for _, e := range msg.events {
		if !e.Time.IsZero() {
			now = e.Time // of a batch each has its own
		}
		cmds = append(cmds, m.show(e, now))
	}
	if msg.over {
		return tea.Batch(append(cmds, m.turnOver(now))...)
	}
	return tea.Batch(append(cmds, next(t.events, t.number, time.Now()))...)
}

// show is the one place where an event reaches the screen.
func (m *Model) show(e agent.Event, now time.Time) tea.Cmd {
	t, turnID := m.turn, e.Turn
	switch e := e.Body.(type) {
	case agent.Started:
		if m.UseMode == nil {
			m.mode = e.Mode
		}
		m.kept(turnID)
	case agent.PhaseStarted:
		m.phaseStarted(e.Agent, now)
		if t.plan != nil && e.Step != "" {
			t.plan.Tried(e.Step, e.Attempt)
			m.transcript.Touch(t.plan)
		}
	case agent.PhaseEnded:
		if e.Step != "" {
			m.endThoughts(e.Step, now)
		}
	case agent.ArtifactChanged:
		m.transcript.Add(&transcript.Notice{Text: transcript.ArtifactLine(e)})
	case agent.Evaluated:
		if t.plan != nil {
			t.plan.Judged(e)
			m.transcript.Touch(t.plan)
		}
	case agent.Remembered:
		if r := (&transcript.Remembered{Remembered: e}); len(r.Lines(now)) > 0 {
			m.transcript.Add(r)
		}
	case agent.PlanMade:
		m.planMade(e, now)
	case agent.StepChanged:
		if t.plan != nil {
			t.plan.Mark(e.Step, e.Status, e.Reason, now)
			m.transcript.Touch(t.plan)
		}
	case agent.ToolStarted:
		m.toolStarted(e)
	case agent.ToolEnded:
		m.toolEnded(e)
	case agent.ToolProgressed:
		m.toolProgressed(e)
	case agent.InputAsked:
		return tea.Batch(m.askInput(e), m.callUser("a server asks for something"))
	case agent.InputGiven:
		m.withdraw(func() { m.input.Settle(e.ID) })
		return m.rearm()
	case agent.PermissionAsked:
		return tea.Batch(m.askPermission(e), m.callUser("a tool asks to run"))
	case agent.PermissionGiven:
		m.withdraw(func() { m.permission.Settle(e.Call) })
		m.allowed(e)
		return m.rearm()
	case agent.Thought:
		m.think(e, now)
	case agent.Said:
		m.say(e.Content, now)
	case agent.ContextCounted:
		if e.Step == "" {
			m.endBlock() // what the model says next came after all that is shown
		}
		m.window.Count(e)
		m.used, m.allocated = e.Used, e.Allocated
	case agent.Used:
		m.window.Count(e)
		if e.Prompt > 0 { // else the server does not say, and what was counted here holds
			m.used = e.Prompt + e.Answer
		}
		m.speed = e.PerSecond
	case agent.Cited:
		m.source(e.Citation, e.Source)
	case agent.Noticed:
		m.transcript.Add(&transcript.Notice{Text: e.Text})
	case agent.Failed:
		m.failed(e, now)
		if e.Unkept {
			m.giveBack()
		}
	case agent.Ended:
		m.ended(e, now)
	}
	return nil
}

// kept notes under which id the question is kept.
func (m *Model) kept(turn string) {
	q := m.turn.asked
	q.Turn = turn
	if turn != "" {
		m.unsent.sending = ""
	}
	if len(q.Siblings) > 0 && turn != "" && !slices.Contains(q.Siblings, turn) {
		q.Siblings = append(slices.Clip(q.Siblings), turn)
	}
	m.transcript.Touch(q)
}

func (m *Model) phaseStarted(agentName string, now time.Time) {
	t := m.turn
	t.phase = agentName
	if agentName == "explainer" && t.plan != nil {
		t.plan.Mark("answer", agent.Running, "", now)
		m.transcript.Touch(t.plan)
	}
}

// planMade shows a plan: a new one, the rest of one, or the part of a worker.
func (m *Model) planMade(e agent.PlanMade, now time.Time) {
	t := m.turn
	switch {
	case t.plan != nil && e.Under != "":
		t.plan.Nest(e)
		m.transcript.Touch(t.plan)
		return
	case t.plan != nil && len(e.Before) > 0 && m.transcript.Ends(t.plan):
		t.plan.GoOn(e)
		m.transcript.Touch(t.plan)
		return
	case t.plan != nil:
		t.plan.AnsweredElsewhere()
		t.plan.End(now)
		m.transcript.Touch(t.plan)
	}
	m.closeThought(now)
	m.endBlock()
	if len(e.Steps) > 0 || e.Fallback || len(e.Dropped) > 0 {
		t.plan = transcript.NewPlan(e, now, m.unfolded)
		t.plan.Hidden = m.planHidden
		m.transcript.Add(t.plan)
	}
}

func (m *Model) say(text string, now time.Time) {
	t := m.turn
	m.closeThought(now)
	if t.stopped {
		return // the user has the answer as it stood
	}
	if t.answer == nil || !t.answer.Open {
		t.answer = transcript.NewAnswer()
		t.answer.Health = t.health
		m.transcript.Add(t.answer)
	}
	t.answer.Grow(text)
	m.transcript.Touch(t.answer)
}

// endBlock has what is said from now on stand below all that is shown.
func (m *Model) endBlock() {
	if a := m.turn.answer; a != nil && a.Open {
		a.End("")
		m.transcript.Touch(a)
	}
}

// think shows a piece of a thought: of the one who answers, or, each in a row
// of its own, of the workers that think side by side.
func (m *Model) think(e agent.Thought, now time.Time) {
	t := m.turn
	who := transcript.Thinker{Step: e.Step, Agent: e.Agent}
	thought := t.thoughts[who]
	if e.Step == "" {
		thought = t.thought
	}
	if e.Step == "" {
		m.endBlock()
	}
	if thought == nil || thought.Took > 0 {
		thought = transcript.NewThinking(now, !m.unfolded)
		m.transcript.Add(thought)
		if e.Step == "" {
			t.thought = thought
		} else {
			thought.Who = safetext.Line(who.Step + " " + who.Agent)
			t.thoughts[who] = thought
		}
	}
	thought.Text.WriteString(e.Content)
	m.transcript.Touch(thought)
}

func (m *Model) closeThought(now time.Time) { m.endThought(m.turn.thought, now) }

// endThoughts closes what was thought for a step; "": for any.
func (m *Model) endThoughts(step string, now time.Time) {
	for who, thought := range m.turn.thoughts {
		if step == "" || who.Step == step {
			m.endThought(thought, now)
		}
	}
}

func (m *Model) endThought(thought *transcript.Thinking, now time.Time) {
	if thought != nil && thought.Took == 0 {
		thought.End(now)
		m.transcript.Touch(thought)
	}
}

func (m *Model) toolStarted(e agent.ToolStarted) {
	t := m.turn
	c := transcript.Call{ID: e.Call, Name: e.Name, Input: e.Input}
	if t.plan != nil {
		if s := t.plan.Step(e.Step); s != nil {
			s.Calls = append(s.Calls, c)
			t.steps[e.Call] = t.plan
			m.transcript.Touch(t.plan)
			return
		}
	}
	alone := &transcript.Tool{Call: c, Unfolded: m.unfolded}
	t.tools[e.Call] = alone
	m.transcript.Add(alone)
}

func (m *Model) toolProgressed(e agent.ToolProgressed) {
	t := m.turn
	if alone := t.tools[e.Call]; alone != nil {
		alone.Progress = e.Progress
		m.transcript.Touch(alone)
		return
	}
	p := t.steps[e.Call]
	if p == nil {
		return
	}
	if c := p.Call(e.Call); c != nil {
		c.Progress = e.Progress
	}
	m.transcript.Touch(p)
}

func (m *Model) toolEnded(e agent.ToolEnded) {
	t := m.turn
	if e.Coverage != nil {
		t.health = e.Coverage.Health()
	}
	if alone := t.tools[e.Call]; alone != nil {
		alone.End(e)
		m.transcript.Touch(alone)
		return
	}
	p := t.steps[e.Call]
	if p == nil {
		return
	}
	if c := p.Call(e.Call); c != nil {
		c.End(e)
		if s := p.Step(e.Step); s != nil {
			s.Took = c.Took
		}
	}
	m.transcript.Touch(p)
}

// allowed notes at its step how a call was decided.
func (m *Model) allowed(e agent.PermissionGiven) {
	t := m.turn
	if t.plan == nil {
		return
	}
	if s := t.plan.Step(e.Step); s != nil {
		switch e.Decision {
		case agent.AllowOnce:
			s.Allowed = "allowed once"
		case agent.AllowConversation:
			s.Allowed = "allowed here"
		case agent.AllowAlways:
			s.Allowed = "allowed always"
		}
		m.transcript.Touch(t.plan)
	}
}
