package draw

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestLineIsEditedAtItsCursor(t *testing.T) {
	var l InputLine
	for _, pressed := range []tea.KeyPressMsg{
		{Code: 'a', Text: "a"},
		{Code: '漢', Text: "漢"},
		{Code: 'c', Text: "c"},
		{Code: tea.KeyLeft},
		{Code: tea.KeyBackspace},
	} {
		l.Press(pressed)
	}
	l.Paste("b\x1b[2J\nb")
	if l.Text != "ab bc" || l.Shown() != "ab b▏c" {
		t.Errorf("%q, shown as %q", l.Text, l.Shown())
	}
	l.Press(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	l.Press(tea.KeyPressMsg{Code: tea.KeyEnd})
	if l.Shown() != "c▏" {
		t.Errorf("after Ctrl+U and End it is shown as %q", l.Shown())
	}
	if set := (InputLine{Text: "given"}); set.Shown() != "given▏" {
		t.Errorf("a given text is shown as %q", set.Shown())
	}
}
