package transcript

import (
	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Effects is the last line of a turn: what it did to the world.
type Effects struct{ agent.Effects }

func (e *Effects) Render(width int, theme *draw.Theme) []string {
	style := theme.Dim
	for _, each := range e.Effects {
		if each.Kind != agent.RequestSent {
			style = theme.Text
		}
	}
	return draw.StyleLines(style.Render, draw.Hang("", safetext.Line(e.String()), width))
}

func (e *Effects) Copied() string { return e.String() }
