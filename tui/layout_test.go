package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
	"lifehub/tui/draw"
)

// TestLayoutOfEveryScreen draws every scene at sizes that people have: each
// picture fills its window, no frame is cut, and the cursor stands in the
// composer.
func TestLayoutOfEveryScreen(t *testing.T) {
	testenv.WithoutRace(t)
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			inRig(t, 80, 24, scene.options(), func(r *rig) {
				scene.play(r)
				any := rand.New(rand.NewPCG(3, 4))
				for range 60 {
					width, height := 40+any.IntN(261), 8+any.IntN(63)
					r.m.Update(tea.WindowSizeMsg{Width: width, Height: height})
					if problem := r.layoutProblem(width, height); problem != "" {
						t.Errorf("%d×%d: %s:\n%s", width, height, problem, r.text())
						return
					}
				}
			})
		})
	}
}

// layoutProblem is what is wrong with a picture; "": nothing.
func (r *rig) layoutProblem(width, height int) string {
	lines := strings.Split(ansi.Strip(r.m.View().Content), "\n")
	if len(lines) != height {
		return fmt.Sprintf("%d lines", len(lines))
	}
	composer := -1 // its last row
	for y, line := range lines {
		if got := ansi.StringWidth(line); got > width {
			return fmt.Sprintf("line %d is %d cells wide", y, got)
		}
		for _, corners := range [][2]string{{"╭", "╮"}, {"╰", "╯"}} {
			if left, right := strings.Count(line, corners[0]), strings.Count(line, corners[1]); left != right ||
				strings.Index(line, corners[0]) > strings.LastIndex(line, corners[1]) {
				return fmt.Sprintf("line %d has a broken frame", y)
			}
		}
		if strings.HasPrefix(strings.TrimLeft(line, " "), "▌") {
			composer = y
		}
	}
	column := draw.ColumnOf(r.m.drawn.size[0])
	if at := r.m.View().Cursor; at != nil && (composer < 0 || at.X < column.Text || at.X >= column.Right ||
		at.Y > composer || at.Y < composer-height/3-4) {
		return fmt.Sprintf("the cursor is at %d,%d, outside of the composer", at.X, at.Y)
	}
	return ""
}

// TestOneTextColumnAtEveryWidth measures the edges of everything on the screen:
// text begins at one column and ends at another, blocks begin at the bar.
func TestOneTextColumnAtEveryWidth(t *testing.T) {
	testenv.WithoutRace(t)
	o := chattest.WithWorld(chattest.Play(
		agent.ContextCounted{Agent: "explainer", Used: 2100, Allocated: 16384},
		agent.Said{Content: strings.Repeat("prose ", 200) + "\n\n---\n\n```go\nshort()\n```\n\n| a | b " +
			"|\n|---|---|\n| c | d |\n"},
		agent.Ended{Answer: "prose", Effects: agent.Effects{}},
	))
	o.NoSidebar = true
	inRig(t, 80, 40, o, func(r *rig) {
		r.ask(strings.Repeat("how ", 60))
		r.keys("ctrl+end")
		for width := 40; width <= 200; width++ {
			r.send(tea.WindowSizeMsg{Width: width, Height: 60})
			lines := strings.Split(r.m.View().Content, "\n")
			column := draw.ColumnOf(width)
			if column.Left < draw.Gutter || width-column.Right < draw.Gutter || column.TextWidth() > draw.Readable {
				t.Fatalf("%d: %+v", width, column)
			}
			ends := map[string]bool{}
			for y, line := range lines {
				bare := ansi.Strip(line)
				text := strings.TrimLeft(bare, " ")
				if text == "" {
					continue
				}
				from, to := draw.Width(bare)-draw.Width(text), draw.Width(bare)
				want, what := column.Text, ""
				switch {
				case y == 0:
					if what = "header"; strings.HasPrefix(text, "▌") {
						want = column.Left
					}
				case strings.HasPrefix(text, "▌"), strings.HasPrefix(text, "▘"):
					want, what = column.Left, "block"
				case strings.HasSuffix(text, "help"):
					from, what = want, "footer" // it is aligned at the right
				case strings.HasSuffix(text, "changed nothing"):
					from, what = want, "effects"
				case strings.HasPrefix(text, "───") && !strings.Contains(text, "┼"):
					what = "rule"
				case strings.HasPrefix(text, "╭"), strings.HasPrefix(text, "╰"):
					what = "code"
				}
				if from != want {
					t.Errorf("%d: row %d begins at %d, not %d: %s", width, y, from, want, bare)
				}
				if what != "" && what != "effects" && to != column.Right || to > column.Right {
					t.Errorf("%d: row %d ends at %d, not %d: %s", width, y, to, column.Right, bare)
				}
				ends[what] = true
			}
			for _, what := range []string{"block", "footer", "effects", "header", "rule", "code"} {
				if !ends[what] {
					t.Fatalf("%d: no %s in\n%s", width, what, r.text())
				}
			}
			if t.Failed() {
				return
			}
		}
	})
}

// TestLayoutAtEveryWidth keeps the words of three scenes at the widths that
// people have.
func TestLayoutAtEveryWidth(t *testing.T) {
	testenv.WithoutRace(t)
	var page strings.Builder
	for _, name := range []string{"no questions yet", "steps run", "the answer is whole"} {
		for _, size := range [][2]int{{40, 9}, {60, 14}, {80, 24}, {100, 30}, {120, 34}, {160, 34}, {200, 40}} {
			inRig(t, size[0], size[1], scenes[name].options(), func(r *rig) {
				scenes[name].play(r)
				fmt.Fprintf(&page, "── %s, %d×%d\n%s", name, size[0], size[1], r.text())
			})
		}
	}
	golden.RequireEqual(t, page.String())
}

// The sidebar has its column from the first question on, whether it has anything to show or not, so that nothing jumps.
func TestSidebarKeepsItsColumn(t *testing.T) {
	o := chattest.WithWorld(chattest.Play(agent.Started{Conversation: "c1"}, agent.Said{Content: "Hello!"},
		agent.Ended{Answer: "Hello!"}))
	inRig(t, 200, 40, o, func(r *rig) {
		if r.m.drawn.size[0] != 200 {
			t.Errorf("the sidebar is there before a question: %d columns", r.m.drawn.size[0])
		}
		r.ask("hello")
		if r.mustShow("Hello!"); r.m.drawn.size[0] != 200-sidebarWidth {
			t.Errorf("the conversation has %d columns", r.m.drawn.size[0])
		}
	})
	o = chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered)...))
	saved := &settings{}
	o.Settings = saved
	inRig(t, 200, 40, o, func(r *rig) {
		r.ask("how do I run more?")
		for _, want := range []string{"false", "true", "false"} {
			r.send(tea.KeyPressMsg{Code: 'b', Mod: tea.ModCtrl})
			r.settle()
			if width := r.m.drawn.size[0]; saved.last != "sidebar "+want || (width == 200) != (want == "false") {
				t.Errorf("%s, the conversation has %d columns", saved.last, width)
			}
		}
	})
	o.NoSidebar = true
	inRig(t, 200, 40, o, func(r *rig) {
		if r.ask("how do I run more?"); r.m.drawn.size[0] != 200 {
			t.Error("there though the user has switched it off")
		}
	})
}
