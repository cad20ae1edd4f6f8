package tui

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/terminal"
)

// keysOf returns a message, or the parts of text that was typed at once: Enter,
// Tab and a key that may write into an empty composer are keys, and what is
// between them is text.
func keysOf(msg tea.Msg) iter.Seq[tea.Msg] {
	return func(yield func(tea.Msg) bool) {
		typed, ok := msg.(terminal.TypedMsg)
		if !ok {
			yield(msg)
			return
		}
		for text := string(typed); text != ""; {
			pressed, size := firstKey(text)
			if text = text[size:]; !yield(pressed) {
				return
			}
			if size = strings.IndexAny(text, "\r\t"); size < 0 {
				size = len(text)
			}
			if size > 0 && pressed.Text != "" {
				if !yield(terminal.TypedMsg(text[:size])) {
					return
				}
				text = text[size:]
			}
		}
	}
}

// newline is the key of a line feed.
var newline = tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}

// firstKey returns the key that a text begins with, as the terminal would have
// sent it alone, and its length.
func firstKey(text string) (pressed tea.KeyPressMsg, size int) {
	switch text[0] {
	case '\r':
		return tea.KeyPressMsg{Code: tea.KeyEnter}, 1
	case '\t':
		return tea.KeyPressMsg{Code: tea.KeyTab}, 1
	case '\n':
		return newline, 1
	}
	letter, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	code, first := utf8.DecodeRuneInString(letter)
	pressed = tea.KeyPressMsg{Code: code, Text: letter}
	switch {
	case first < len(letter):
		pressed.Code = tea.KeyExtended
	case unicode.IsUpper(code):
		pressed.Code, pressed.ShiftedCode, pressed.Mod = unicode.ToLower(code), code, tea.ModShift
	}
	return pressed, len(letter)
}

// typeText inserts text that arrived at once. While anything but the composer may take keys,
// it is handled key by key.
func (m *Model) typeText(text string) tea.Cmd {
	var cmds []tea.Cmd
	for text != "" {
		if m.writes() {
			m.composer.Type(text)
			return tea.Batch(append(cmds, m.follow())...)
		}
		pressed, size := firstKey(text)
		text = text[size:]
		cmds = append(cmds, m.press(pressed))
	}
	return tea.Batch(cmds...)
}

// writes reports whether all letters go to the composer.
func (m *Model) writes() bool {
	return m.panel == nil && !m.focused && !m.asks.Open() && m.pulls.Offer == nil && !m.lists.Open() &&
		!m.composer.Empty() && key.Matches(newline, m.keys.Newline)
}
