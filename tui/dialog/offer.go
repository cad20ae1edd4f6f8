package dialog

import (
	"lifehub/tui/draw"
)

// OfferToResume draws the offer to resume a turn that was cut off: what Enter does while the input is empty.
func OfferToResume(empty bool, width, height int, keys *draw.Keys, theme *draw.Theme) []string {
	const title, what = "This was cut off", "Resume it"
	answer, hints := theme.Selected.Render(bar(what, true)),
		[]string{keys.Send.Help().Key + ": resume it", "or ask something else"}
	if !empty {
		answer, hints = theme.Dim.Render(bar(what, false)),
			[]string{keys.Clear.Help().Key + " clears what you wrote, then answer"}
	}
	q := &question{
		name: title, answers: []string{answer}, keys: hints,
		tight: []string{draw.Truncate(theme.Warning.Render(title+" · ")+theme.Key.Render(hints[0]), width)},
	}
	s := scrollArea{}
	s.place(q, 0, width, height, theme)
	return s.view(q, 0, nil, width, height, keys, theme)
}
