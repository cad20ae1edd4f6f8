package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// press routes a key: to the topmost dialog or panel, otherwise to the composer.
func (m *Model) press(pressed tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	m.term.blurred = false // typing implies focus, even if the terminal did not report it
	parting := m.leaving.asked
	m.hint, m.leaving.asked = "", false
	if !parting {
		m.leaving.cut = false
	}
	if key.Matches(pressed, m.keys.Clear) && m.panel == nil {
		if len(m.asks.ReturnLetters()) > 0 {
			return nil
		}
		return m.clear(parting)
	}
	cmd, rest := m.pressDialog(pressed, now)
	cmds := []tea.Cmd{cmd}
	for _, pressed := range rest {
		cmds = append(cmds, m.pressBehind(pressed, now))
	}
	return tea.Batch(append(cmds, m.redrawWhenArmed())...)
}

// pressDialog handles a key in the visible dialog. rest are the keys that it does not take:
// this one, and letters before it that turn out to be text.
func (m *Model) pressDialog(pressed tea.KeyPressMsg, now time.Time) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	written, typing := m.composer.Text(), m.asks.Typing()
	switch {
	case m.asks.Open():
		if cmd, rest = m.asks.Press(pressed, &m.keys, written, now); rest == nil {
			cmd, m.afterInput = tea.Batch(cmd, m.afterInput), nil
		}
	default:
		return nil, []tea.KeyPressMsg{pressed}
	}
	if rest == nil && written != "" && !typing && key.Matches(pressed, m.keys.Send) { // it was an answer
		m.composer.Clear()
	}
	return cmd, rest
}

// pressDue presses the Enter for which the quiet period of a dialog was not over.
func (m *Model) pressDue(now time.Time) tea.Cmd {
	enter, due := m.asks.Due(now)
	if !due {
		return nil
	}
	cmd, _ := m.pressDialog(enter, now)
	return tea.Batch(cmd, m.redrawWhenArmed())
}

// pressBehind routes a key that no dialog took.
func (m *Model) pressBehind(pressed tea.KeyPressMsg, now time.Time) tea.Cmd {
	if m.panel != nil {
		return m.updatePanel(pressed)
	}
	if m.resumable != nil && m.resumable.Press(pressed, &m.keys, m.turn == nil && m.composer.Empty(), now) {
		return m.proceed()
	}
	if cmd, taken := m.pressAnywhere(pressed); taken {
		return cmd
	}
	if m.focused {
		if cmd, taken := m.pressTranscript(pressed); taken {
			return cmd
		}
		m.unfocus()
	}
	return m.write(pressed)
}

// pressAnywhere handles the keys that do not depend on the focus.
func (m *Model) pressAnywhere(pressed tea.KeyPressMsg) (tea.Cmd, bool) {
	k := &m.keys
	switch {
	case key.Matches(pressed, k.Stop) && m.editing != nil && m.turn == nil && !m.lists.Open() && !m.focused:
		m.stopEditing()
	case key.Matches(pressed, k.Stop) && !m.lists.Open() && !m.focused:
		return nil, m.stop()
	case key.Matches(pressed, k.Sidebar) && m.composer.Empty():
		return m.toggleSidebar(), true
	case key.Matches(pressed, k.Redraw):
		return tea.ClearScreen, true
	case m.Options.Modes != nil && key.Matches(pressed, k.Mode):
		return m.nextMode(), true
	case key.Matches(pressed, k.New):
		return m.newConversation(), true
	case key.Matches(pressed, k.Conversations):
		return m.listConversations(""), true
	case key.Matches(pressed, k.Model):
		return m.chooseModel(""), true
	case key.Matches(pressed, k.Help):
		m.cover(m.newHelp())
	case key.Matches(pressed, k.PageUp):
		m.transcript.Press(pressed, k)
		if m.composer.Empty() {
			m.focus()
		}
	case key.Matches(pressed, k.Search):
		m.searchHistory()
	case key.Matches(pressed, k.Suspend):
		if jobControl() {
			return suspend, true
		}
		m.flash("no shell to come back from")
	default:
		return nil, m.transcript.Press(pressed, k)
	}
	return nil, true
}

// pressTranscript handles the keys of the focused transcript.
func (m *Model) pressTranscript(pressed tea.KeyPressMsg) (tea.Cmd, bool) {
	k, t := &m.keys, &m.transcript
	switch {
	case key.Matches(pressed, k.Back):
		m.unfocus()
	case key.Matches(pressed, k.Copy):
		return m.copyChosen(), true
	case key.Matches(pressed, k.Edit):
		m.edit(m.transcript.ChosenQuestion())
	case key.Matches(pressed, k.Retry):
		return m.retry(m.transcript.ChosenQuestion()), true
	case key.Matches(pressed, k.EarlierBranch):
		return m.alternative(-1), true
	case key.Matches(pressed, k.LaterBranch):
		return m.alternative(1), true
	case key.Matches(pressed, k.CopyCode):
		a, ok := t.Item(t.Chosen).(*transcript.Answer)
		if !ok {
			a = m.lastAnswer()
		}
		n := slices.Index(k.CopyCode.Keys(), pressed.String()) + 1
		return m.copyCode(a, n), true
	case key.Matches(pressed, k.Open):
		if s, ok := t.Item(t.Chosen).(*transcript.Sources); ok && len(s.List) > 0 {
			return m.openSource(s.List[t.Part]), true
		}
		t.FoldChosen()
	default:
		return nil, t.PressFocused(pressed, k)
	}
	return nil, true
}

// write handles a key in the composer.
func (m *Model) write(pressed tea.KeyPressMsg) tea.Cmd {
	k, c := &m.keys, &m.composer
	if m.lists.Press(pressed, k, c, panel.Commands(&m.Options)) {
		return m.follow()
	}
	switch {
	case key.Matches(pressed, k.Send) && c.Quoting():
		c.Newline()
	case key.Matches(pressed, k.Send):
		return m.send()
	case key.Matches(pressed, k.Steer):
		return m.steer()
	case key.Matches(pressed, k.HelpOnEmpty) && c.Empty() && !m.asks.Open():
		m.cover(m.newHelp())
		return nil
	case key.Matches(pressed, k.Leave) && c.Empty():
		return m.leave(chat.Quit)
	case key.Matches(pressed, k.Focus) && c.Empty():
		m.focus()
		return nil
	case key.Matches(pressed, k.Undo):
		if !c.Undo() {
			m.flash("nothing to undo")
		}
	case key.Matches(pressed, k.Redo):
		if !c.Redo() {
			m.flash("nothing to redo")
		}
	case key.Matches(pressed, k.Compose):
		if !m.uncovered() {
			return nil
		}
		return m.compose()
	case key.Matches(pressed, k.Palette):
		if c.Empty() && m.uncovered() {
			c.Set("/")
		}
	case c.Empty() && m.welcome.Press(pressed, k):
	case c.Empty() && key.Matches(pressed, k.Down) && m.takeOffer():
	case c.Empty() && m.welcome.Task() != nil && key.Matches(pressed, k.TickOff):
		return m.tickOff()
	case key.Matches(pressed, k.Up) && c.Earlier(), key.Matches(pressed, k.Down) && c.Later():
	default:
		cmd := c.Press(pressed)
		return tea.Batch(cmd, m.follow())
	}
	return m.follow()
}

// send sends the input as a message, runs it as a command, or queues it.
func (m *Model) send() tea.Cmd {
	c := &m.composer
	place, waiting := c.Place, len(c.Queue)
	if refused := chat.NoShell(c.Text()); refused != "" {
		return m.flash(refused)
	}
	if text := c.Text(); len(text) > 0 && text[0] == '/' {
		m.lists.Close()
		if cmd, ok := m.command(text); ok {
			if place >= 0 && len(c.Queue) > waiting { // it returns to the end of the queue
				last := len(c.Queue) - 1
				text := c.Queue[last]
				c.Queue = c.Queue[:last]
				c.Wait(text, place)
			}
			return cmd
		}
	}
	if c.Empty() && m.welcome.Task() != nil {
		return m.openTask()
	}
	text := cmp.Or(c.Take(), m.welcome.Question)
	if draw.Blank(text) {
		if place >= 0 {
			m.flash("cancelled: it will not be asked")
		}
		return nil
	}
	c.Remember(text)
	if e := m.editing; e != nil && m.turn == nil {
		return m.askInstead(e.question, text)
	}
	if m.turn != nil {
		c.Wait(text, place)
		return nil
	}
	return m.ask(text)
}

// openTask opens the note of the chosen due task.
func (m *Model) openTask() tea.Cmd {
	task := m.welcome.Task()
	if m.Options.Notes == nil {
		return m.flash("notes cannot be read here")
	}
	n := panel.NewNote(m.Options.Notes, task.Note, task.Line, task.Line)
	return m.open(n, n.Read(m.base))
}

// tickOff ticks off the chosen due task.
func (m *Model) tickOff() tea.Cmd {
	task := m.welcome.Task()
	cmd, known := m.command("/" + chat.Done + " " + agent.PlaceName(task.Name, task.Line))
	if !known {
		return m.flash("tasks cannot be ticked off here")
	}
	return cmd
}

// steer offers the input to the running turn. Without a turn that accepts it, it is
// sent as by Enter.
func (m *Model) steer() tea.Cmd {
	c := &m.composer
	text := c.Text()
	aMessage := !draw.Blank(text) && !strings.HasPrefix(text, "/") && chat.NoShell(text) == ""
	if !aMessage || m.editing != nil || !m.turn.takesSteering() {
		return m.send()
	}
	text = c.Take()
	c.Remember(text)
	s := c.Steer(text)
	if m.turn.steer != nil { // else when it has started
		m.turn.steer(s)
	}
	return m.saveDraft()
}

// focus moves the focus to the transcript, unfocus back to the composer.
func (m *Model) focus() {
	if !m.focused && !m.asks.Open() {
		m.transcript.Focus()
		m.focused = m.transcript.Chosen >= 0
	}
}

func (m *Model) unfocus() {
	m.focused = false
	m.transcript.Choose(-1, 0)
}

// searchHistory opens the list of earlier prompts.
func (m *Model) searchHistory() {
	m.cover(panel.NewHistory(m.composer.History, m.composer.Text(), m.composer.Set))
}

// copyChosen copies the focused item.
func (m *Model) copyChosen() tea.Cmd {
	if i := m.transcript.Item(m.transcript.Chosen); i != nil {
		return m.clip(i.Copied())
	}
	return nil
}

// copyCode copies the nth code block of an answer.
func (m *Model) copyCode(a *transcript.Answer, n int) tea.Cmd {
	text, problem := a.CodeBlock(n)
	if problem != "" {
		m.flash(problem)
	}
	return m.clip(text)
}

// lastAnswer returns the newest answer, nil if there is none.
func (m *Model) lastAnswer() *transcript.Answer {
	if a := m.transcript.LastAnswer(); a != nil {
		return a
	}
	if m.Options.Inline && m.last != nil {
		return m.last.shown.Answer // it was printed
	}
	return nil
}

// mouse handles the wheel and clicks. Dragging belongs to the terminal.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if m.panel != nil {
			return m.updatePanel(msg)
		}
		m.transcript.Scroll(panel.WheelLines(msg))
	case tea.MouseClickMsg:
		m.clicked = msg.Mouse()
	case tea.MouseReleaseMsg:
		pressed := m.clicked
		m.clicked = tea.Mouse{}
		switch {
		case pressed.Button != tea.MouseLeft:
		case pressed.X != msg.X || pressed.Y != msg.Y:
			return m.flash("hold Shift to select text (on a Mac Option or Fn)")
		default:
			return m.click(msg.X, msg.Y-m.drawn.bodyTop)
		}
	}
	return nil
}

// click opens, folds and focuses the item under the mouse, or focuses the composer. It does
// not change the input.
func (m *Model) click(column, line int) tea.Cmd {
	switch {
	case m.asks.Open():
		return nil
	case m.panel == nil && column >= m.drawn.size[0]: // the sidebar
		if c, ok := m.drawn.sidebar.Source(line + m.drawn.bodyTop); ok {
			return m.openSource(c)
		}
		return nil
	case m.panel != nil:
		return m.updatePanel(m.drawn.frame.Click(line))
	case m.composer.Empty() && m.welcome.Click(line):
		if m.welcome.Task() != nil {
			return m.openTask()
		}
		m.composer.Set(m.welcome.Question)
		return m.follow()
	case line < 0 || line >= len(m.transcript.Shown) || m.lists.Palette.Open():
		if again, ok := m.lists.Click(line + m.drawn.bodyTop - m.drawn.list); again {
			return m.write(tea.KeyPressMsg{Code: tea.KeyTab})
		} else if ok {
			return m.follow()
		}
		m.unfocus()
		return nil
	}
	passage, listed := m.transcript.Passage(line)
	m.transcript.ChooseLine(line, column)
	m.focused = true
	var cmd tea.Cmd
	switch i := m.transcript.Item(m.transcript.Chosen).(type) {
	case *transcript.Sources:
		if len(i.List) > 0 {
			cmd = m.openSource(i.List[m.transcript.Part])
		}
	case transcript.Foldable:
		m.transcript.FoldChosen()
	}
	if listed {
		cmd = m.openSource(passage)
	}
	if !m.composer.Empty() {
		m.unfocus()
	}
	return cmd
}

// clip copies a text and confirms it.
func (m *Model) clip(text string) tea.Cmd {
	notice, copied := copyText(m.base, text, m.Options.Environ)
	if notice != "" {
		m.flash(notice)
	}
	return copied
}

// follow updates the lists of the composer after a change of the input.
func (m *Model) follow() tea.Cmd {
	if m.asks.Open() { // no list opens over it
		m.lists.Close()
		return nil
	}
	return m.lists.Follow(m.base, &m.composer, panel.Commands(&m.Options))
}
