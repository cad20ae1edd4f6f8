package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"
)

// TestMainStatesInEveryLook draws what people look at most, narrow, usual and
// wide, on dark, on light and without colours.
func TestMainStatesInEveryLook(t *testing.T) {
	looks := map[string]func(r *rig){
		"dark":      func(*rig) {},
		"light":     func(r *rig) { r.m.Theme = "light"; r.m.restyle() },
		"no colour": func(r *rig) { r.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII}) },
	}
	for _, name := range []string{"nothing was asked yet", "steps run", "the answer streams", "the answer is whole", "a question takes keys", "notes after an at", "conversations"} {
		for look, change := range looks {
			for _, width := range []int{60, 100, 160} {
				t.Run(fmt.Sprintf("%s %s %d", name, look, width), func(t *testing.T) {
					var picture string
					inRig(t, width, 24, scenes[name].options(), func(r *rig) {
						change(r)
						scenes[name].play(r)
						picture = r.m.View().Content
					})
					golden.RequireEqual(t, picture)
				})
			}
		}
	}
}
