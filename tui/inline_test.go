package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestInlineFinishedTurnsArePrinted(t *testing.T) {
	o := finished()
	o.Inline = true
	inRig(t, 80, 24, o, func(r *rig) {
		if r.m.View().AltScreen || r.m.View().MouseMode != tea.MouseModeNone {
			t.Error("the screen or the mouse is not left to the terminal")
		}
		r.ask("how often do I run?")
		r.pass(time.Second)
		printed := ansi.Strip(r.printed)
		for _, what := range []string{"  ▌ how often do I run?", "You run three times a week", "[1] fitness.md:12"} {
			if strings.Count(printed, what) != 1 {
				t.Errorf("printed %d times %q:\n%s", strings.Count(printed, what), what, printed)
			}
			r.mustNotShow(what)
		}
		r.fits("inline", 80, 24)
		r.keys("/copy", "enter")
		if !strings.Contains(r.clip, "three times a week") {
			t.Errorf("copied %q", r.clip)
		}
		r.keys("f1")
		if !r.m.View().AltScreen {
			t.Error("help is not on a screen of its own")
		}
		r.keys("esc", "ctrl+d")
		if !r.quit || strings.TrimSpace(r.text()) != "" {
			t.Errorf("left behind:\n%s", r.text())
		}
	})
}
