package tui

import (
	"cmp"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/terminal"
	"lifehub/tui/transcript"
)

// press routes a key: what is on top takes it, the composer takes the rest.
func (m *Model) press(pressed tea.KeyPressMsg) tea.Cmd {
	if m.player != nil {
		return m.pressReplay(pressed)
	}
	now := time.Now()
	m.blurred = false // who types is here, whatever the terminal forgot to say
	parting := m.parting
	m.hint, m.parting = "", false
	if key.Matches(pressed, m.keys.Clear) && m.panel == nil {
		if len(m.takenLetters()) > 0 {
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

// pressDialog gives a key to the question in sight. rest are the keys that are
// not its own: this one, and letters before it that turn out to be text.
func (m *Model) pressDialog(pressed tea.KeyPressMsg, now time.Time) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	if m.composer.Vi == composer.ViInsert && !m.composer.Empty() && key.Matches(pressed, m.keys.Stop) {
		return nil, []tea.KeyPressMsg{pressed} // it ends the writing
	}
	switch {
	case m.asks.Open():
		if cmd, rest = m.asks.Press(pressed, &m.keys, !m.composer.Empty(), now); rest == nil {
			cmd, m.afterInput = tea.Batch(cmd, m.afterInput), nil
		}
		return cmd, rest
	case m.offer != nil && m.panel == nil && !m.focused:
		m.offer.Writing = !m.composer.Empty()
		return m.offer.Press(pressed, &m.keys, m.answerOffer(), now)
	}
	return nil, []tea.KeyPressMsg{pressed}
}

// pressBehind routes a key that no question took.
func (m *Model) pressBehind(pressed tea.KeyPressMsg, now time.Time) tea.Cmd {
	if m.panel != nil {
		return m.updatePanel(pressed)
	}
	if m.resumable != nil {
		if cmd, taken := m.pressLeft(pressed, now); taken {
			return cmd
		}
	}
	if !m.focused {
		if cmd, taken := m.pressVi(pressed); taken {
			return cmd
		}
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

// pressAnywhere takes the keys that work wherever the user is.
func (m *Model) pressAnywhere(pressed tea.KeyPressMsg) (tea.Cmd, bool) {
	k := &m.keys
	switch {
	case key.Matches(pressed, k.Stop) && m.editing != nil && m.turn == nil && !m.palette.Open() && !m.mentions.Open() && !m.focused:
		m.stopEditing()
	case key.Matches(pressed, k.Stop) && !m.palette.Open() && !m.mentions.Open() && !m.focused:
		return nil, m.stop()
	case key.Matches(pressed, k.Redraw):
		return tea.ClearScreen, true
	case m.UseMode != nil && key.Matches(pressed, k.Mode):
		return m.nextMode(), true
	case key.Matches(pressed, k.Plan):
		m.transcript.FoldPlans()
	case key.Matches(pressed, k.Unfold):
		m.transcript.Unfold()
	case key.Matches(pressed, k.New):
		return m.newConversation(), true
	case key.Matches(pressed, k.Conversations):
		return m.listConversations(), true
	case key.Matches(pressed, k.Model):
		return m.chooseModel(""), true
	case key.Matches(pressed, k.Help):
		m.cover(m.newHelp())
	case key.Matches(pressed, k.PageUp):
		m.transcript.Scroll(-m.transcript.Page())
		if m.composer.Empty() {
			m.focus()
		}
	case key.Matches(pressed, k.PageDown):
		m.transcript.Scroll(m.transcript.Page())
	case key.Matches(pressed, k.Top):
		m.transcript.ToTop()
	case key.Matches(pressed, k.Bottom):
		m.transcript.ToEnd()
	case key.Matches(pressed, k.NextQuestion):
		m.transcript.Jump(1)
	case key.Matches(pressed, k.PreviousQuestion):
		m.transcript.Jump(-1)
	case key.Matches(pressed, k.Search):
		m.searchHistory()
	case key.Matches(pressed, k.Suspend):
		if terminal.JobControl() {
			return terminal.Suspend, true
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
		t.Next()
	case key.Matches(pressed, k.Previous):
		t.Previous()
	case key.Matches(pressed, k.First):
		t.First()
	case key.Matches(pressed, k.Last):
		t.Last()
	case key.Matches(pressed, k.Fold):
		m.transcript.FoldChosen()
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
		if s, ok := t.Item(t.Chosen).(*transcript.Sources); ok {
			return m.openSource(s.List[t.Part]), true
		}
		m.transcript.FoldChosen()
	default:
		return nil, false
	}
	return nil, true
}

// write gives a key to the composer.
func (m *Model) write(pressed tea.KeyPressMsg) tea.Cmd {
	k, c := &m.keys, &m.composer
	if m.palette.Open() && m.pressPalette(pressed) {
		return nil
	}
	if m.mentions.Open() {
		if cmd, taken := m.pressMentions(pressed); taken {
			return cmd
		}
	}
	switch {
	case key.Matches(pressed, k.Send) && c.Quoting():
		c.Newline()
	case key.Matches(pressed, k.Send):
		return m.send()
	case key.Matches(pressed, k.HelpOnEmpty) && c.Empty() && !m.asks.Open():
		m.cover(m.newHelp())
		return nil
	case key.Matches(pressed, k.Leave) && c.Empty():
		return m.leave(backend.Quit)
	case key.Matches(pressed, k.Focus) && c.Empty():
		m.focus()
		return nil
	case key.Matches(pressed, k.Undo):
		if !c.Undo(1) {
			m.flash("nothing to undo")
		}
	case key.Matches(pressed, k.Redo):
		if !c.Redo(1) {
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
	case key.Matches(pressed, k.Up) && c.Earlier(), key.Matches(pressed, k.Down) && c.Later():
	default:
		cmd := c.Press(pressed)
		return tea.Batch(cmd, m.follow())
	}
	return m.follow()
}

// pressPalette moves in the list of commands, completes from it or closes it.
func (m *Model) pressPalette(pressed tea.KeyPressMsg) bool {
	p, c := &m.palette, &m.composer
	chosen := p.Rows[p.Chosen]
	switch {
	case key.Matches(pressed, m.keys.Stop):
		p.Closed, p.Rows = c.Text(), nil
		if p.Closed == "/" { // nobody began to write a command
			p.Closed = ""
			c.Set("")
		}
	case key.Matches(pressed, m.keys.Up):
		p.Move(-1)
	case key.Matches(pressed, m.keys.Down):
		p.Move(1)
	case key.Matches(pressed, m.keys.Complete):
		c.Set("/" + chosen.Name + " ")
		p.Rows = nil
	case key.Matches(pressed, m.keys.Send) && backend.Find(panel.Commands(&m.Options), c.Text()[1:]) == nil:
		c.Set("/" + chosen.Name + " ")
		p.Rows = nil
		return chosen.Args != "" && chosen.Args[0] != '[' // else it runs at once
	default:
		return false
	}
	return true
}

// send asks what is written, runs it as a command, or lets it wait its turn.
func (m *Model) send() tea.Cmd {
	c := &m.composer
	place, waiting := c.Place, len(c.Queue)
	if text := c.Text(); len(text) > 0 && text[0] == '/' {
		m.palette.Rows = nil
		if cmd, ok := m.command(text); ok {
			if place >= 0 && len(c.Queue) > waiting { // it waits again, behind all
				last := len(c.Queue) - 1
				text := c.Queue[last]
				c.Queue = c.Queue[:last]
				c.Wait(text, place)
			}
			return cmd
		}
	}
	text := cmp.Or(c.Take(), m.suggested)
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
