package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/dialog"
	"lifehub/tui/panel"
)

// openFirstRun opens the first-run panel.
func (m *Model) openFirstRun() tea.Cmd {
	m.panel = &panel.FirstRun{}
	return tea.Batch(panel.FindModel(m.base, m.Options.Setup), panel.FindNotes(m.base, m.Options.Setup))
}

// findModel updates the model on the first-run panel, if that is open.
func (m *Model) findModel() tea.Cmd {
	if _, ok := m.panel.(*panel.FirstRun); ok {
		return panel.FindModel(m.base, m.Options.Setup)
	}
	return nil
}

// vaultAdded leaves the first run after a folder was added.
func (m *Model) vaultAdded(o chat.Offer) tea.Cmd {
	cmd := m.leaveFirstRun()
	m.flash(o.Name + " added — ask away")
	m.welcome.First = cmd == nil
	m.welcome.SetQuestions(m.status.Questions)
	return cmd
}

// leaveFirstRun closes the first run, and asks the prompt of the command line.
func (m *Model) leaveFirstRun() tea.Cmd {
	m.panel = nil
	return m.askFirst()
}

// askFirst asks the prompt of the command line, once.
func (m *Model) askFirst() tea.Cmd {
	prompt := m.Options.Prompt
	if _, first := m.panel.(*panel.FirstRun); prompt == "" || first {
		return nil
	}
	m.Options.Prompt = ""
	return m.ask(prompt)
}

func (m *Model) newHelp() *panel.Help { return &panel.Help{Commands: panel.Commands(&m.Options)} }

// openServers opens the panel of MCP servers.
func (m *Model) openServers() tea.Cmd {
	p := panel.NewServers(m.Options.Servers)
	return m.open(p, p.Soon())
}

// serverDone shows the error of a server and refreshes the panel.
func (m *Model) serverDone(msg panel.ServerDoneMsg) {
	if msg.Err != nil {
		m.flash(msg.Err.Error())
	}
	m.updatePanel(msg)
}

// openPage shows the panel of a command.
func (m *Model) openPage(page *panel.Page, args string) tea.Cmd {
	shown, cmd, err := page.Open(m.base, &m.Options, args)
	if err != nil {
		return m.flash(err.Error())
	}
	return m.open(shown, cmd)
}

// listTree shows all branches of the conversation.
func (m *Model) listTree() tea.Cmd {
	if m.busy() || m.Options.Branches == nil {
		return nil
	}
	return panel.OpenTree(m.base, m.Options.Branches, m.chat.id)
}

// notify rings the bell while the window has no focus, and sends a notification to terminals
// that support OSC 9. The text is our own.
func (m *Model) notify(what string) tea.Cmd {
	if !m.term.blurred || m.Options.Quiet {
		return nil
	}
	return tea.Raw("\a\x1b]9;LifeHub: " + what + "\x1b\\")
}

// openList shows a list or the tree once it was read.
func (m *Model) openList(msg panel.OpenMsg) tea.Cmd {
	switch {
	case msg.Err != nil:
		return m.fail(msg.Err)
	case msg.Panel == nil:
		return m.flash(msg.Reason)
	}
	m.cover(msg.Panel)
	return msg.Then
}

// open puts a panel over the transcript, with the command that fills it.
func (m *Model) open(p panel.Panel, cmd tea.Cmd) tea.Cmd {
	if !m.cover(p) {
		return nil
	}
	return cmd
}

// updatePanel passes a message to the panel, and does what it asks for.
func (m *Model) updatePanel(msg tea.Msg) tea.Cmd {
	if m.panel == nil {
		return nil
	}
	before := m.panel
	next, did, cmd := before.Update(msg, &m.keys)
	if m.panel == before { // else the key has opened another one
		m.panel = next
	}
	return tea.Batch(cmd, m.panelDid(did))
}

// panelDid does what a panel asks for.
func (m *Model) panelDid(did tea.Msg) tea.Cmd {
	switch did := did.(type) {
	case panel.Flash:
		m.flash(string(did))
	case panel.Failed:
		return m.showPage(panel.PageMsg{Err: did.Err})
	case panel.EditFile:
		return m.run(did.Path, did.Line, func(err error) tea.Msg { return panel.Reread{Err: err} })
	case panel.NotMine:
		return m.pasteText(did.Content)
	case panel.Show:
		return m.showTurn(did.Turn, false)
	case panel.GoOn:
		return m.answerTurn(did.Turn)
	case panel.Fork:
		return m.fork(did.Turn)
	case panel.Request:
		return did.Do(m.base, &m.Options)
	case panel.Wear:
		m.applyTheme(did.Theme)
	case panel.Pull:
		return m.startPull(did.Model)
	case panel.Later:
		if m.pull == nil {
			return m.leaveFirstRun()
		}
		m.stop()
	case panel.NotesTaken:
		return m.vaultAdded(did.Offer)
	}
	return nil
}

// uncovered reports whether no dialog is open. Nothing opens over a dialog: it shows a hint.
func (m *Model) uncovered() bool {
	if m.asks.Open() {
		m.flash("answer the request first")
		return false
	}
	return true
}

// cover opens a panel over the transcript, unless a dialog is open.
func (m *Model) cover(by panel.Panel) bool {
	if !m.uncovered() {
		return false
	}
	m.uncover(by)
	return true
}

// readAgain reads the open note again once the index is up to date.
func (m *Model) readAgain() tea.Cmd {
	if open, is := m.panel.(*panel.Note); is && !m.status.Indexing {
		return open.ReadAgain(m.base)
	}
	return nil
}

// uncover replaces the open panel by another one or none.
func (m *Model) uncover(by panel.Panel) {
	if _, ok := m.panel.(*panel.Themes); ok {
		m.applyTheme("")
	}
	m.panel = by
}

// askUser opens a dialog for a question.
func (m *Model) askUser(question agent.Body) tea.Cmd {
	m.asks.Ask(question)
	m.uncover(nil)
	m.unfocus()
	return m.redrawWhenArmed()
}

// returnLetters gives the composer the letters that dialogs took.
func (m *Model) returnLetters() { m.typeLetters(m.asks.ReturnLetters()) }

func (m *Model) typeLetters(letters []tea.KeyPressMsg) {
	for _, pressed := range letters {
		m.composer.Press(pressed)
	}
}

// consented closes the dialog of a consent and shows its result.
func (m *Model) consented(msg panel.ConsentedMsg) {
	m.typeLetters(m.asks.SettleInput(dialog.ConsentID + msg.Server))
	if msg.Err != nil {
		m.fail(msg.Err)
	}
	m.serverDone(panel.ServerDoneMsg{})
}
