package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
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

func TestDraggedSelectionIsCopied(t *testing.T) {
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

func TestDraggingCopiesContentWithoutFrames(t *testing.T) {
	said := "Before.\n\n```go\nfunc f() {\n\tg(\"│\")\n}\n```\n\n| week | distance |\n|---|---:|\n| 1 | 12 km |\n| 2 | 13 km |\n\n> Never two hard days.\n\nAfter."
	o := chattest.WithWorld(chattest.Play(agent.Said{Content: said}, agent.Ended{Answer: said}))
	for _, look := range []boxtest.Look{{Theme: "dark", Coloured: true}, {Theme: "ansi", Coloured: true}, {}} {
		inRig(t, 80, 40, o, func(r *rig) {
			r.applyTheme(look)
			r.ask("what?")
			x, y := r.rowOf("Before.")
			_, last := r.rowOf("After.")
			r.drag(x, y, 79, last)
			want := "Before.\n\nfunc f() {\n    g(\"│\")\n}\n\nweek\tdistance\n1\t12 km\n2\t13 km\n\nNever two hard days.\n\nAfter."
			if r.clip != want {
				t.Errorf("%s: copied\n%s\nnot\n%s", look.Theme, r.clip, want)
			}
		})
	}
}

func TestOneClickOpensASource(t *testing.T) {
	inRig(t, 100, 40, withNotes(), func(r *rig) {
		r.ask("how do I run more?")
		r.clickOn("fitness.md:12")
		r.mustShow("e edit")
	})
}
