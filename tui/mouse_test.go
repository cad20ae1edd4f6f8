package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// rowOf is the row of the screen that shows a text, and its column there.
func (r *rig) rowOf(text string) (x, y int) {
	r.t.Helper()
	for y, line := range strings.Split(r.text(), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			return ansi.StringWidth(before), y
		}
	}
	r.t.Fatalf("the screen does not show %q:\n%s", text, r.text())
	return 0, 0
}

func TestDraggingOpensNothingAndSaysHowToSelect(t *testing.T) {
	inRig(t, 100, 40, withNotes(), func(r *rig) {
		r.ask("how do I run more?")
		x, y := r.rowOf("fitness.md:12")
		r.drag(x, y, x+5, y)
		r.mustShow("Shift")
		r.mustNotShow("e edit")
		if r.clip != "" {
			t.Errorf("copied %q", r.clip)
		}
	})
}

func TestOneClickOpensASource(t *testing.T) {
	inRig(t, 100, 40, withNotes(), func(r *rig) {
		r.ask("how do I run more?")
		r.clickOn("fitness.md:12")
		r.mustShow("e edit")
	})
}
