package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lifehub/internal/chattest"
)

func TestAClickChoosesARowOfAPanel(t *testing.T) {
	for _, size := range [][2]int{{140, 40}, {80, 24}, {23, 12}} {
		inRig(t, size[0], size[1], chattest.WithEverything(), func(r *rig) {
			click := func(text string) {
				for y, line := range strings.Split(r.text(), "\n") {
					if x := strings.Index(line, text); x >= 0 {
						r.click(x, y)
						return
					}
				}
				t.Fatalf("%s is not on the screen:\n%s", text, r.text())
			}
			r.keys("/theme", "enter")
			r.mustShow("› auto")
			r.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
			r.mustShow("› dark")
			click("dracula")
			r.mustShow("› dracula")
			r.click(1, 0) // nothing is there
			r.mustShow("› dracula")
			click("dracula")
			r.mustNotShow("› dracula")
			if r.m.Theme.Name != "dracula" {
				t.Errorf("%v: the theme is %q", size, r.m.Theme.Name)
			}
		})
	}
}
