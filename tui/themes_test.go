package tui

import (
	"errors"
	"strings"
	"testing"

	"lifehub/internal/chattest"
	"lifehub/tui/draw"
)

// settings has the setting that was saved last, or why none can be saved.
type settings struct {
	last  string
	fails error
}

func (s *settings) Save(name, value string) error {
	s.last = name + " " + value
	return s.fails
}

func TestThemeIsPreviewedAndThenSaved(t *testing.T) {
	saved := &settings{}
	inRig(t, 100, 24, chattest.WithWorld(chattest.Play()), func(r *rig) {
		r.m.Options.Settings = saved
		wears := func(theme, colour string) {
			t.Helper()
			if !strings.Contains(r.m.View().Content, colour) {
				t.Errorf("the colours are not those of %s", theme)
			}
		}
		dark := r.m.View().Content
		r.keys("/theme light", "enter")
		wears("light", "38;2;95;100;108")
		for _, line := range strings.Split(r.m.View().Content, "\n") { // on a dark terminal
			if !strings.HasPrefix(line, "\x1b[38;2;28;28;28;48;2;255;255;255m") || draw.Width(line) != 100 {
				t.Fatalf("a line without the ground of the light theme: %q", line)
			}
		}
		if strings.Contains(dark, "48;2;30;30;30") {
			t.Error("the dark theme paints a dark terminal")
		}
		r.mustShow("theme light, saved")
		r.keys("/theme", "enter")
		r.mustShow("▌ light")
		r.keys("down")
		wears("catppuccin-mocha", "38;2;147;153;178")
		r.keys("d", "r", "a", "c")
		wears("dracula", "38;2;150;161;194")
		if saved.last != "theme light" {
			t.Errorf("saved %q before a choice", saved.last)
		}
		r.keys("esc")
		wears("light", "38;2;95;100;108")
		r.keys("/theme", "enter", "up", "enter", "x", "backspace")
		if r.m.View().Content != dark || saved.last != "theme dark" {
			t.Errorf("the dark theme is not as it was, or not saved: %q", saved.last)
		}
		r.keys("/theme purple", "enter")
		r.mustShow("takes auto, dark, light, catppuccin-mocha")
		saved.fails = errors.New("no disk left")
		r.keys("/theme nord", "enter")
		r.mustShow("no disk left")
	})
}
