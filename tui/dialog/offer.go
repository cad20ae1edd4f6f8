package dialog

import (
	"strings"

	"lifehub/tui/draw"
)

// Offered is what can be had for a key, in one line, or in a narrow window with
// the keys below.
func Offered(what, key, orElse string, width int, theme *draw.Theme) []string {
	if draw.Width(what+key) <= width {
		return []string{draw.Truncate(theme.Warning.Render(what)+theme.Key.Render(key)+theme.Dim.Render(orElse), width)}
	}
	return append(draw.StyleLines(theme.Warning.Render, draw.Wrap(strings.TrimSpace(what), width)), theme.Key.Render(draw.Truncate(key, width)))
}
