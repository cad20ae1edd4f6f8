package draw

import (
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/safetext"
)

// InputLine is a line of text that is typed, with a cursor: first at its end.
type InputLine struct {
	Text   string
	behind int // characters behind the cursor
}

// Press edits the line with the keys of a text input: characters, ←→, Home and End, by words with Alt.
func (l *InputLine) Press(pressed tea.KeyPressMsg) {
	pressed.Text = safetext.Line(pressed.Text)
	l.edit(pressed)
}

// Paste inserts a text at the cursor.
func (l *InputLine) Paste(text string) { l.edit(tea.PasteMsg{Content: safetext.Line(text)}) }

func (l *InputLine) edit(msg tea.Msg) {
	input := textinput.New()
	input.SetValue(l.Text)
	input.SetCursor(utf8.RuneCountInString(l.Text) - l.behind)
	input.Focus()
	input, _ = input.Update(msg) // its commands blink a cursor that is not shown, and read a clipboard
	l.Text = input.Value()
	l.behind = utf8.RuneCountInString(l.Text) - input.Position()
}

// Shown returns the text with its cursor.
func (l *InputLine) Shown() string {
	runes := []rune(l.Text)
	at := max(0, len(runes)-l.behind)
	return string(runes[:at]) + "▏" + string(runes[at:])
}
