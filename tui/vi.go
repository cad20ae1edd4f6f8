package tui

import (
	"slices"
	"strconv"
	"strings"

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

// viRedo is Ctrl+R among the letters of a command.
const viRedo = "\x12"

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
		c.typed += viRedo
	case c.empty() && (pressed.Text == "/" || key.Matches(pressed, m.keys.HelpOnEmpty)):
		c.vi, c.typed = viInsert, ""
		return nil, false
	case pressed.Text == "":
		c.typed = ""
		return nil, before != "" && key.Matches(pressed, m.keys.Stop)
	default:
		c.typed += pressed.Text
	}
	command, whole := parseVi(c.typed)
	if !whole {
		return nil, true
	}
	c.typed = ""
	switch {
	case command.name == "u":
		if !c.undo(command.times()) {
			m.flash("nothing to undo")
		}
	case command.name == viRedo:
		if !c.redo(command.times()) {
			m.flash("nothing to redo")
		}
	case command == viCommand{name: "j"}:
		cmd = m.write(lineOn)
	case command == viCommand{name: "k"}:
		cmd = m.write(lineUp)
	default:
		c.run(command)
	}
	c.onLetter()
	c.draw()
	return tea.Batch(cmd, m.follow()), true
}

// viCommand is a command of vi.
type viCommand struct {
	count    int    // 0: none was typed
	operator string // d cuts what a move goes over, c writes in its place; "": none
	name     string // of the move or change
}

func (v viCommand) times() int { return max(1, v.count) }

// maxCount bounds how often a command is done.
const maxCount = 9999

// parseVi reads a command. whole is false while letters of it are missing.
func parseVi(typed string) (v viCommand, whole bool) {
	v.count, typed = leadingCount(typed)
	if name, short := viShort[typed]; short {
		typed = name
	}
	if strings.HasPrefix(typed, "d") || strings.HasPrefix(typed, "c") {
		var more int
		v.operator = typed[:1]
		if more, typed = leadingCount(typed[1:]); more > 0 {
			v.count = min(v.times()*more, maxCount)
		}
		if typed == v.operator {
			typed = "line"
		}
	}
	v.name = typed
	return v, typed != "" && typed != "g"
}

// leadingCount is the number that a text begins with, and the rest. A zero
// begins none: it is a move.
func leadingCount(text string) (int, string) {
	if strings.HasPrefix(text, "0") {
		return 0, text
	}
	rest := strings.TrimLeft(text, "0123456789")
	n, err := strconv.Atoi(text[:len(text)-len(rest)])
	if err != nil && rest != text {
		n = maxCount
	}
	return min(n, maxCount), rest
}

// viShort are the commands that are short for an operator and a move.
var viShort = map[string]string{"x": "dl", "X": "dh", "D": "d$", "s": "cl", "S": "cc", "C": "c$"}

// run does a command other than those that go through the history. One that is
// not known does nothing: no letter is written here.
func (c *composer) run(v viCommand) {
	text := []rune(c.text())
	at := c.offset(text)
	if insert, ok := viInserts[v.name]; ok && v.operator == "" {
		c.vi = viInsert
		c.rewrite(insert(text, at))
		return
	}
	move, ok := viMoves[v.name]
	if v.operator == "c" && v.name == "w" && !onBlank(text, at) {
		move = viMoves["e"] // as ever in vi
	}
	if !ok || v.operator == "" && v.name == "line" {
		return
	}
	to := move.to(text, at, v)
	if v.operator == "" {
		c.rewrite(text, to)
		return
	}
	from, end := min(at, to), max(at, to)
	switch {
	case move.lines:
		from, end = lineStart(text, from), lineEnd(text, end)
		switch {
		case v.operator == "c":
		case end < len(text):
			end++
		case from > 0:
			from--
		}
	case move.inclusive && end < lineEnd(text, end):
		end++
	}
	text = slices.Delete(text, from, end)
	if v.operator == "c" {
		c.vi = viInsert
	} else if move.lines {
		from = lineStart(text, from)
	}
	c.rewrite(text, from)
}

// rewrite puts a text in place of what is written. What is typed after it, if
// one now writes, is taken back with it.
func (c *composer) rewrite(text []rune, at int) {
	w := c.written()
	w.text = string(text)
	w.line = strings.Count(string(text[:at]), "\n")
	w.column = at - lineStart(text, at)
	c.put(w)
	run := ""
	if c.vi == viInsert {
		run = typing
	}
	c.changed(run, "")
}

// offset is where the cursor stands in the text.
func (c *composer) offset(text []rune) int {
	at := 0
	for range c.area.Line() {
		at = min(len(text), lineEnd(text, at)+1)
	}
	return min(at+c.area.Column(), len(text))
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
