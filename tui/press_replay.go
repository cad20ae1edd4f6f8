package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
)

// now is the time that the screen goes by: that of the turn in a replay.
func (m *Model) now() time.Time {
	if m.player != nil {
		return m.player.Now()
	}
	return time.Now()
}

// pressReplay takes all keys of a replay: those of the player, and those that
// move in the transcript.
func (m *Model) pressReplay(pressed tea.KeyPressMsg) tea.Cmd {
	k, p := &m.keys, m.player
	m.hint = ""
	switch {
	case key.Matches(pressed, k.Clear, k.Leave):
		return m.leave(backend.Quit)
	case m.panel != nil:
		return m.updatePanel(pressed)
	case key.Matches(pressed, k.LeaveReplay) && !m.focused:
		return m.leave(backend.Quit)
	case key.Matches(pressed, k.Faster):
		p.Faster(2)
	case key.Matches(pressed, k.Slower):
		p.Faster(0.5)
	case m.focused:
		cmd, _ := m.pressTranscript(pressed)
		return cmd
	case key.Matches(pressed, k.Pause):
		p.Pause()
	case key.Matches(pressed, k.Focus):
		m.focus()
	case key.Matches(pressed, k.HelpOnEmpty, k.Help):
		m.panel = m.newHelp()
	case key.Matches(pressed, k.Plan, k.Unfold, k.PageUp, k.PageDown, k.Top, k.Bottom, k.Redraw, k.Suspend):
		cmd, _ := m.pressAnywhere(pressed)
		return cmd
	}
	return nil
}
