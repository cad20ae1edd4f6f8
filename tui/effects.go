package tui

import (
	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// effects is the last line of a turn: what it did to the world.
type effects struct{ agent.Effects }

func (e *effects) render(width int, look *draw.Theme) []string {
	style := look.Dim
	for _, each := range e.Effects {
		if each.Kind != agent.RequestSent {
			style = look.Text
		}
	}
	return draw.Styled(style.Render, draw.Wrapped("", safetext.Line(e.String()), width))
}

func (e *effects) copied() string { return e.String() }
