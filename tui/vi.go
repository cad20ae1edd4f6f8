package tui

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/composer/vi"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// viMode is what keys mean in a composer that is edited as in vi.
type viMode int

const (
	viOff    viMode = iota // keys write, always
	viInsert               // keys write, esc ends that
	viNormal               // keys move and change
)

var (
	lineUp = tea.KeyPressMsg{Code: tea.KeyUp}
	lineOn = tea.KeyPressMsg{Code: tea.KeyDown}
)

// pressVi takes the keys of a composer that is edited as in vi. Where nothing
// is written keys that are no commands are as ever, so that esc stops a turn.
func (m *Model) pressVi(pressed tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	c := &m.composer
	if c.vi == viOff || c.vi == viInsert && c.empty() || m.palette.open() || m.mentions.open() {
		return nil, false
	}
	if c.vi == viInsert {
		if !key.Matches(pressed, m.keys.Stop) {
			return nil, false
		}
		c.vi, c.typed = viNormal, ""
		c.area.SetCursorColumn(c.area.Column() - 1)
		c.changed("", "")
		return nil, true
	}
	before := c.typed
	switch {
	case pressed.String() == "ctrl+r":
		c.typed += vi.Redo
	case c.empty() && (pressed.Text == "/" || key.Matches(pressed, m.keys.HelpOnEmpty)):
		c.vi, c.typed = viInsert, ""
		return nil, false
	case pressed.Text == "":
		c.typed = ""
		return nil, before != "" && key.Matches(pressed, m.keys.Stop)
	default:
		c.typed += pressed.Text
	}
	command, whole := vi.Parse(c.typed)
	if !whole {
		return nil, true
	}
	c.typed = ""
	switch {
	case command.Name == "u":
		if !c.undo(command.Times()) {
			m.flash("nothing to undo")
		}
	case command.Name == vi.Redo:
		if !c.redo(command.Times()) {
			m.flash("nothing to redo")
		}
	case command == (vi.Command{Name: "j"}):
		cmd = m.write(lineOn)
	case command == (vi.Command{Name: "k"}):
		cmd = m.write(lineUp)
	default:
		c.run(command)
	}
	c.onLetter()
	c.draw()
	return tea.Batch(cmd, m.follow()), true
}

// run does a command other than those that go through the history. One that is
// not known does nothing: no letter is written here.
func (c *composer) run(v vi.Command) {
	text, at, writes, ok := v.Run([]rune(c.text()), utf8.RuneCountInString(c.before()))
	if !ok {
		return
	}
	if writes {
		c.vi = viInsert
	}
	c.rewrite(text, at)
}

// rewrite puts a text in place of what is written. What is typed after it, if
// one now writes, is taken back with it.
func (c *composer) rewrite(text []rune, at int) {
	w := c.written()
	w.text = string(text)
	before := string(text[:at])
	w.line = strings.Count(before, "\n")
	w.column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	c.put(w)
	run := ""
	if c.vi == viInsert {
		run = typing
	}
	c.changed(run, "")
}

// onLetter takes the cursor from behind the end of a line to its last letter:
// that is where it stands in vi when one does not write.
func (c *composer) onLetter() {
	if c.vi != viNormal || c.area.Column() == 0 {
		return
	}
	line := []rune(strings.Split(c.text(), "\n")[c.area.Line()])
	if c.area.Column() >= len(line) {
		c.area.SetCursorColumn(len(line) - 1)
		c.changed("", "")
	}
}
