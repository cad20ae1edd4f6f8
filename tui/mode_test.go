package tui

import (
	"testing"

	"lifehub/agent"
)

func TestTheModeCanBeChanged(t *testing.T) {
	var used []string
	o := finished()
	o.UseMode = func(mode string) { used = append(used, mode) }
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
		if len(used) != 5 || used[3] != "team" {
			t.Errorf("used %v", used)
		}
	})
}
