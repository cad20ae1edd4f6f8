package boxtest

import tea "charm.land/bubbletea/v2"

// Presses are the keys of a name, or those of a text, letter by letter, when it
// is no name.
func Presses(name string) (list []tea.KeyPressMsg) {
	if pressed, ok := Keys[name]; ok {
		return []tea.KeyPressMsg{pressed}
	}
	for _, letter := range name {
		list = append(list, tea.KeyPressMsg{Code: letter, Text: string(letter)})
	}
	return list
}

// Keys are those that a test presses by name.
var Keys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "space": {Code: tea.KeySpace, Text: " "},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"backspace": {Code: tea.KeyBackspace}, "f1": {Code: tea.KeyF1},
	"ctrl+home": {Code: tea.KeyHome, Mod: tea.ModCtrl}, "ctrl+end": {Code: tea.KeyEnd, Mod: tea.ModCtrl},
	"alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "shift+enter": {Code: tea.KeyEnter, Mod: tea.ModShift},
	"ctrl+enter": {Code: tea.KeyEnter, Mod: tea.ModCtrl},
	"ctrl+c":     ctrl('c'), "ctrl+d": ctrl('d'), "ctrl+g": ctrl('g'), "ctrl+j": ctrl('j'),
	"ctrl+n": ctrl('n'), "ctrl+o": ctrl('o'),
	"ctrl+p": ctrl('p'), "ctrl+r": ctrl('r'), "ctrl+s": ctrl('s'), "ctrl+t": ctrl('t'), "ctrl+z": ctrl('z'),
	"ctrl+a": ctrl('a'), "ctrl+e": ctrl('e'), "ctrl+k": ctrl('k'), "ctrl+u": ctrl('u'), "ctrl+w": ctrl('w'),
	"ctrl+x": ctrl('x'), "ctrl+y": ctrl('y'),
	"alt+m": {Code: 'm', Mod: tea.ModAlt}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
}

func ctrl(letter rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: letter, Mod: tea.ModCtrl} }
