package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// failed shows why the turn could not be finished.
func (m *Model) failed(e agent.Failed, now time.Time) {
	t := m.turn
	m.closeTurn("cut off", now)
	if !t.Stopped { // else that it ended is what the user wanted
		t.failed = true
		m.transcript.Add(&transcript.Failure{Text: e.Message, Hint: e.Hint})
		t.missed = backend.MissingModel(e.Err)
	}
	m.tellEffects(e.Effects)
}

// tellEffects ends a turn with what it did.
func (m *Model) tellEffects(did agent.Effects) {
	if did != nil {
		m.transcript.Add(&transcript.Effects{Effects: did})
	}
}

// returnDue puts a question that could not be kept back into the composer:
// what was typed is not lost.
func (m *Model) returnDue() {
	m.draft.sending = ""
	text := m.turn.question
	if !m.composer.Empty() {
		text += "\n" + m.composer.Text()
	}
	m.composer.Set(safetext.Text(text))
}

// ended shows the answer as it was kept and its figures.
func (m *Model) ended(e agent.Ended, now time.Time) {
	ending := ""
	if e.Interrupted {
		ending = "stopped"
	}
	if t := m.turn; t.Answer == nil && e.Answer != "" && !t.Stopped {
		m.turn.Say(e.Answer, now)
	}
	for _, s := range e.Nearest {
		m.turn.Source(agent.Citation{N: s.N, Path: s.Path, Line: s.Line, EndLine: s.EndLine}, s)
	}
	m.closeTurn(ending, now)
	if t := m.turn; t.Answer != nil {
		if t.Answer.Caveat = e.Coverage.StillReading(); t.Answer.Caveat != "" {
			m.again = t.question
			m.transcript.Touch(t.Answer)
		}
	}
	m.tellEffects(e.Effects)
}

// offerAgain offers to ask once more what was asked while notes were being
// read, when all are.
func (m *Model) offerAgain() {
	if m.again == "" || m.turn != nil || m.status.Indexing {
		return
	}
	question, offer := m.again, "All notes are read now: Enter asks again."
	if strings.Contains(question, "\n") {
		question, offer = "", "All notes are read now: /retry asks again."
	}
	m.suggest(question)
	m.transcript.Add(&transcript.Notice{Text: offer})
}

// closeTurn ends all that is open in the turn.
func (m *Model) closeTurn(ending string, now time.Time) {
	m.turn.Close(ending, now)
	m.typeLetters(m.asks.Close())
}

// turnOver is called when the channel of the turn closed.
func (m *Model) turnOver(now time.Time) tea.Cmd {
	t := m.turn
	m.closeTurn("cut off", now)
	t.cancel()
	m.turn, m.draft.sending = nil, ""
	m.last = t
	m.offerAgain()
	m.letGo()
	return tea.Sequence(m.printOver(), m.afterTurn(t))
}

// afterTurn does what is due once a turn is over.
func (m *Model) afterTurn(t *turn) tea.Cmd {
	if t.Stopped || t.failed {
		m.turnLeft(t)
	}
	if len(m.composer.Queue) == 0 { // what was taken out of it waits for the user alone
		m.composer.Place = -1
	}
	switch {
	case t.missed != "":
		m.offerPull(t.missed, t.question)
		return m.redrawWhenArmed()
	case m.composer.Due() == 0 && t.Stopped:
		return nil
	case m.composer.Due() == 0 && t.failed:
		return m.notify("no answer could be given")
	case m.composer.Due() == 0:
		return m.notify("the answer is ready")
	case t.Stopped:
		// What waited was meant for after a whole answer: give it back.
		m.composer.Requeue()
		text := strings.Join(append(m.composer.GiveBack(), m.composer.Take()), "\n")
		m.composer.Set(strings.TrimRight(text, "\n"))
		return nil
	}
	return m.askQueued(m.composer.Next())
}
