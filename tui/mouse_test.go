package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/layout"
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

func TestWhatIsDraggedOverIsCopied(t *testing.T) {
	defer layout.ByCharacters(false)
	for _, byCharacters := range []bool{false, true} {
		layout.ByCharacters(byCharacters)
		testDragging(t)
	}
}

func testDragging(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.ask("running?")
		fromX, fromY := r.rowOf("three times")
		toX, toY := r.rowOf("Monday")
		r.drag(fromX, fromY, toX+5, toY)
		if !strings.HasPrefix(r.clip, "three times a week") || !strings.HasSuffix(r.clip, "\n• Monday") || strings.Contains(r.clip, "easy") {
			t.Errorf("copied %q", r.clip)
		}
		if !strings.Contains(r.m.View().Content, "\x1b[7m") {
			t.Error("nothing shows what is selected")
		}
		r.mustShow("copied")
		r.mustShow("three times a week")
		r.fits("selected", 80, 24)
		before := r.clip
		r.drag(toX, toY, fromX, fromY) // upwards, and it ends before its first cell
		if !strings.HasPrefix(r.clip, "three times") || !strings.HasSuffix(r.clip, "• M") {
			t.Errorf("copied %q, before %q", r.clip, before)
		}
		r.drag(4, fromY, 70, 500) // below the conversation
		if strings.Contains(r.clip, "╭") || strings.Contains(r.clip, "send") {
			t.Errorf("copied more than the conversation: %q", r.clip)
		}
		r.keys("x")
		if strings.Contains(r.m.View().Content, "\x1b[7m") {
			t.Error("a key leaves it selected")
		}
	})
}
