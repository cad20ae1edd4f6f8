// Package tui is the screen: keys in, pictures out. It turns what the user
// types into questions and events of the agent into panels; it decides nothing
// about answers. Begin reading with [Run] and [Model.Update]; show in events.go
// is the one place where an event reaches the screen.
package tui

import (
	"context"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lifehub/tui/safetext"
)

// Model is the whole screen, and the only tea.Model here. Panels are plain
// structs that Model tells what happened and asks for their lines.
type Model struct {
	Options
	base context.Context // of the run; a tea.Model has nowhere else to take it from
	keys keyMap
	look *theme

	width, height int
	dark, colours bool

	transcript transcript
	composer   composer
	palette    palette
	permission permission
	overlay    overlay
	picker     picker
	help       help
	pulling    *pulling
	offer      *offer // a model to pull; nil: none

	conversation string
	title        string
	turn         *turn // nil between turns
	last         *turn // the turn before, nil at first
	turns        int
	focused      bool // the transcript has the keys
	blurred      bool // the window has not the focus
	planHidden   bool
	unfolded     bool

	status          Status
	mode            string
	used, allocated int     // tokens of the context window
	speed           float64 // tokens a second of the last answer
	hint            string  // one line for the user, until the next key
	parting         bool    // Ctrl+C was pressed: once more leaves
	how             Ended

	beating bool // a beat is under way
	beat    int

	place struct{ top, height int } // of the transcript on the screen
	lines struct{ header, status, rule keptLine }

	picture tea.View
}

// overlay is what covers the transcript.
type overlay int

const (
	noOverlay overlay = iota
	pickerOverlay
	helpOverlay
)

// New returns the screen. ctx is that of the whole run: turns are stopped when
// it is cancelled. It reports a key that does not exist or means two things.
func New(ctx context.Context, options Options) (*Model, error) {
	m := &Model{
		Options: options, base: ctx, keys: defaultKeys(), dark: true, colours: true,
		conversation: options.Conversation, mode: options.Mode,
	}
	if err := m.keys.rebind(options.Keys); err != nil {
		return nil, err
	}
	if m.Models == nil {
		m.keys.Model.SetEnabled(false)
	}
	if m.Conversations == nil {
		m.keys.Conversations.SetEnabled(false)
	}
	m.look = newTheme(options.Theme, themeIsDark(options.Theme, m.dark), m.colours)
	m.transcript = transcript{look: m.look, chosen: -1}
	m.composer = newComposer(&m.keys, m.look)
	return m, nil
}

// Init asks the terminal for its background and begins to listen.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.nextStatus(), m.nextNotice(), m.loadPrompts()}
	switch {
	case m.FirstRun && m.Notes != nil:
		cmds = append(cmds, m.listOffers())
	case m.Pick && m.Conversations != nil:
		cmds = append(cmds, m.listConversations())
	case m.conversation != "" && m.Conversations != nil:
		cmds = append(cmds, m.openConversation(m.conversation, ""))
	case m.Prompt != "":
		cmds = append(cmds, m.ask(m.Prompt))
	}
	return tea.Batch(cmds...)
}

// Update takes a message in and draws the screen anew. It does no I/O: work is
// a tea.Cmd that comes back as a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	m.draw()
	return m, tea.Batch(cmd, m.nextBeat())
}

// take sends a message to the part that it is for.
func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.restyle()
	case tea.ColorProfileMsg:
		m.colours = msg.Profile > colorprofile.ASCII
		m.restyle()
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case tea.FocusMsg:
		m.blurred = false
	case tea.BlurMsg:
		m.blurred = true
	case startedMsg:
		return m.started(msg)
	case eventsMsg:
		return m.receive(msg)
	case beatMsg:
		m.beating = false
		m.tick(time.Time(msg))
	case statusMsg:
		m.status = Status(msg)
		return m.nextStatus()
	case noticeMsg:
		m.transcript.add(&notice{string(msg)})
		return m.nextNotice()
	case promptsMsg:
		m.composer.history = append(m.composer.history, msg...)
	case pageMsg:
		m.showPage(msg)
	case openedMsg:
		return m.opened(msg)
	case pickMsg:
		m.openPicker(msg)
	case pullMsg:
		return m.pullProgress(msg)
	case usingMsg:
		m.using(msg)
	case editorMsg:
		return m.startEditor(msg)
	case editedMsg:
		m.edited(msg)
	case leaveMsg:
		return m.leave(Ended(msg))
	}
	return nil
}

// View returns the screen as it was last drawn.
func (m *Model) View() tea.View { return m.picture }

func (m *Model) restyle() {
	m.look = newTheme(m.Theme, themeIsDark(m.Theme, m.dark), m.colours)
	m.transcript.restyle(m.look)
	m.composer.restyle(m.look)
	m.help.lines = nil
	m.permission.width = 0
}

func (m *Model) resize(width, height int) {
	m.width, m.height = width, height
	m.composer.resize(width, height/3)
}

// press routes a key: what is on top takes it, the composer takes the rest.
func (m *Model) press(pressed tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	parting := m.parting
	m.hint, m.parting = "", false
	switch {
	case key.Matches(pressed, m.keys.Clear) && m.overlay == noOverlay:
		return m.clear(parting)
	case m.permission.open() && m.permission.press(pressed, &m.keys, now):
		return m.rearm()
	case m.overlay == pickerOverlay:
		done, cmd := m.picker.press(pressed, max(1, m.height-6))
		if done && m.overlay == pickerOverlay {
			m.overlay = noOverlay
		}
		return cmd
	case m.overlay == helpOverlay:
		if m.help.press(pressed, m.bodyHeight()) {
			m.overlay = noOverlay
		}
		return nil
	}
	if m.offer != nil {
		if cmd, taken := m.pressOffer(pressed, now); taken {
			return cmd
		}
	}
	if cmd, taken := m.pressAnywhere(pressed); taken {
		return tea.Batch(cmd, m.rearm())
	}
	if m.focused {
		if cmd, taken := m.pressTranscript(pressed); taken {
			return tea.Batch(cmd, m.rearm())
		}
		m.unfocus()
	}
	return tea.Batch(m.write(pressed), m.rearm())
}

// pressAnywhere takes the keys that work wherever the user is.
func (m *Model) pressAnywhere(pressed tea.KeyPressMsg) (tea.Cmd, bool) {
	k := &m.keys
	switch {
	case key.Matches(pressed, k.Stop) && !m.palette.open() && !m.focused:
		return nil, m.stop()
	case key.Matches(pressed, k.Redraw):
		return tea.ClearScreen, true
	case key.Matches(pressed, k.Plan):
		m.foldPlans()
	case key.Matches(pressed, k.Unfold):
		m.unfold()
	case key.Matches(pressed, k.New):
		return m.newConversation(), true
	case key.Matches(pressed, k.Conversations):
		return m.listConversations(), true
	case key.Matches(pressed, k.Model):
		return m.chooseModel(""), true
	case key.Matches(pressed, k.Help):
		m.overlay = helpOverlay
	case key.Matches(pressed, k.PageUp):
		m.transcript.scroll(-m.transcript.page())
		if m.composer.empty() {
			m.focus()
		}
	case key.Matches(pressed, k.PageDown):
		m.transcript.scroll(m.transcript.page())
	case key.Matches(pressed, k.Top):
		m.transcript.toTop()
	case key.Matches(pressed, k.Bottom):
		m.transcript.toEnd()
	case key.Matches(pressed, k.NextQuestion):
		m.jump(1)
	case key.Matches(pressed, k.PreviousQuestion):
		m.jump(-1)
	case key.Matches(pressed, k.Search):
		m.searchHistory()
	case key.Matches(pressed, k.Suspend):
		if jobControl() {
			return suspend, true
		}
		m.flash("no shell to come back from")
	default:
		return nil, false
	}
	return nil, true
}

// pressTranscript takes the keys of the transcript while it has them.
func (m *Model) pressTranscript(pressed tea.KeyPressMsg) (tea.Cmd, bool) {
	k, t := &m.keys, &m.transcript
	switch {
	case key.Matches(pressed, k.Back):
		m.unfocus()
	case key.Matches(pressed, k.Next):
		t.next()
	case key.Matches(pressed, k.Previous):
		t.previous()
	case key.Matches(pressed, k.First):
		t.first()
	case key.Matches(pressed, k.Last):
		t.last()
	case key.Matches(pressed, k.Fold):
		m.foldChosen()
	case key.Matches(pressed, k.Copy):
		return m.copyChosen(), true
	case key.Matches(pressed, k.CopyCode):
		a, ok := t.item(t.chosen).(*answer)
		if !ok {
			a = m.lastAnswer()
		}
		n := slices.Index(k.CopyCode.Keys(), pressed.String()) + 1
		return m.copyCode(a, n), true
	case key.Matches(pressed, k.Open):
		if s, ok := t.item(t.chosen).(*sources); ok {
			return m.openSource(s.list[t.part]), true
		}
		m.foldChosen()
	default:
		return nil, false
	}
	return nil, true
}

// write gives a key to the composer.
func (m *Model) write(pressed tea.KeyPressMsg) tea.Cmd {
	k, c := &m.keys, &m.composer
	if m.palette.open() && m.pressPalette(pressed) {
		return nil
	}
	switch {
	case key.Matches(pressed, k.Send):
		return m.send()
	case key.Matches(pressed, k.HelpOnEmpty) && c.empty():
		m.overlay = helpOverlay
		return nil
	case key.Matches(pressed, k.Leave) && c.empty():
		return m.leave(Quit)
	case key.Matches(pressed, k.Focus) && c.empty():
		m.focus()
		return nil
	case key.Matches(pressed, k.Compose):
		return m.compose()
	case key.Matches(pressed, k.Palette):
		if c.empty() {
			c.set("/")
		}
	case key.Matches(pressed, k.Up) && c.earlier(), key.Matches(pressed, k.Down) && c.later():
	default:
		cmd := c.press(pressed)
		m.palette.follow(c.text(), m.allCommands())
		return cmd
	}
	m.palette.follow(c.text(), m.allCommands())
	return nil
}

// pressPalette moves in the list of commands, completes from it or closes it.
func (m *Model) pressPalette(pressed tea.KeyPressMsg) bool {
	p, c := &m.palette, &m.composer
	chosen := p.rows[p.chosen]
	switch {
	case key.Matches(pressed, m.keys.Stop):
		p.closed, p.rows = c.text(), nil
	case key.Matches(pressed, m.keys.Up):
		p.move(-1)
	case key.Matches(pressed, m.keys.Down):
		p.move(1)
	case pressed.String() == "tab":
		c.set("/" + chosen.name + " ")
		p.rows = nil
	case key.Matches(pressed, m.keys.Send) && find(m.allCommands(), c.text()[1:]) == nil:
		c.set("/" + chosen.name + " ")
		p.rows = nil
		return chosen.args != "" && chosen.args[0] != '[' // else it runs at once
	default:
		return false
	}
	return true
}

// send asks what is written, runs it as a command, or lets it wait its turn.
func (m *Model) send() tea.Cmd {
	c := &m.composer
	if text := c.text(); len(text) > 0 && text[0] == '/' {
		m.palette.rows = nil
		if cmd, ok := m.command(text); ok {
			return cmd
		}
	}
	text := c.take()
	if blank(text) {
		return nil
	}
	c.remember(text)
	if m.turn != nil {
		c.queue = append(c.queue, text)
		return nil
	}
	return m.ask(text)
}

// ask shows a question and starts its turn.
func (m *Model) ask(question_ string) tea.Cmd {
	m.turns++
	ctx, cancel := context.WithCancel(m.base)
	m.turn = &turn{
		number: m.turns, cancel: cancel, question: question_, began: time.Now(),
		tools: map[string]*tool{}, steps: map[string]*plan{},
	}
	m.transcript.add(&question{question_})
	m.transcript.toEnd()
	if m.title == "" {
		m.title = question_
	}
	number, id := m.turns, m.conversation
	return func() tea.Msg {
		msg := startedMsg{turn: number, conversation: id}
		if id == "" && m.Conversations != nil {
			if msg.conversation, msg.err = m.Conversations.New(ctx); msg.err != nil {
				return msg
			}
		}
		msg.events = m.Assistant.Ask(ctx, msg.conversation, question_)
		return msg
	}
}

// started begins to read the events of a turn.
func (m *Model) started(msg startedMsg) tea.Cmd {
	if m.turn == nil || m.turn.number != msg.turn {
		return nil
	}
	if msg.err != nil {
		m.transcript.add(&failure{text: msg.err.Error()})
		question := m.turn.question
		m.turn.cancel()
		m.turn = nil
		m.composer.set(safetext.Text(question)) // nothing is lost
		return nil
	}
	m.conversation = msg.conversation
	m.turn.events = msg.events
	return next(msg.events, msg.turn, time.Time{})
}

// stop ends the running turn and keeps what was streamed. It reports whether
// there was anything to stop.
func (m *Model) stop() bool {
	if m.pulling != nil {
		m.pulling.cancel()
		return true
	}
	t := m.turn
	if t == nil || t.stopped {
		return t != nil
	}
	m.closeTurn("stopped", time.Now())
	t.stopped = true
	t.cancel()
	return true
}

// clear is Ctrl+C: it clears what is written, else stops what runs, else
// leaves when pressed once more.
func (m *Model) clear(parting bool) tea.Cmd {
	switch {
	case parting:
		return m.leave(Interrupted)
	case !m.composer.empty():
		m.composer.clear()
		m.palette.rows = nil
		return nil
	case m.turn != nil && !m.turn.stopped, m.pulling != nil:
		m.stop()
	}
	m.parting = true
	m.flash("ctrl+c once more quits")
	return nil
}

// leave ends the program.
func (m *Model) leave(how Ended) tea.Cmd {
	m.how = how
	if m.turn != nil {
		m.turn.cancel()
	}
	if m.pulling != nil {
		m.pulling.cancel()
	}
	return tea.Quit
}

type leaveMsg Ended

// flash shows one line until the next key.
func (m *Model) flash(text string) { m.hint = text }

func (m *Model) paste(text string) {
	m.hint, m.parting = "", false
	m.permission.disturb(time.Now())
	if m.overlay == pickerOverlay {
		m.picker.filter += safetext.Line(text)
		return
	}
	m.unfocus()
	m.composer.paste(text)
	m.palette.follow(m.composer.text(), m.allCommands())
}

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

func (m *Model) tick(now time.Time) {
	m.beat++
	t := m.turn
	if t == nil {
		return
	}
	if t.plan != nil && t.plan.took == 0 {
		t.plan.beat, t.plan.now = m.beat, now
		m.transcript.touch(t.plan)
	}
	for _, alone := range t.tools {
		if !alone.ended {
			alone.beat = m.beat
			m.transcript.touch(alone)
		}
	}
}

// rearm redraws when the guard time of an open question is over.
func (m *Model) rearm() tea.Cmd {
	if !m.permission.open() && m.offer == nil {
		return nil
	}
	return tea.Tick(guard, func(time.Time) tea.Msg { return armedMsg{} })
}

type armedMsg struct{}

type (
	statusMsg  Status
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

// keptPrompts is how far back the history of prompts goes.
const keptPrompts = 500

func (m *Model) loadPrompts() tea.Cmd {
	if m.Prompts == nil {
		return nil
	}
	return func() tea.Msg {
		prompts, err := m.Prompts(m.base, keptPrompts)
		if err != nil {
			return noticeMsg("earlier prompts: " + err.Error())
		}
		return promptsMsg(prompts)
	}
}

func (m *Model) showPage(msg pageMsg) {
	switch {
	case msg.err != nil:
		m.transcript.add(&failure{text: msg.err.Error()})
	case msg.text != "":
		m.transcript.add(&page{msg.text})
	}
	m.transcript.toEnd()
}
