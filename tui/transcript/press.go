package transcript

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/draw"
)

// Press handles the keys that scroll and fold, whatever has the focus.
func (t *Model) Press(pressed tea.KeyPressMsg, k *draw.Keys) (taken bool) {
	switch {
	case key.Matches(pressed, k.Plan):
		t.foldPlans()
	case key.Matches(pressed, k.Unfold):
		t.unfold()
	case key.Matches(pressed, k.PageUp):
		t.Scroll(-t.page())
	case key.Matches(pressed, k.PageDown):
		t.Scroll(t.page())
	case key.Matches(pressed, k.Top):
		t.ToTop()
	case key.Matches(pressed, k.Bottom):
		t.ToEnd()
	case key.Matches(pressed, k.NextQuestion):
		t.jump(1)
	case key.Matches(pressed, k.PreviousQuestion):
		t.jump(-1)
	default:
		return false
	}
	return true
}

// PressFocused handles the keys that move among the items while one is focused.
func (t *Model) PressFocused(pressed tea.KeyPressMsg, k *draw.Keys) (taken bool) {
	switch {
	case key.Matches(pressed, k.Next):
		t.next()
	case key.Matches(pressed, k.Previous):
		t.previous()
	case key.Matches(pressed, k.First):
		t.Choose(0, 0)
		t.ToTop()
	case key.Matches(pressed, k.Last):
		t.chooseLast()
	case key.Matches(pressed, k.Fold):
		t.FoldChosen()
	default:
		return false
	}
	return true
}

// Passage returns the source of the passage on a visible line of an answer that lists passages.
func (t *Model) Passage(line int) (c Cited, ok bool) {
	at := t.Shown[line]
	if _, answer := t.Item(at).(*Answer); !answer || at+1 >= len(t.Entries) {
		return c, false
	}
	sources, ok := t.Item(at + 1).(*Sources)
	if !ok || !sources.written {
		return c, false
	}
	lines := t.Lines(at)
	for n := t.lineOf(line); n >= 0 && lines[n] != ""; n-- { // its head is above it
		for _, c := range sources.List {
			if strings.Contains(ansi.Strip(lines[n]), c.place()) {
				return c, true
			}
		}
	}
	return c, false
}

// lineOf returns which line of its item a visible line is.
func (t *Model) lineOf(line int) int {
	at := t.Shown[line]
	n := line - slices.Index(t.Shown, at)
	if from := t.Start(); from.Entry == at {
		n += from.Line
	}
	return n
}

// ChooseLine focuses the item, and its part, at a line and column of the screen.
func (t *Model) ChooseLine(line, column int) {
	at := t.Shown[line]
	part := 0
	if p, ok := t.Item(at).(multiPart); ok {
		part = p.part(t.lineOf(line), column-t.column.Text)
	}
	t.Choose(at, part)
}
