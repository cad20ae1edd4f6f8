// Package tui is the chat in a terminal: the screen, which turns keys into questions and commands, runs turns, and lays
// out what the packages below it draw, and in the files plain… the chat by lines. Start at [Run] and [Model.Update], or
// at [RunPlain]; events of a turn reach the screen only through show in turn.go. program.go connects the screen to the
// terminal, filter.go is what it reads, signals.go what ends it.
package tui

import (
	"context"
	"os"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"lifehub/chat"
	"lifehub/tui/composer"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// Model is the whole screen, and the only tea.Model here. Panels are plain structs that it
// updates and asks for their lines.
type Model struct {
	Options chat.Options
	base    context.Context // of the run; a tea.Model has nowhere else to take it from
	keys    draw.Keys
	theme   *draw.Theme

	term struct {
		width, height int
		dark, colours bool
		sixteen       bool // colours, which a theme's own would be turned into by no hue
		blurred       bool // the window has not the focus
	}
	clicked tea.Mouse // the button of the mouse that is down, and where it was pressed

	transcript transcript.Model
	composer   composer.Model
	lists      composer.Lists
	asks       dialog.Queue
	afterInput tea.Cmd     // what an answer to the user's own question sets off
	panel      panel.Panel // what covers the transcript; nil: nothing
	pull       *pull       // nil: none
	resumable  *resumable  // the turn that can be resumed; nil: none
	editing    *editing    // an earlier question is in the composer; nil: none

	opening opener
	draft   draftSaver
	chat    struct { // the conversation that is shown
		id, title string
		openings  int // conversations shown so far
	}
	turn *runningTurn // nil between turns

	last    *runningTurn // the turn before, nil at first
	turns   int
	focused bool // the transcript has the focus

	status chat.Status
	// unreachable: the model server did not answer the last question.
	unreachable bool
	mode        string
	prompt      lastPrompt
	hint        string // one line for the user, until the next key
	welcome     welcome
	offer       string // the command that fits the last question; "": none
	leaving     struct {
		asked  bool // Ctrl+C was pressed: once more leaves
		cut    bool // and stopped what was running
		exited bool // the user has left: the last frame is drawn
		exit   chat.Ended
	}

	spinner spinner
	burst   burst
	drawn   struct {
		sidebar sidebar
		bodyTop int    // the first row of the transcript on the screen
		list    int    // the first row of the open list of the composer
		size    [2]int // of the conversation with the composer
		lines   struct{ header, status cachedLine }
		picture tea.View
		frame   panel.Frame
	}
}

// New returns the screen. Cancelling ctx stops its turns. It returns an error for a key
// that does not exist or has two meanings.
func New(ctx context.Context, options chat.Options) (*Model, error) {
	m := &Model{
		Options: options, base: ctx, keys: draw.DefaultKeys(),
		opening: opener{Opener: options.Opener}, mode: options.Mode,
	}
	m.term.dark, m.term.colours = true, true
	if err := m.keys.Rebind(options.Keys); err != nil {
		return nil, err
	}
	if err := draw.CheckColours(options.Theme.Colours); err != nil {
		return nil, err
	}
	m.theme = draw.NewTheme(m.Options.Theme.Name, m.term.dark, m.term.colours, m.Options.Theme.Colours)
	m.transcript = transcript.Model{Theme: m.theme, Chosen: -1}
	m.composer = composer.New(&m.keys, m.theme)
	if m.Options.Opener == nil {
		m.applyOptions()
	}
	return m, nil
}

// applyOptions applies the options and disables the keys of features that they lack.
func (m *Model) applyOptions() {
	m.chat.id, m.transcript.Host = m.Options.Conversation, m.Options.Host
	m.lists.Mentions.Notes, m.lists.Palette.Used = m.Options.Notes, m.Options.Used
	m.keys.LeaveOut(m.Options.Models == nil, m.Options.Conversations == nil, m.Options.Branches == nil)
}

// Init opens what the options leave to open, or starts.
func (m *Model) Init() tea.Cmd {
	begin := m.start
	if m.Options.Opener != nil {
		begin = func() tea.Cmd { return m.opening.Begin(m.base) }
	}
	return tea.Batch(tea.RequestBackgroundColor, begin())
}

// start subscribes to events and shows what the options say.
func (m *Model) start() tea.Cmd {
	cmds := []tea.Cmd{m.nextStatus(), m.nextNotice(), m.nextSent(), m.loadPrompts()}
	switch {
	case m.Options.FirstRun && m.Options.Setup != nil:
		cmds = append(cmds, m.openFirstRun(), m.loadDraft())
	case m.Options.Pick && m.Options.Conversations != nil:
		cmds = append(cmds, m.listConversations(""))
	case m.reads():
		cmds = append(cmds, openConversation(m.base, &m.Options, conversationMsg{
			ID: m.chat.id, Title: m.Options.Heading, At: m.Options.Turn, Focus: m.Options.Turn != "",
		}))
	case m.Options.Prompt != "":
		cmds = append(cmds, m.ask(m.Options.Prompt))
	}
	return tea.Batch(cmds...)
}

// reads reports whether the screen begins with a saved conversation.
func (m *Model) reads() bool {
	first, pick := m.Options.FirstRun && m.Options.Setup != nil, m.Options.Pick && m.Options.Conversations != nil
	return !first && !pick && m.chat.id != "" && m.Options.Conversations != nil
}

// Update handles a message and redraws the screen. It does no I/O: work is done by a
// tea.Cmd, whose result is a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.collects(msg, time.Now()) {
		return m, m.textDue()
	}
	if msg == (textDueMsg{}) {
		m.burst.due = false
		if time.Since(m.burst.last) < textOver {
			return m, m.textDue()
		}
	}
	before, typed := m.burst.last, m.burst.text != ""
	cmd := m.insertTyped()
	if !m.opening.Holds(msg, &m.keys) {
		cmd = tea.Batch(cmd, m.handleTerminal(msg))
	}
	m.draw()
	if typed || m.burst.last != before {
		m.burst.last = time.Now()
	}
	works := m.turn != nil || m.pull != nil || m.status.Indexing
	return m, tea.Batch(cmd, m.spinner.Next(works), m.scheduleDraft(), m.readAbove())
}

// handleTerminal dispatches messages of the terminal.
func (m *Model) handleTerminal(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case openedMsg:
		return m.ready(msg)
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.term.dark = msg.IsDark()
		m.applyTheme("")
	case tea.ColorProfileMsg:
		m.term.colours, m.term.sixteen = msg.Profile > colorprofile.ASCII, msg.Profile == colorprofile.ANSI
		m.applyTheme("")
	case tea.ModeReportMsg:
		m.modeReported(msg)
	case tea.KeyPressMsg:
		return m.pressTyped(msg, time.Now())
	case enterDueMsg:
		if m.burst.enter != nil && time.Since(m.burst.last) < afterEnter {
			return enterDue()
		}
		return m.pressEnter()
	case tea.PasteMsg:
		m.burst.last, m.burst.lines = time.Now(), true
		return m.paste(msg.Content)
	case tea.MouseMsg:
		return m.mouse(msg)
	case tea.FocusMsg:
		m.term.blurred = false
	case tea.BlurMsg:
		m.term.blurred = true
	default:
		return m.handleOwn(msg)
	}
	return nil
}

// then is the result of a command, as a function that runs on the goroutine of Update.
type then func() tea.Cmd

// handleOwn dispatches the results of our own commands.
func (m *Model) handleOwn(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case then:
		return msg()
	case startedMsg:
		return m.started(msg)
	case batchMsg:
		return m.receive(msg)
	case beatMsg:
		m.tick(time.Time(msg))
	case statusMsg:
		m.status = chat.Status(msg)
		m.welcome.SetQuestions(m.status.Questions)
		m.offerAgain()
		return tea.Batch(m.nextStatus(), m.findModel(), m.readAgain())
	case noticeMsg:
		if msg != chat.OfflineText { // the header and the welcome say it
			m.transcript.Add(&transcript.Notice{Text: string(msg)})
		}
		return m.nextNotice()
	case sentMsg:
		return tea.Batch(m.nextSent(), m.sent(msg))
	case panel.PageMsg:
		return m.showPage(msg)
	case conversationMsg:
		cmd := m.opened(msg)
		return tea.Batch(m.printOver(), cmd, m.handleHeld())
	case earlierMsg:
		m.showEarlier(msg)
	case panel.RenamedMsg:
		return m.renamed(msg)
	case panel.RemovedMsg:
		return m.flash("deleted " + draw.Count(int(msg), "conversation"))
	case panel.OpenMsg:
		return m.openList(msg)
	case composer.MentionsMsg:
		if msg.Err != nil {
			m.flash(msg.Err.Error())
		}
		if m.lists.Mentions.Take(msg) {
			return m.follow()
		}
	case composer.PreviewMsg:
		m.lists.Mentions.TakePreview(msg)
	case panel.ConsentMsg:
		return m.askUser(msg.Question())
	case panel.ConsentedMsg:
		m.consented(msg)
	case panel.ServerDoneMsg:
		m.serverDone(msg)
	case dialog.CheckedMsg:
		m.asks.Checked(msg)
		cmd := m.afterInput
		m.afterInput = nil
		return tea.Batch(cmd, m.redrawWhenArmed())
	case armedMsg:
		return m.pressDue(time.Now())
	case dialog.CopyMsg:
		return m.clip(string(msg))
	case leaveMsg:
		return m.leave(chat.Ended(msg))
	default:
		return m.updatePanel(msg)
	}
	return nil
}

// View returns the screen as it was last drawn.
func (m *Model) View() tea.View { return m.drawn.picture }

// applyTheme applies a theme to the whole screen; "" for the one of the settings.
func (m *Model) applyTheme(name string) {
	var own map[string]string
	if name == "" {
		name, own = m.Options.Theme.Name, m.Options.Theme.Colours
	}
	if m.term.sixteen {
		name = "ansi"
	}
	m.theme = draw.NewTheme(name, m.term.dark, m.term.colours, own)
	m.transcript.Restyle(m.theme)
	m.composer.Restyle(m.theme)
	m.asks.Restyle()
}

// modeReported handles the report whether the terminal measures graphemes or code points.
func (m *Model) modeReported(msg tea.ModeReportMsg) {
	known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet
	if msg.Mode == ansi.ModeUnicodeCore && known && draw.ByCharacters(false) {
		m.applyTheme("")
	}
}

func (m *Model) resize(width, height int) {
	if width == 0 { // some terminals do not say
		width = 80
	}
	if height == 0 {
		height = 24
	}
	m.term.width, m.term.height = width, height
}

// flash shows one line until the next key.
func (m *Model) flash(text string) tea.Cmd {
	m.hint = text
	return nil
}

func (m *Model) paste(text string) tea.Cmd {
	m.hint, m.leaving.asked = "", false
	if m.asks.Paste(text) {
		return nil
	}
	if m.panel != nil {
		return m.updatePanel(tea.PasteMsg{Content: text})
	}
	if path := composer.PicturePath(text); path != "" {
		return func() tea.Msg {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				text = `@"` + path + `" `
			}
			return then(func() tea.Cmd { return m.pasteText(text) })
		}
	}
	return m.pasteText(text)
}

// pasteText inserts pasted text into the composer.
func (m *Model) pasteText(text string) tea.Cmd {
	m.unfocus()
	m.returnLetters()
	m.composer.Paste(text)
	return m.follow()
}

// fail shows an error.
func (m *Model) fail(err error) tea.Cmd {
	m.transcript.Show(&transcript.Failure{Text: err.Error()})
	return nil
}

func (m *Model) showPage(msg panel.PageMsg) tea.Cmd {
	switch {
	case msg.Err == nil && msg.Reload && m.turn == nil:
		return openConversation(m.base, &m.Options, conversationMsg{
			ID:    m.chat.id,
			Title: m.chat.title, Output: msg.Text,
		})
	case msg.Err != nil:
		return m.fail(msg.Err)
	case msg.Text != "":
		m.transcript.Show(&transcript.Page{Source: msg.Text})
	}
	return nil
}

// ready starts once everything is open, and handles the keys that waited for it.
func (m *Model) ready(msg openedMsg) tea.Cmd {
	if msg.Err != nil {
		m.opening.Err = msg.Err
		return m.leave(chat.Quit)
	}
	m.opening = opener{Held: m.opening.Held}
	m.Options = msg.Options
	m.applyOptions()
	start := m.start()
	if m.reads() {
		m.opening.Reading = true // a question asked now would stand above what was said before
		return tea.Batch(m.follow(), start)
	}
	return tea.Batch(m.follow(), start, m.handleHeld())
}

// handleHeld handles the messages that waited, in order.
func (m *Model) handleHeld() tea.Cmd {
	held := m.opening.Held
	m.opening = opener{}
	var cmds []tea.Cmd
	for _, waited := range held {
		pressed, ok := waited.msg.(tea.KeyPressMsg)
		switch {
		case ok && m.panel != nil:
			m.writeBehind(pressed)
		case ok:
			cmds = append(cmds, m.pressTyped(pressed, waited.at))
		default:
			cmds = append(cmds, m.handleTerminal(waited.msg))
		}
	}
	return tea.Batch(cmds...)
}

// writeBehind gives the composer a key that was pressed before a list covered it. Nothing
// is sent from there.
func (m *Model) writeBehind(pressed tea.KeyPressMsg) {
	if !key.Matches(pressed, m.keys.Send) {
		m.composer.Press(pressed)
	}
}
