package tui

import (
	"slices"
	"testing"

	"lifehub/agent"
)

// modes are the modes that were used.
type modes []agent.Mode

func (m *modes) Use(mode agent.Mode) { *m = append(*m, mode) }

func TestTheModeCanBeChanged(t *testing.T) {
	var used modes
	o := finished()
	o.Modes = &used
	inRig(t, 80, 24, o, func(r *rig) {
		for _, want := range []string{"loop", "team", "auto"} {
			r.keys("shift+tab")
			if r.m.mode != want {
				t.Errorf("the mode is %s, want %s", r.m.mode, want)
			}
		}
		r.m.status.Fitting = "loop"
		if got := r.m.modeShown(); got != "auto · loop" {
			t.Errorf("the mode is shown as %q", got)
		}
		r.ask("/mode Team")
		r.ask("/mode fast")
		r.ask("/mode") // the list, at the present mode
		r.mustShow(agent.LoopMode.Help())
		r.keys("up", "up", "enter")
		if got := r.m.mode; got != "plan" {
			t.Errorf("the mode is %s", got)
		}
		if !slices.Equal(used, modes{"loop", "team", "auto", "team", "plan"}) {
			t.Errorf("used %v", used)
		}
	})
}
