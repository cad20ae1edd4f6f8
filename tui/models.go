package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/dialog"
	"lifehub/tui/panel"
	"lifehub/tui/pull"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

func (m *Model) offerPull(model, question string) {
	if m.Models != nil {
		m.offer = &pull.Offer{Model: model, Question: question}
	}
}

// answerOffer are the answers to the offer.
func (m *Model) answerOffer() []dialog.Choice {
	return m.offer.Choices(&m.keys, func() tea.Cmd { return m.beginPull(m.offer.Model, m.offer.Question) }, func() tea.Cmd {
		m.composer.Set(safetext.Text(m.offer.Question))
		m.offer = nil
		return nil
	})
}

func (m *Model) pull(name string) tea.Cmd {
	if name == "" || m.pulling != nil {
		m.flash("usage: /pull NAME, one at a time")
		return nil
	}
	return m.beginPull(name, "")
}

// beginPull fetches a model; question is put back into the composer when it is
// there.
func (m *Model) beginPull(name, question string) (cmd tea.Cmd) {
	m.offer = nil
	m.pulling, cmd = pull.Begin(m.base, m.Models, name, question)
	return cmd
}

func (m *Model) pullProgress(msg pull.Msg) tea.Cmd {
	p := m.pulling
	switch {
	case p == nil:
		return nil
	case !msg.Over:
		return p.Take(msg)
	}
	m.pulling = nil
	p.Cancel()
	text := p.Outcome(msg.Err)
	first, ok := m.panel.(*panel.FirstRun)
	switch {
	case ok && text == "":
		first.Wrong = msg.Err.Error()
	case ok:
		m.flash(text)
	case text == "":
		m.transcript.Add(transcript.FailureOf(msg.Err))
	default:
		m.transcript.Add(&transcript.Notice{Text: text})
	}
	if p.Question != "" && m.composer.Empty() && m.turn == nil {
		if msg.Err == nil {
			return m.ask(p.Question)
		}
		m.composer.Set(safetext.Text(p.Question))
	}
	return m.findModel()
}

// chooseModel uses the named model, or lists those that are there.
func (m *Model) chooseModel(name string) tea.Cmd {
	if m.Models == nil {
		return nil
	}
	if name != "" {
		return m.use(name)
	}
	offline := m.status.Provider == "offline"
	return func() tea.Msg {
		p, list := panel.ModelPicker(m.base, m.Models, offline)
		p.Pick = func(at int) tea.Cmd { return m.use(list[at].Name) }
		return pickMsg{p, nil}
	}
}

type usingMsg struct {
	model string
	err   error
}

func (m *Model) use(name string) tea.Cmd {
	return func() tea.Msg { return usingMsg{name, m.Models.Use(m.base, name)} }
}

func (m *Model) using(msg usingMsg) {
	if msg.err == nil {
		m.transcript.Add(&transcript.Notice{Text: "now using " + msg.model})
		return
	}
	if missing := backend.MissingModel(msg.err); missing != "" {
		m.offerPull(missing, "")
		return
	}
	m.transcript.Add(transcript.FailureOf(msg.err))
}
