package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// openFirstRun shows the screen and begins to look.
func (m *Model) openFirstRun() tea.Cmd {
	found := panel.Finding{
		Offers: func() ([]backend.Offer, error) { return m.Notes.Offers(m.base) },
		Take:   func(o backend.Offer) error { return m.Notes.Take(m.base, o) },
	}
	if m.FindModel != nil {
		found.Model = func() backend.FoundModel { return m.FindModel(m.base) }
	}
	if m.Mentions != nil {
		found.Folders = func(place string) ([]backend.Mention, error) { return m.Mentions(m.base, place) }
	}
	f := &panel.FirstRun{Finding: found}
	m.panel = f
	return tea.Batch(f.FindModel(), func() tea.Msg {
		list, err := found.Offers()
		return panel.OffersMsg{List: list, Err: err}
	})
}

// findModel looks for the model, while the first run is open.
func (m *Model) findModel() tea.Cmd {
	if f, ok := m.panel.(*panel.FirstRun); ok {
		return f.FindModel()
	}
	return nil
}

// notesTaken goes on to the chat.
func (m *Model) notesTaken(o backend.Offer) tea.Cmd {
	cmd := m.leaveFirstRun()
	m.flash("LifeHub knows " + o.Name + " now; ask away")
	if o.Ask != "" && cmd == nil {
		m.suggest(o.Ask)
	}
	return cmd
}

// suggest shows a question where the user would write, for enter to ask. What
// the user writes takes its place; "" takes it away.
func (m *Model) suggest(question string) {
	m.suggested, m.again = question, ""
}

// leaveFirstRun goes on to the chat, and asks the prompt of the command line.
func (m *Model) leaveFirstRun() tea.Cmd {
	m.panel = nil
	return m.askFirst()
}

// askFirst asks the prompt of the command line, once.
func (m *Model) askFirst() tea.Cmd {
	prompt := m.Prompt
	if _, first := m.panel.(*panel.FirstRun); prompt == "" || first {
		return nil
	}
	m.Prompt = ""
	return m.ask(prompt)
}

func (m *Model) newHelp() *panel.Help { return &panel.Help{Commands: panel.Commands(&m.Options)} }

// openServers shows the panel.
func (m *Model) openServers() tea.Cmd {
	p := panel.NewServers(m.Servers)
	if !m.cover(p) {
		return nil
	}
	return p.Soon()
}

// toldServer says what went wrong with a server, and has the panel look again.
func (m *Model) toldServer(msg panel.ServerDoneMsg) {
	if msg.Err != nil {
		m.flash(msg.Err.Error())
	}
	m.updatePanel(msg)
}

// openPage shows a panel that has a command of its own.
func (m *Model) openPage(page *panel.Page, args string) tea.Cmd {
	shown, cmd, err := page.Open(m.base, &m.Options, args)
	if err != nil {
		m.flash(err.Error())
		return nil
	}
	if !m.cover(shown) {
		return nil
	}
	return cmd
}

// treeMsg brings the turns of the panel.
type treeMsg struct {
	list []agent.Exchange
	err  error
}

func (m *Model) listTree() tea.Cmd {
	if m.busy() || m.Branches == nil {
		return nil
	}
	id := m.conversation
	return func() tea.Msg {
		list, err := m.Branches.Tree(m.base, id)
		return treeMsg{list, err}
	}
}

func (m *Model) openTree(msg treeMsg) {
	switch {
	case msg.err != nil:
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
	case len(msg.list) == 0:
		m.flash("nothing was asked here yet")
	default:
		m.cover(panel.NewTree(msg.list, time.Now()))
	}
}
