package tui

import (
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

// viMove is what a command does: presses of the composer's own keys, and
// whether one writes afterwards.
type viMove struct {
	presses []tea.KeyPressMsg
	insert  bool
}

var (
	toLeft      = tea.KeyPressMsg{Code: tea.KeyLeft}
	toRight     = tea.KeyPressMsg{Code: tea.KeyRight}
	toStart     = tea.KeyPressMsg{Code: 'a', Mod: tea.ModCtrl}
	toEnd       = tea.KeyPressMsg{Code: 'e', Mod: tea.ModCtrl}
	wordOn      = tea.KeyPressMsg{Code: 'f', Mod: tea.ModAlt}
	wordBack    = tea.KeyPressMsg{Code: 'b', Mod: tea.ModAlt}
	cutWord     = tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt}
	cutWordBack = tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl}
	cutEnd      = tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}
	cutStart    = tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
	cutNext     = tea.KeyPressMsg{Code: tea.KeyDelete} // at the last letter it takes the line below along
	cutOneBack  = tea.KeyPressMsg{Code: tea.KeyBackspace}
	newLine     = tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}
	lineUp      = tea.KeyPressMsg{Code: tea.KeyUp}
)

// viMoves are the commands, as they are typed.
var viMoves = map[string]viMove{
	"h": {presses: []tea.KeyPressMsg{toLeft}}, "l": {presses: []tea.KeyPressMsg{toRight}}, "space": {presses: []tea.KeyPressMsg{toRight}},
	"w": {presses: []tea.KeyPressMsg{wordOn}}, "e": {presses: []tea.KeyPressMsg{wordOn}}, "b": {presses: []tea.KeyPressMsg{wordBack}},
	"0": {presses: []tea.KeyPressMsg{toStart}}, "^": {presses: []tea.KeyPressMsg{toStart}}, "$": {presses: []tea.KeyPressMsg{toEnd}},
	"x": {presses: []tea.KeyPressMsg{toRight, cutOneBack}}, "X": {presses: []tea.KeyPressMsg{cutOneBack}}, "D": {presses: []tea.KeyPressMsg{cutEnd}},
	"dw": {presses: []tea.KeyPressMsg{cutWord}}, "db": {presses: []tea.KeyPressMsg{cutWordBack}}, "d$": {presses: []tea.KeyPressMsg{cutEnd}}, "d0": {presses: []tea.KeyPressMsg{cutStart}},
	"dd": {presses: []tea.KeyPressMsg{toStart, cutEnd, cutNext}},
	"i":  {insert: true}, "a": {presses: []tea.KeyPressMsg{toRight}, insert: true},
	"I": {presses: []tea.KeyPressMsg{toStart}, insert: true}, "A": {presses: []tea.KeyPressMsg{toEnd}, insert: true},
	"o": {presses: []tea.KeyPressMsg{toEnd, newLine}, insert: true}, "O": {presses: []tea.KeyPressMsg{toStart, newLine, lineUp}, insert: true},
	"s": {presses: []tea.KeyPressMsg{toRight, cutOneBack}, insert: true}, "S": {presses: []tea.KeyPressMsg{toStart, cutEnd}, insert: true},
	"C": {presses: []tea.KeyPressMsg{cutEnd}, insert: true}, "cw": {presses: []tea.KeyPressMsg{cutWord}, insert: true},
	"cb": {presses: []tea.KeyPressMsg{cutWordBack}, insert: true}, "cc": {presses: []tea.KeyPressMsg{toStart, cutEnd}, insert: true},
}

// pressVi takes the keys of a composer that is edited as in vi. Where nothing
// is written all keys are as ever, so that esc stops a turn.
func (m *Model) pressVi(pressed tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	c := &m.composer
	if c.vi == viOff || c.empty() || m.palette.open() || m.mentions.open() {
		return nil, false
	}
	if c.vi == viInsert {
		if !key.Matches(pressed, m.keys.Stop) {
			return nil, false
		}
		c.vi, c.typed = viNormal, ""
		c.press(toLeft)
		return nil, true
	}
	name := pressed.String()
	if pressed.Text != "" && name != "space" {
		name = pressed.Text // G and not shift+g
	}
	switch {
	case c.typed == "" && (name == "j" || name == "k"):
		pressed = tea.KeyPressMsg{Code: tea.KeyDown}
		if name == "k" {
			pressed = lineUp
		}
		cmd := m.write(pressed)
		c.onLetter()
		return cmd, true
	case c.typed == "" && (name == "d" || name == "c"):
		c.typed = name
		return nil, true
	case pressed.Text == "":
		c.typed = ""
		return nil, false
	}
	move, known := viMoves[c.typed+name]
	c.typed = ""
	if !known {
		return nil, true // no letter is written here
	}
	for _, press := range move.presses {
		c.press(press)
	}
	if move.insert || c.empty() {
		c.vi = viInsert
	} else {
		c.onLetter()
	}
	c.draw()
	return m.follow(), true
}

// onLetter takes the cursor from behind the end of a line to its last letter:
// that is where it stands in vi when one does not write.
func (c *composer) onLetter() {
	line := []rune(strings.Split(c.text(), "\n")[c.area.Line()])
	if len(line) > 0 && c.area.Column() >= len(line) {
		c.press(toLeft)
	}
}
