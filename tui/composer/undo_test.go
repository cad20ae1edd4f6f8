package composer

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"lifehub/tui/draw"
)

func TestUndoRedoRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := draw.DefaultKeys()
		c := New(&keys, draw.NewTheme("", true, true, nil))
		c.Resize(rapid.IntRange(8, 40).Draw(t, "width"), 5)
		for range rapid.IntRange(0, 60).Draw(t, "presses") {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				c.Paste(rapid.StringMatching(`[a-z \n\t]{0,12}`).Draw(t, "pasted"))
			case 1:
				c.Replace(rapid.IntRange(0, 5).Draw(t, "size"), "name ")
			case 2:
				c.Newline()
			case 3:
				c.Press(rapid.SampledFrom([]tea.KeyPressMsg{
					{Code: tea.KeyUp},
					{Code: tea.KeyLeft},
					{Code: tea.KeyBackspace},
					{Code: 'k', Mod: tea.ModCtrl},
					{Code: 'u', Mod: tea.ModCtrl},
					{Code: 'w', Mod: tea.ModCtrl},
					{Code: 'd', Mod: tea.ModAlt},
				}).Draw(t, "key"))
			case 4:
				c.Undo()
			case 5:
				c.Redo()
			default:
				letter := rapid.SampledFrom([]rune("ab 日ü\u0301👍")).Draw(t, "letter")
				c.Press(tea.KeyPressMsg{Code: letter, Text: string(letter)})
			}
		}
		for c.Redo() {
		}
		whole := c.Written()
		for c.Undo() {
		}
		if c.Text() != "" {
			t.Fatalf("the beginning is %q", c.Text())
		}
		for c.Redo() {
		}
		if got := c.Written(); got.Text != whole.Text || got.Line != whole.Line || got.Column != whole.Column {
			t.Fatalf("the end is %+v, was %+v", got, whole)
		}
	})
}
