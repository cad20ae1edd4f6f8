package tui

import (
	"image/color"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lifehub/internal/testenv"
	"lifehub/tui/boxtest"
)

func (r *rig) applyTheme(look boxtest.Look) {
	profile := colorprofile.ASCII
	if look.Coloured {
		profile = colorprofile.TrueColor
	}
	r.m.Options.Theme.Name, r.m.Options.Theme.Colours = look.Theme, look.Colours
	background := color.Color(color.Black)
	if look.Theme == "light" {
		background = color.White
	}
	r.send(tea.BackgroundColorMsg{Color: background})
	r.send(tea.ColorProfileMsg{Profile: profile})
}

// TestScreen keeps one golden a scene.
func TestScreen(t *testing.T) {
	testenv.WithoutRace(t)
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			boxtest.Golden(t, func(width int, show func(func(boxtest.Look) string)) {
				inRig(t, width, 24, scene.options(), func(r *rig) {
					scene.play(r)
					show(func(look boxtest.Look) string {
						r.applyTheme(look)
						return r.m.View().Content
					})
				})
			})
		})
	}
}
