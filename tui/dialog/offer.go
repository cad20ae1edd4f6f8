package dialog

import (
	"strings"

	"lifehub/tui/draw"
)

// Invite draws what Enter does while the input is empty; empty reports that it is.
func Invite(title, what, orElse string, empty bool, width, height int, keys *draw.Keys, theme *draw.Theme) []string {
	answer, hints := theme.Selected.Render(bar(what, true)),
		[]string{keys.Send.Help().Key + ": " + strings.ToLower(what), orElse}
	if !empty {
		answer, hints = theme.Dim.Render(bar(what, false)), []string{keys.Clear.Help().Key +
			" clears what you wrote, then answer"}
	}
	return offered(&question{
		name: title, answers: []string{answer}, keys: hints,
		tight: []string{draw.Truncate(theme.Warning.Render(title+" · ")+theme.Key.Render(hints[0]), width)},
	}, width, height, keys, theme)
}

func offered(q *question, width, height int, keys *draw.Keys, theme *draw.Theme) []string {
	s := scrollArea{}
	s.place(q, 0, width, height, theme)
	return s.view(q, 0, nil, width, height, keys, theme)
}
