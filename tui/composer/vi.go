package composer

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/composer/vi"
	"lifehub/tui/keys"
)

// viMode is what keys mean in a composer that is edited as in vi.
type viMode int

const (
	ViOff    viMode = iota // keys write, always
	ViInsert               // keys write, esc ends that
	ViNormal               // keys move and change
)

// String is the mode as the screen shows it.
func (m viMode) String() string { return [...]string{"", "INSERT", "NORMAL"}[m] }

// PressVi gives a key to a composer that is edited as in vi. taken is false
// where the key means what it always does: where nothing is written keys that
// are no commands are as ever, so that esc stops a turn. instead is the key for
// another line or prompt; says is a line for the user.
func (c *Model) PressVi(pressed tea.KeyPressMsg, k *keys.Map) (taken bool, instead tea.KeyPressMsg, says string) {
	if c.Vi == ViOff || c.Vi == ViInsert && (c.Empty() || !key.Matches(pressed, k.Stop)) {
		return false, instead, ""
	}
	if c.Vi == ViInsert {
		c.Vi, c.partialCommand = ViNormal, ""
		c.Area.SetCursorColumn(c.Area.Column() - 1)
		c.Changed("", "")
		return true, instead, ""
	}
	before := c.partialCommand
	switch {
	case pressed.String() == "ctrl+r":
		c.partialCommand += vi.Redo
	case c.Empty() && (pressed.Text == "/" || key.Matches(pressed, k.HelpOnEmpty)):
		c.Vi, c.partialCommand = ViInsert, ""
		return false, instead, ""
	case pressed.Text == "":
		c.partialCommand = ""
		return before != "" && key.Matches(pressed, k.Stop), instead, ""
	default:
		c.partialCommand += pressed.Text
	}
	command, whole := vi.Parse(c.partialCommand)
	if !whole {
		return true, instead, ""
	}
	c.partialCommand = ""
	switch {
	case command.Name == "u" && !c.Undo(command.Times()):
		says = "nothing to undo"
	case command.Name == vi.Redo && !c.Redo(command.Times()):
		says = "nothing to redo"
	case command.Name == "u", command.Name == vi.Redo:
	case command == (vi.Command{Name: "j"}):
		instead.Code = tea.KeyDown
	case command == (vi.Command{Name: "k"}):
		instead.Code = tea.KeyUp
	default:
		c.run(command)
	}
	return true, instead, says
}

// run does a command other than those that go through the history. One that is
// not known does nothing: no letter is written here.
func (c *Model) run(v vi.Command) {
	text, at, writes, ok := v.Run([]rune(c.Text()), utf8.RuneCountInString(c.Before()))
	if !ok {
		return
	}
	if writes {
		c.Vi = ViInsert
	}
	c.rewrite(text, at)
}

// rewrite puts a text in place of what is written. What is typed after it, if
// one now writes, is taken back with it.
func (c *Model) rewrite(text []rune, at int) {
	w := c.Written()
	w.Text = string(text)
	before := string(text[:at])
	w.Line = strings.Count(before, "\n")
	w.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	c.Put(w)
	run := ""
	if c.Vi == ViInsert {
		run = typing
	}
	c.Changed(run, "")
}

// OnLetter takes the cursor from behind the end of a line to its last letter:
// that is where it stands in vi when one does not write.
func (c *Model) OnLetter() {
	if c.Vi != ViNormal || c.Area.Column() == 0 {
		return
	}
	line := []rune(strings.Split(c.Text(), "\n")[c.Area.Line()])
	if c.Area.Column() >= len(line) {
		c.Area.SetCursorColumn(len(line) - 1)
		c.Changed("", "")
	}
}
