package keys

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/safetext"
)

// Moved is where a key leads from at, in a list of n rows of which a page is in
// sight; ok is false for a key that moves in no list.
func (k *Map) Moved(pressed tea.KeyPressMsg, at, n, page int) (to int, ok bool) {
	switch {
	case key.Matches(pressed, k.ListUp):
		at--
	case key.Matches(pressed, k.ListDown):
		at++
	case key.Matches(pressed, k.ListPageUp):
		at -= max(1, page)
	case key.Matches(pressed, k.ListPageDown):
		at += max(1, page)
	case key.Matches(pressed, k.ListFirst):
		at = 0
	case key.Matches(pressed, k.ListLast):
		at = n - 1
	default:
		return at, false
	}
	return max(0, min(at, n-1)), true
}

// Scrolled is moved for a text of n lines, of which the line top is the first
// of rows in sight.
func (k *Map) Scrolled(pressed tea.KeyPressMsg, top, n, rows int) (to int, ok bool) {
	return k.Moved(pressed, top, n-rows+1, rows-1)
}

// Read is where a key leads in a question of n lines, of which the line top is
// the first of rows in sight; ok is false for a key that does not scroll there.
func (k *Map) Read(pressed tea.KeyPressMsg, top, n, rows int) (to int, ok bool) {
	last := max(0, n-rows)
	switch {
	case key.Matches(pressed, k.PageDown):
		top += max(1, rows-1)
	case key.Matches(pressed, k.PageUp):
		top -= max(1, rows-1)
	case key.Matches(pressed, k.Down):
		top++
	case key.Matches(pressed, k.Up):
		top--
	case key.Matches(pressed, k.Top):
		top = 0
	case key.Matches(pressed, k.Bottom):
		top = last
	default:
		return top, false
	}
	return max(0, min(top, last)), true
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
