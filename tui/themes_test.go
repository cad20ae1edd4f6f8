package tui

import (
	"strings"
	"testing"

	"lifehub/internal/chattest"
)

func TestAThemeIsChosenWhileItRuns(t *testing.T) {
	inRig(t, 100, 24, chattest.WithWorld(chattest.Play()), func(r *rig) {
		dark := r.m.View().Content
		r.keys("/theme light", "enter")
		if !strings.Contains(r.m.View().Content, "38;2;58;63;71") { // of the keys, on light
			t.Error("the colours are not those of the light theme")
		}
		r.mustShow("theme: light in the settings keeps it")
		r.keys("/theme", "enter")
		r.mustShow("› light")
		r.keys("up", "enter", "x", "backspace")
		if r.m.View().Content != dark {
			t.Error("the dark theme is not as it was")
		}
		r.keys("/theme purple", "enter")
		r.mustShow("takes auto, dark, light, catppuccin-mocha")
	})
}
