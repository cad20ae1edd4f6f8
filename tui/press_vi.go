package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/composer"
	"lifehub/tui/composer/vi"
)

var lineUp = tea.KeyPressMsg{Code: tea.KeyUp}

var lineOn = tea.KeyPressMsg{Code: tea.KeyDown}

// pressVi takes the keys of a composer that is edited as in vi. Where nothing
// is written keys that are no commands are as ever, so that esc stops a turn.
func (m *Model) pressVi(pressed tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	c := &m.composer
	if c.Vi == composer.ViOff || c.Vi == composer.ViInsert && c.Empty() || m.palette.Open() || m.mentions.Open() {
		return nil, false
	}
	if c.Vi == composer.ViInsert {
		if !key.Matches(pressed, m.keys.Stop) {
			return nil, false
		}
		c.Vi, c.Typed = composer.ViNormal, ""
		c.Area.SetCursorColumn(c.Area.Column() - 1)
		c.Changed("", "")
		return nil, true
	}
	before := c.Typed
	switch {
	case pressed.String() == "ctrl+r":
		c.Typed += vi.Redo
	case c.Empty() && (pressed.Text == "/" || key.Matches(pressed, m.keys.HelpOnEmpty)):
		c.Vi, c.Typed = composer.ViInsert, ""
		return nil, false
	case pressed.Text == "":
		c.Typed = ""
		return nil, before != "" && key.Matches(pressed, m.keys.Stop)
	default:
		c.Typed += pressed.Text
	}
	command, whole := vi.Parse(c.Typed)
	if !whole {
		return nil, true
	}
	c.Typed = ""
	switch {
	case command.Name == "u":
		if !c.Undo(command.Times()) {
			m.flash("nothing to undo")
		}
	case command.Name == vi.Redo:
		if !c.Redo(command.Times()) {
			m.flash("nothing to redo")
		}
	case command == (vi.Command{Name: "j"}):
		cmd = m.write(lineOn)
	case command == (vi.Command{Name: "k"}):
		cmd = m.write(lineUp)
	default:
		c.Run(command)
	}
	c.OnLetter()
	c.Draw()
	return tea.Batch(cmd, m.follow()), true
}
