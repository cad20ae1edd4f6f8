package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/safetext"
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

	asked   *question
	plan    *plan
	thought *thinking
	answer  *answer

	thoughts map[thinker]*thinking // of those who work for a step

	sources *sources
	tools   map[string]*tool // calls outside the plan, by call
	steps   map[string]*plan // the plan that a call belongs to

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
			t.plan.tried(e.Step, e.Attempt)
			m.transcript.touch(t.plan)
		}
	case agent.PhaseEnded:
		if e.Step != "" {
			m.endThoughts(e.Step, now)
		}
	case agent.ArtifactChanged:
		m.transcript.add(&notice{artifactLine(e)})
	case agent.Evaluated:
		if t.plan != nil {
			t.plan.judged(e)
			m.transcript.touch(t.plan)
		}
	case agent.Remembered:
		if r := (&remembered{e}); len(r.lines(now)) > 0 {
			m.transcript.add(r)
		}
	case agent.PlanMade:
		m.planMade(e, now)
	case agent.StepChanged:
		if t.plan != nil {
			t.plan.mark(e.Step, e.Status, e.Reason, now)
			m.transcript.touch(t.plan)
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
		m.withdraw(func() { m.input.settle(e.ID) })
		return m.rearm()
	case agent.PermissionAsked:
		return tea.Batch(m.askPermission(e), m.callUser("a tool asks to run"))
	case agent.PermissionGiven:
		m.withdraw(func() { m.permission.settle(e.Call) })
		m.allowed(e)
		return m.rearm()
	case agent.Thought:
		m.think(e, now)
	case agent.Said:
		m.say(e.Content, now)
	case agent.ContextCounted:
		m.window.count(e)
		m.used, m.allocated = e.Used, e.Allocated
	case agent.Used:
		m.window.count(e)
		m.used = e.Prompt + e.Answer
		m.speed = e.PerSecond
	case agent.Cited:
		m.source(e.Citation, e.Source)
	case agent.Noticed:
		m.transcript.add(&notice{e.Text})
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
	q.turn = turn
	if turn != "" {
		m.unsent.sending = ""
	}
	if len(q.siblings) > 0 && turn != "" && !slices.Contains(q.siblings, turn) {
		q.siblings = append(slices.Clip(q.siblings), turn)
	}
	m.transcript.touch(q)
}

func (m *Model) phaseStarted(agentName string, now time.Time) {
	t := m.turn
	t.phase = agentName
	if agentName == "explainer" && t.plan != nil {
		t.plan.mark("answer", agent.Running, "", now)
		m.transcript.touch(t.plan)
	}
}

// planMade shows a plan: a new one, the rest of one, or the part of a worker.
func (m *Model) planMade(e agent.PlanMade, now time.Time) {
	t := m.turn
	switch {
	case t.plan != nil && e.Under != "":
		t.plan.nest(e)
		m.transcript.touch(t.plan)
		return
	case t.plan != nil && len(e.Before) > 0:
		t.plan.goOn(e)
		m.transcript.touch(t.plan)
		return
	case t.plan != nil:
		t.plan.end(now)
		m.transcript.touch(t.plan)
	}
	m.closeThought(now)
	if len(e.Steps) > 0 || e.Fallback || len(e.Dropped) > 0 {
		t.plan = newPlan(e, now, m.unfolded)
		t.plan.hidden = m.planHidden
		m.transcript.add(t.plan)
	}
}

// askInput and askPermission put a question. It waits behind one that is in
// sight, of whichever kind.
func (m *Model) askInput(e agent.InputAsked) tea.Cmd {
	if !m.asked() {
		m.returnLetters() // of an offer
	}
	if !m.input.open() {
		m.inputFirst = !m.permission.open()
	}
	m.input.ask(e)
	m.overlay = noOverlay
	m.unfocus()
	return m.rearm()
}

func (m *Model) askPermission(e agent.PermissionAsked) tea.Cmd {
	if !m.asked() {
		m.returnLetters() // of an offer
	}
	if !m.permission.open() {
		m.inputFirst = m.input.open()
	}
	m.permission.ask(e)
	m.overlay = noOverlay
	m.unfocus()
	return m.rearm()
}

// takenLetters takes every choice back and returns the letters that questions took.
func (m *Model) takenLetters() []tea.KeyPressMsg {
	typed := slices.Concat(m.permission.giveBack(), m.input.giveBack())
	if m.offer != nil {
		typed = append(typed, m.offer.giveBack()...)
	}
	return typed
}

// returnLetters gives the composer what questions took of a text.
func (m *Model) returnLetters() {
	for _, pressed := range m.takenLetters() {
		m.composer.press(pressed)
	}
}

// withdraw takes questions away that the user did not answer. Letters that one
// of them had taken are the composer's.
func (m *Model) withdraw(settle func()) {
	typed := slices.Concat(m.permission.typed, m.input.typed)
	settle()
	if len(m.permission.typed)+len(m.input.typed) == 0 {
		for _, pressed := range typed {
			m.composer.press(pressed)
		}
	}
}

func (m *Model) say(text string, now time.Time) {
	t := m.turn
	m.closeThought(now)
	if t.answer == nil {
		t.answer = newAnswer()
		t.answer.health = t.health
		m.transcript.add(t.answer)
	}
	if t.stopped {
		return // the user has the answer as it stood
	}
	t.answer.grow(text)
	m.transcript.touch(t.answer)
}

// think shows a piece of a thought: of the one who answers, or, each in a row
// of its own, of the workers that think side by side.
func (m *Model) think(e agent.Thought, now time.Time) {
	t := m.turn
	who := thinker{e.Step, e.Agent}
	thought := t.thoughts[who]
	if e.Step == "" {
		thought = t.thought
	}
	if thought == nil || thought.took > 0 {
		thought = newThinking(now, !m.unfolded)
		m.transcript.add(thought)
		if e.Step == "" {
			t.thought = thought
		} else {
			thought.who = safetext.Line(who.step + " " + who.agent)
			t.thoughts[who] = thought
		}
	}
	thought.text.WriteString(e.Content)
	m.transcript.touch(thought)
}

func (m *Model) closeThought(now time.Time) { m.endThought(m.turn.thought, now) }

// endThoughts closes what was thought for a step; "": for any.
func (m *Model) endThoughts(step string, now time.Time) {
	for who, thought := range m.turn.thoughts {
		if step == "" || who.step == step {
			m.endThought(thought, now)
		}
	}
}

func (m *Model) endThought(thought *thinking, now time.Time) {
	if thought != nil && thought.took == 0 {
		thought.end(now)
		m.transcript.touch(thought)
	}
}

func (m *Model) toolStarted(e agent.ToolStarted) {
	t := m.turn
	c := call{id: e.Call, name: e.Name, input: e.Input}
	if t.plan != nil {
		if s := t.plan.step(e.Step); s != nil {
			s.calls = append(s.calls, c)
			t.steps[e.Call] = t.plan
			m.transcript.touch(t.plan)
			return
		}
	}
	alone := &tool{call: c, unfolded: m.unfolded}
	t.tools[e.Call] = alone
	m.transcript.add(alone)
}

func (m *Model) toolProgressed(e agent.ToolProgressed) {
	t := m.turn
	if alone := t.tools[e.Call]; alone != nil {
		alone.progress = e.Progress
		m.transcript.touch(alone)
		return
	}
	p := t.steps[e.Call]
	if p == nil {
		return
	}
	if c := p.call(e.Call); c != nil {
		c.progress = e.Progress
	}
	m.transcript.touch(p)
}

func (m *Model) toolEnded(e agent.ToolEnded) {
	t := m.turn
	if e.Coverage != nil {
		t.health = e.Coverage.Health()
	}
	if alone := t.tools[e.Call]; alone != nil {
		alone.end(e)
		m.transcript.touch(alone)
		return
	}
	p := t.steps[e.Call]
	if p == nil {
		return
	}
	if c := p.call(e.Call); c != nil {
		c.end(e)
		if s := p.step(e.Step); s != nil {
			s.took = c.took
		}
	}
	m.transcript.touch(p)
}

// allowed notes at its step how a call was decided.
func (m *Model) allowed(e agent.PermissionGiven) {
	t := m.turn
	if t.plan == nil {
		return
	}
	if s := t.plan.step(e.Step); s != nil {
		switch e.Decision {
		case agent.AllowOnce:
			s.allowed = "allowed once"
		case agent.AllowConversation:
			s.allowed = "allowed here"
		case agent.AllowAlways:
			s.allowed = "allowed always"
		}
		m.transcript.touch(t.plan)
	}
}

// failed shows why the turn could not be finished.
func (m *Model) failed(e agent.Failed, now time.Time) {
	t := m.turn
	m.closeTurn("cut off", now)
	if !t.stopped { // else that it ended is what the user wanted
		t.failed = true
		m.transcript.add(&failure{e.Message, e.Hint})
		t.missed = missingModel(e.Err)
	}
	m.tellEffects(e.Effects)
}

// tellEffects ends a turn with what it did.
func (m *Model) tellEffects(did agent.Effects) {
	if did != nil {
		m.transcript.add(&effects{did})
	}
}

// giveBack puts a question that could not be kept back into the composer:
// what was typed is not lost.
func (m *Model) giveBack() {
	m.unsent.sending = ""
	text := m.turn.question
	if !m.composer.empty() {
		text += "\n" + m.composer.text()
	}
	m.composer.set(safetext.Text(text))
}

// ended shows the answer as it was kept and its figures.
func (m *Model) ended(e agent.Ended, now time.Time) {
	ending := ""
	if e.Interrupted {
		ending = "stopped"
	}
	if t := m.turn; t.answer == nil && e.Answer != "" && !t.stopped {
		m.say(e.Answer, now)
	}
	for _, s := range e.Nearest {
		m.source(agent.Citation{N: s.N, Path: s.Path, Line: s.Line, EndLine: s.EndLine}, s)
	}
	m.closeTurn(ending, now)
	m.tellEffects(e.Effects)
}

// source adds a place to the sources under the answer.
func (m *Model) source(c agent.Citation, from agent.Source) {
	t := m.turn
	if t.sources == nil {
		t.sources = newSources(m.Host)
		m.transcript.add(t.sources)
	}
	t.sources.add(c, from)
	m.transcript.touch(t.sources)
}

// closeTurn ends all that is open in the turn.
func (m *Model) closeTurn(ending string, now time.Time) {
	t := m.turn
	m.closeThought(now)
	m.endThoughts("", now)
	if t.plan != nil && t.plan.took == 0 {
		switch s := t.plan.step("answer"); {
		case s == nil || ending != "":
		case s.status == agent.Running:
			t.plan.mark("answer", agent.Done, "", now)
		case s.status == agent.Pending && t.answer != nil:
			t.plan.answeredElsewhere()
		}
		t.plan.end(now)
		m.transcript.touch(t.plan)
	}
	if t.answer != nil && t.answer.open {
		t.answer.end(ending)
		m.transcript.touch(t.answer)
	} else if t.answer == nil && ending == "stopped" && !t.stopped {
		m.transcript.add(&notice{"stopped"})
	}
	m.withdraw(func() {
		m.permission.close()
		m.input.close()
	})
}

// turnOver is called when the channel of the turn closed.
func (m *Model) turnOver(now time.Time) tea.Cmd {
	t := m.turn
	m.closeTurn("cut off", now)
	t.cancel()
	m.turn, m.unsent.sending = nil, ""
	m.last = t
	return tea.Sequence(m.printOver(), m.afterTurn(t))
}

// afterTurn does what is due once a turn is over.
func (m *Model) afterTurn(t *turn) tea.Cmd {
	if t.stopped || t.failed {
		m.turnLeft(t)
	}
	if len(m.composer.queue) == 0 { // what was taken out of it waits for the user alone
		m.composer.place = -1
	}
	switch {
	case t.missed != "":
		m.offerPull(t.missed, t.question)
		return m.rearm()
	case m.composer.due() == 0 && t.stopped:
		return nil
	case m.composer.due() == 0 && t.failed:
		return m.callUser("no answer could be given")
	case m.composer.due() == 0 && t.answer == nil:
		return m.callUser("the answer is ready")
	case m.composer.due() == 0:
		return tea.Batch(m.callUser("the answer is ready"), m.entitle())
	case t.stopped:
		// What waited was meant for after a whole answer: give it back.
		m.composer.putBack()
		text := strings.Join(append(m.composer.giveBack(), m.composer.take()), "\n")
		m.composer.set(strings.TrimRight(text, "\n"))
		return nil
	}
	return m.askQueued(m.composer.next())
}
