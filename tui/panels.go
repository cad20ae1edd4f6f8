package tui

import (
	"context"
	"time"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/dialog"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"

	tea "charm.land/bubbletea/v2"
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

// notify rings when the window is out of sight: a bell, and a
// notification where the terminal knows OSC 9. Both are our own words.
func (m *Model) notify(what string) tea.Cmd {
	if !m.blurred || m.player != nil || m.Quiet {
		return nil
	}
	return tea.Raw("\a\x1b]9;LifeHub: " + what + "\x1b\\")
}

func (m *Model) openPicker(msg pickMsg) {
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return
	}
	m.cover(&msg.picker)
}

// updatePanel gives a message to the panel, and does what it asks for.
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
		return m.showPage(pageMsg{err: did.Err})
	case panel.NotMine:
		return m.pasteText(did.Content)
	case panel.Show:
		return m.showTurn(did.Turn, false)
	case panel.GoOn:
		return m.goOn(did.Turn)
	case panel.Fork:
		return m.fork(did.Turn)
	case panel.Consent:
		return m.giveConsent(did.Server)
	case panel.Pull:
		return m.pull(did.Model)
	case panel.Later:
		if m.pulling == nil {
			return m.leaveFirstRun()
		}
		m.stop()
	case panel.NotesTaken:
		return m.notesTaken(did.Offer)
	}
	return nil
}

// uncovered reports whether no question waits, and says so if one does: nothing
// opens over it.
func (m *Model) uncovered() bool {
	if m.asks.Open() && m.player == nil {
		m.flash("answer the request first")
		return false
	}
	return true
}

// cover puts a list or a page over the transcript, unless a question waits.
func (m *Model) cover(by panel.Panel) bool {
	if !m.uncovered() {
		return false
	}
	m.panel = by
	return true
}

// askInput and askPermission put a question.
func (m *Model) askInput(e agent.InputAsked) tea.Cmd {
	return m.askUser(func() { m.asks.AskInput(e) })
}

func (m *Model) askPermission(e agent.PermissionAsked) tea.Cmd {
	return m.askUser(func() { m.asks.AskPermission(e) })
}

func (m *Model) askUser(ask func()) tea.Cmd {
	if !m.asks.Open() {
		m.returnLetters() // of an offer
	}
	ask()
	m.panel = nil
	m.unfocus()
	return m.redrawWhenArmed()
}

// takenLetters takes every choice back and returns the letters that questions took.
func (m *Model) takenLetters() []tea.KeyPressMsg {
	typed := m.asks.GiveBack()
	if m.offer != nil {
		typed = append(typed, m.offer.GiveBack()...)
	}
	return typed
}

// returnLetters gives the composer what questions took of a text.
func (m *Model) returnLetters() { m.typeLetters(m.takenLetters()) }

func (m *Model) typeLetters(letters []tea.KeyPressMsg) {
	for _, pressed := range letters {
		m.composer.Press(pressed)
	}
}

type (
	// consentMsg brings the page on which a server's consent is given.
	consentMsg struct {
		server, page string
		stop         context.CancelFunc
	}
	// consentedMsg says that a consent is over.
	consentedMsg struct {
		server string
		err    error
	}
)

// giveConsent begins the consent of a server. It goes on in the background
// until the user has been on the page, or says no to it.
func (m *Model) giveConsent(server string) tea.Cmd {
	ctx, stop := context.WithCancel(m.base)
	pages := make(chan string, 1)
	give := func() tea.Msg {
		defer stop()
		defer close(pages)
		err := m.Servers.Consent(ctx, server, func(page string) { pages <- page })
		if ctx.Err() != nil {
			err = nil // the user's own no
		}
		return consentedMsg{server, err}
	}
	show := func() tea.Msg {
		if page, ok := <-pages; ok {
			return consentMsg{server, page, stop}
		}
		return nil
	}
	return tea.Batch(give, show)
}

// showConsent asks the user to go to the page.
func (m *Model) showConsent(msg consentMsg) tea.Cmd {
	return m.askInput(agent.InputAsked{
		ID: dialog.ConsentID + msg.server,
		Question: agent.Question{
			From: msg.server, Kind: agent.URLInput, URL: msg.page,
			Message: "wants your consent before it lets LifeHub in. Open this page in your browser; the chat goes on when you have been there.",
		},
		Reply: func(given agent.Input) {
			if given.Action != agent.InputAccepted {
				msg.stop()
			}
		},
	})
}

// consented takes the question away and says how it went.
func (m *Model) consented(msg consentedMsg) {
	m.typeLetters(m.asks.SettleInput(dialog.ConsentID + msg.server))
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
	}
	m.toldServer(panel.ServerDoneMsg{})
}

// listArtifacts opens the documents of the conversation, or the versions of
// the one that is named.
func (m *Model) listArtifacts(name string) tea.Cmd {
	conversation := m.conversation
	if name != "" {
		return m.listVersions(conversation, name)
	}
	return func() tea.Msg {
		p, list, err := panel.ArtifactPicker(m.base, m.Artifacts, conversation)
		p.Pick = func(at int) tea.Cmd { return m.listVersions(conversation, list[at].Name) }
		return pickMsg{p, err}
	}
}

// listVersions opens the history of a document, the newest version first.
func (m *Model) listVersions(conversation, name string) tea.Cmd {
	return func() tea.Msg {
		p, versions, err := panel.VersionPicker(m.base, m.Artifacts, conversation, name)
		p.Pick = func(at int) tea.Cmd {
			return func() tea.Msg { return pageMsg{text: panel.VersionPage(versions, len(versions)-1-at)} }
		}
		return pickMsg{p, err}
	}
}
