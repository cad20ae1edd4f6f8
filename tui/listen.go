package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/dialog"
)

// beatMsg moves what moves: spinners and clocks.
type beatMsg time.Time

// nextBeat asks for a beat while something moves.
func (m *Model) nextBeat() tea.Cmd {
	if m.beating || m.turn == nil && m.pulling == nil && !m.status.Indexing {
		return nil
	}
	m.beating = true
	return tea.Tick(120*time.Millisecond, func(now time.Time) tea.Msg { return beatMsg(now) })
}

// spinnerRest is how many beats the spinner of the header rests for each that it
// turns while an answer streams: each turn is a picture of its own, sent to
// the terminal between those of the text.
const spinnerRest = 3

func (m *Model) tick(now time.Time) {
	if m.player != nil {
		now = m.player.Now()
	}
	t := m.turn
	if t == nil {
		m.beat++
		return
	}
	if t.rested++; !t.streams || t.rested > spinnerRest {
		m.beat, t.rested = m.beat+1, 0
	}
	t.streams = false
	t.Tick(m.beat, now)
}

// redrawWhenArmed redraws when the guard time of an open question is over.
func (m *Model) redrawWhenArmed() tea.Cmd {
	if !m.asks.Open() && m.offer == nil && m.resumable == nil {
		return nil
	}
	return tea.Tick(dialog.Guard, func(time.Time) tea.Msg { return armedMsg{} })
}

type armedMsg struct{}

type (
	statusMsg  backend.Status
	noticeMsg  string
	promptsMsg []string
)

func (m *Model) nextStatus() tea.Cmd {
	if m.Status == nil {
		return nil
	}
	return func() tea.Msg {
		if status, open := <-m.Status; open {
			return statusMsg(status)
		}
		return nil
	}
}

func (m *Model) nextNotice() tea.Cmd {
	if m.Notices == nil {
		return nil
	}
	return func() tea.Msg {
		if text, open := <-m.Notices; open {
			return noticeMsg(text)
		}
		return nil
	}
}

func (m *Model) loadPrompts() tea.Cmd {
	if m.Prompts == nil {
		return nil
	}
	return func() tea.Msg {
		prompts, err := m.Prompts(m.base, composer.SavedPrompts)
		if err != nil {
			return noticeMsg("earlier prompts: " + err.Error())
		}
		return promptsMsg(prompts)
	}
}
