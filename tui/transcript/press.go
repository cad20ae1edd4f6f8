package transcript

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/keys"
)

// Press takes the keys that scroll and fold, whatever has the keys.
func (t *Model) Press(pressed tea.KeyPressMsg, k *keys.Map) (taken bool) {
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

// PressFocused takes the keys that move among the items while one has them.
func (t *Model) PressFocused(pressed tea.KeyPressMsg, k *keys.Map) (taken bool) {
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

// ChooseLine gives the keys to the item, and the part of it, at a place in sight.
func (t *Model) ChooseLine(line, column int) {
	at := t.Shown[line]
	n := line - slices.Index(t.Shown, at)
	if from := t.Start(); from.Entry == at {
		n += from.Line
	}
	part := 0
	if p, ok := t.Item(at).(multiPart); ok {
		part = p.part(n, column-t.column.Text)
	}
	t.Choose(at, part)
}
