package keys

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/safetext"
)

// Moved is where a key leads from at, in a list of n rows of which a page is in
// sight; ok is false for a key that moves in no list.
func (k *Map) Moved(pressed tea.KeyPressMsg, at, n, page int) (to int, ok bool) {
	return moved(pressed, at, n, page, k.ListUp, k.ListDown, k.ListPageUp, k.ListPageDown, k.ListFirst, k.ListLast)
}

// Scrolled is moved for a text of n lines, of which the line top is the first
// of rows in sight.
func (k *Map) Scrolled(pressed tea.KeyPressMsg, top, n, rows int) (to int, ok bool) {
	return k.Moved(pressed, top, n-rows+1, rows-1)
}

// Read is where a key leads in a question of n lines, of which the line top is
// the first of rows in sight; ok is false for a key that does not scroll there.
func (k *Map) Read(pressed tea.KeyPressMsg, top, n, rows int) (to int, ok bool) {
	return moved(pressed, top, n-rows+1, rows-1, k.Up, k.Down, k.PageUp, k.PageDown, k.Top, k.Bottom)
}

func moved(pressed tea.KeyPressMsg, at, n, page int, up, down, pageUp, pageDown, first, last key.Binding) (to int, ok bool) {
	switch {
	case key.Matches(pressed, up):
		at--
	case key.Matches(pressed, down):
		at++
	case key.Matches(pressed, pageUp):
		at -= max(1, page)
	case key.Matches(pressed, pageDown):
		at += max(1, page)
	case key.Matches(pressed, first):
		at = 0
	case key.Matches(pressed, last):
		at = n - 1
	default:
		return at, false
	}
	return max(0, min(at, n-1)), true
}

// Typed is a line of text after a key: a letter more, or one less.
func Typed(text string, pressed tea.KeyPressMsg) string {
	switch pressed.String() {
	case "backspace":
		runes := []rune(text)
		return string(runes[:max(0, len(runes)-1)])
	case "ctrl+u":
		return ""
	}
	return text + safetext.Line(pressed.Text)
}
