package draw

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/safetext"
)

// Moved returns where a key moves from row at in a list of n rows with page rows visible. ok is
// false if the key does not move in lists.
func (k *Keys) Moved(pressed tea.KeyPressMsg, at, n, page int) (to int, ok bool) {
	return moved(pressed, at, n, page, k.ListUp, k.ListDown, k.ListPageUp, k.ListPageDown, k.ListFirst, k.ListLast)
}

// Scrolled is like Moved for a text of n lines, in which top is the first of rows visible lines.
func (k *Keys) Scrolled(pressed tea.KeyPressMsg, top, n, rows int) (to int, ok bool) {
	return k.Moved(pressed, top, n-rows+1, rows-1)
}

// Read returns where a key scrolls in a dialog of n lines, in which top is the first of rows
// visible lines. ok is false if the key does not scroll there.
func (k *Keys) Read(pressed tea.KeyPressMsg, top, n, rows int) (to int, ok bool) {
	return moved(pressed, top, n-rows+1, rows-1, k.Up, k.Down, k.PageUp, k.PageDown, k.Top, k.Bottom)
}

func moved(pressed tea.KeyPressMsg, at, n, page int, up, down, pageUp, pageDown, first,
	last key.Binding,
) (to int, ok bool) {
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

// TypedInto returns text after a key was pressed: with its character added, the last one deleted, or
// empty.
func TypedInto(text string, pressed tea.KeyPressMsg) string {
	switch pressed.String() {
	case "backspace":
		runes := []rune(text)
		return string(runes[:max(0, len(runes)-1)])
	case "ctrl+u":
		return ""
	}
	return text + safetext.Line(pressed.Text)
}
