package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/llm"
	"lifehub/tui/composer"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// ask shows a question and starts its turn.
func (m *Model) ask(text string) tea.Cmd { return m.askAt(text, nil) }

// askAt asks at another place of the tree than the end of the shown branch; nil for there.
func (m *Model) askAt(text string, at *branch) tea.Cmd {
	return m.startTurn(text, at, m.Options.Assistant.Ask)
}

// startTurn begins a turn by calling begin.
func (m *Model) startTurn(text string, at *branch, begin chat.TurnStarter) tea.Cmd {
	m.welcome.Suggest("")
	m.offer = ""
	ctx := m.newTurn(text)
	q := &transcript.Question{Text: text, After: m.transcript.LastTurn()}
	if at != nil {
		q.After, q.Siblings = at.after, at.siblings
	}
	m.turn.shown.Asked = q
	m.transcript.Add(q)
	m.transcript.ToEnd()
	if m.chat.title == "" {
		m.chat.title = agent.PlainLine(text)
	}
	number, id := m.turns, m.chat.id
	m.draft.sending = text
	keep := m.takeDraft()
	return func() tea.Msg {
		msg := startedMsg{turn: number, conversation: id}
		if id == "" && m.Options.Conversations != nil {
			if msg.conversation, msg.err = m.Options.Conversations.New(ctx); msg.err != nil {
				return msg
			}
		}
		if at != nil {
			if msg.err = m.Options.Branches.GoOn(ctx, id, at.after); msg.err != nil {
				return msg
			}
		}
		_ = keep(ctx, msg.conversation) // the next change of what is typed says why it cannot be
		msg.events = m.followTurn(msg.conversation, begin(ctx, msg.conversation, text))
		return msg
	}
}

// started begins to read the events of a turn.
func (m *Model) started(msg startedMsg) tea.Cmd {
	if m.turn == nil || m.turn.number != msg.turn {
		return nil
	}
	if msg.err != nil {
		m.fail(msg.err)
		question := m.turn.question
		m.draft.sending = ""
		m.turn.stop(nil)
		m.turn = nil
		m.composer.Set(safetext.Text(question)) // nothing is lost
		return nil
	}
	m.chat.id = msg.conversation
	m.turn.events = msg.events
	return nextEvents(msg.events, msg.turn, time.Time{})
}

// stop stops the running turn or pull; the text that was streamed stays. It reports
// whether there was one.
func (m *Model) stop() bool {
	if m.pull != nil {
		m.pull.stop()
		return true
	}
	t := m.turn
	if t == nil || t.shown.Stopped {
		return t != nil
	}
	m.closeTurn("stopped", time.Now())
	t.shown.Stopped = true
	t.stop(nil)
	m.composer.ReturnQueue() // it was meant for after a whole answer
	return true
}

// clear handles Ctrl+C: it clears the input, else stops a running turn, else quits when
// pressed again. Quitting is an interruption only if something was running.
func (m *Model) clear(parting bool) tea.Cmd {
	switch {
	case parting && m.turn != nil, parting && m.leaving.cut:
		return m.leave(chat.Interrupted)
	case parting:
		return m.leave(chat.Quit)
	case m.editing != nil:
		m.stopEditing()
		return nil
	case !m.composer.Empty():
		m.composer.Clear()
		m.lists.Close()
		return nil
	case m.turn != nil && !m.turn.shown.Stopped, m.pull != nil:
		m.stop()
		m.leaving.cut = true
	}
	m.leaving.asked = true
	return m.flash("press ctrl+c again to quit")
}

// leave quits the program.
func (m *Model) leave(how chat.Ended) tea.Cmd {
	m.leaving.exit, m.leaving.exited = how, true
	switch {
	case m.turn != nil && how == chat.Terminated && !m.turn.shown.Stopped:
		m.turn.stop(agent.ErrShutdown)
	case m.turn != nil:
		m.turn.stop(nil)
	}
	if m.pull != nil {
		m.pull.stop()
	}
	return tea.Quit
}

type leaveMsg chat.Ended

// startedMsg reports that a turn is running.
type startedMsg struct {
	turn         int
	conversation string
	events       <-chan agent.Event
	err          error
}

// runningTurn is the turn that is being answered.
type runningTurn struct {
	shown    *transcript.Turn
	number   int
	events   <-chan agent.Event      // nil until it has started
	stop     context.CancelCauseFunc // agent.ErrShutdown leaves it open, for LifeHub ends
	question string
	failed   bool
	begun    bool                 // its first event came
	steer    func(agent.Steering) // nil: it takes no messages, or has not begun

	speed streamSpeed

	streams bool      // text came since the last beat
	spoke   time.Time // when the first text of the answer came; zero: none did
}

// takesSteering reports whether a message can be offered to the turn; t may be
// nil.
func (t *runningTurn) takesSteering() bool {
	return t != nil && !t.shown.Stopped && (t.steer != nil || !t.begun)
}

// receive shows a batch of events and asks for the next.
func (m *Model) receive(msg batchMsg) tea.Cmd {
	t := m.turn
	if t == nil || msg.Turn != t.number {
		return nil
	}
	now := time.Now()
	if msg.Pieces > 0 {
		t.speed.Count(msg.Pieces, now)
		t.streams = true
		if t.spoke.IsZero() {
			t.spoke = now
		}
	}
	var cmds []tea.Cmd
	for _, e := range msg.Events {
		if !e.Time.IsZero() {
			now = e.Time // of a batch each has its own
		}
		cmds = append(cmds, m.show(e, now))
	}
	if msg.Over {
		return tea.Batch(append(cmds, m.turnOver(now))...)
	}
	return tea.Batch(append(cmds, nextEvents(t.events, t.number, time.Now()))...)
}

// show passes an event to the transcript and to other parts of the screen.
func (m *Model) show(e agent.Event, now time.Time) tea.Cmd {
	m.turn.shown.Take(e, now)
	turnID := e.Turn
	switch e := e.Body.(type) {
	case agent.Started:
		if m.Options.Modes == nil {
			m.mode = e.Mode
		}
		m.saved(turnID)
		m.begun(e)
	case agent.Noticed:
		if e.Steering != nil {
			m.composer.Steered(e.Steering.ID)
		}
	case agent.InputAsked:
		return tea.Batch(m.askUser(e), m.notify("an MCP server asks for input"))
	case agent.InputGiven:
		m.typeLetters(m.asks.SettleInput(e.ID))
		return m.redrawWhenArmed()
	case agent.PermissionAsked:
		return tea.Batch(m.askUser(e), m.notify("a tool asks to run"))
	case agent.PermissionGiven:
		m.typeLetters(m.asks.SettlePermission(e.Call))
		return m.redrawWhenArmed()
	case agent.Said, agent.Thought: // it answers
		m.unreachable = false
	case agent.ContextCounted, agent.Used:
		m.prompt.Count(e)
	case agent.Failed:
		m.failed(e, now)
		if e.Unkept {
			m.returnDue()
		}
	case agent.Ended:
		m.ended(e, now)
	}
	return nil
}

// saved records the ID under which the question is saved.
func (m *Model) saved(turn string) {
	q := m.turn.shown.Asked
	q.Turn = turn
	if turn != "" {
		m.draft.sending = ""
	}
	if len(q.Siblings) > 0 && turn != "" && !slices.Contains(q.Siblings, turn) {
		q.Siblings = append(slices.Clip(q.Siblings), turn)
	}
	m.transcript.Invalidate(q)
}

// begun offers the turn what was sent to it before its first event.
func (m *Model) begun(e agent.Started) {
	m.turn.begun, m.turn.steer = true, e.Steer
	if e.Steer == nil {
		m.composer.NotSteered()
		return
	}
	for _, s := range m.composer.Steering {
		e.Steer(s)
	}
}

// failed shows why the turn failed.
func (m *Model) failed(e agent.Failed, now time.Time) {
	t := m.turn
	if !t.shown.Stopped {
		t.failed = true
		m.unreachable = errors.Is(e.Err, llm.ErrUnreachable)
	}
	t.shown.Failed(e, m.Options.CanUndo(), now)
	m.typeLetters(m.asks.Close())
}

// returnDue puts a question that could not be saved back into the composer, so that
// nothing typed is lost.
func (m *Model) returnDue() {
	m.draft.sending = ""
	text := m.turn.question
	if !m.composer.Empty() {
		text += "\n" + m.composer.Text()
	}
	m.composer.Set(safetext.Text(text))
}

// takeOffer writes the command that fits the last question, if there is one, and reports whether it did.
func (m *Model) takeOffer() bool {
	if m.turn != nil || m.offer == "" {
		return false
	}
	m.composer.Set(m.offer)
	return true
}

// readWhole is the time within which an answer comes as a whole: nobody followed it, so that it is read from its
// question on, as a list is, however slowly it came.
const readWhole = time.Second / 2

// ended shows the saved answer and its figures.
func (m *Model) ended(e agent.Ended, now time.Time) {
	m.turn.shown.Ended(e, m.Options.CanUndo(), now)
	m.typeLetters(m.asks.Close())
	whole := m.turn.spoke.IsZero() || now.Sub(m.turn.spoke) < readWhole || m.turn.shown.IsList()
	if whole && !m.transcript.Scrolled {
		m.transcript.ShowFrom(m.turn.shown.Asked)
	}
	m.offer = safetext.Line(m.turn.shown.Offer(now))
	if e.Coverage.StillReading() != "" {
		m.welcome.Again = m.turn.question
	}
}

// offerAgain offers, once all notes are indexed, to repeat a question that was asked before.
func (m *Model) offerAgain() {
	if m.welcome.Again != "" && m.turn == nil && !m.status.Indexing {
		m.transcript.Add(&transcript.Notice{Text: m.welcome.AskAgain()})
	}
}

// closeTurn closes all open items of the turn.
func (m *Model) closeTurn(ending string, now time.Time) {
	m.turn.shown.Close(ending, now)
	m.typeLetters(m.asks.Close())
}

// turnOver is called when the channel of the turn closed.
func (m *Model) turnOver(now time.Time) tea.Cmd {
	t := m.turn
	m.closeTurn("cut off", now)
	t.stop(nil)
	m.turn, m.last, m.draft.sending = nil, t, ""
	if t.shown.Stopped {
		m.composer.ReturnSteering()
	}
	m.composer.NotSteered()
	m.offerAgain()
	if m.Options.Conversations != nil { // otherwise they could not be read again
		m.transcript.KeepLast(firstRead, mostTurns)
	}
	return tea.Sequence(m.printOver(), m.afterTurn(t))
}

// afterTurn offers what a finished turn calls for, and asks the next queued message.
func (m *Model) afterTurn(t *runningTurn) tea.Cmd {
	if (t.shown.Stopped || t.failed) && m.Options.Resumer != nil && t.shown.Asked != nil && t.shown.Asked.Turn != "" {
		m.resumable = newResumable(t.shown.Asked, t.failed && t.shown.Answer != nil)
	}
	if len(m.composer.Queue) == 0 { // what was taken out of it waits for the user alone
		m.composer.Place = -1
	}
	switch {
	case m.composer.Due() == 0 && t.shown.Stopped:
		return nil
	case m.composer.Due() == 0 && t.failed:
		return m.notify("no answer could be given")
	case m.composer.Due() == 0:
		return m.notify("the answer is ready")
	}
	return m.askQueued(m.composer.Next())
}

// proceed resumes the turn that was interrupted.
func (m *Model) proceed() tea.Cmd {
	left := m.resumable
	if left == nil || m.Options.Resumer == nil {
		return m.flash("nothing to resume")
	}
	if m.busy() {
		return nil
	}
	ctx := m.newTurn(left.Asked.Text)
	m.turn.shown.Resume(left.Asked)
	m.transcript.ToEnd()
	number, id := m.turns, m.chat.id
	return func() tea.Msg {
		events := m.followTurn(id, m.Options.Resumer.Resume(ctx, id, left.Asked.Turn))
		return startedMsg{turn: number, conversation: id, events: events}
	}
}

// newTurn begins a turn and returns its context.
func (m *Model) newTurn(text string) context.Context {
	m.turns++
	m.resumable = nil
	ctx, stop := context.WithCancelCause(m.base)
	m.turn = &runningTurn{
		shown:  m.transcript.Begin(),
		number: m.turns, stop: stop, question: text,
	}
	return ctx
}

// tick advances animations.
func (m *Model) tick(now time.Time) {
	t := m.turn
	m.spinner.Turn(t != nil && t.streams)
	if t != nil {
		t.streams = false
		t.shown.Tick(m.spinner.Beat, now)
	}
}

// redrawWhenArmed redraws when the quiet period of an open dialog is over.
func (m *Model) redrawWhenArmed() tea.Cmd {
	if !m.asks.Open() && m.resumable == nil {
		return nil
	}
	return tea.Tick(dialog.QuietPeriod, func(time.Time) tea.Msg { return armedMsg{} })
}

type armedMsg struct{}

type (
	statusMsg chat.Status
	noticeMsg string
)

func (m *Model) loadPrompts() tea.Cmd {
	if m.Options.Archive == nil {
		return nil
	}
	return func() tea.Msg {
		prompts, err := m.Options.Archive.Prompts(m.base, composer.SavedPrompts)
		if err != nil {
			return noticeMsg("earlier prompts: " + err.Error())
		}
		return then(func() tea.Cmd { m.composer.History = append(m.composer.History, prompts...); return nil })
	}
}

func (m *Model) nextStatus() tea.Cmd {
	return nextOf(m.Options.Status, func(s chat.Status) tea.Msg { return statusMsg(s) })
}

func (m *Model) nextNotice() tea.Cmd {
	return nextOf(m.Options.Notices, func(text string) tea.Msg { return noticeMsg(text) })
}
