package composer

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/composer/vi"
)

// viMode is what keys mean in a composer that is edited as in vi.
type viMode int

const (
	ViOff    viMode = iota // keys write, always
	ViInsert               // keys write, esc ends that
	ViNormal               // keys move and change
)

// Run does a command other than those that go through the history. One that is
// not known does nothing: no letter is written here.
func (c *Model) Run(v vi.Command) {
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
