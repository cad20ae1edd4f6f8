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
	composer := -1
	for y, line := range lines {
		if got := ansi.StringWidth(line); got > width {
			return fmt.Sprintf("line %d is %d cells wide", y, got)
		}
		for _, corners := range [][2]string{{"╭", "╮"}, {"╰", "╯"}} {
			if left, right := strings.Count(line, corners[0]), strings.Count(line, corners[1]); left != right || strings.Index(line, corners[0]) > strings.LastIndex(line, corners[1]) {
				return fmt.Sprintf("line %d has a broken frame", y)
			}
		}
		if strings.HasPrefix(line, "  ╭") {
			composer = y
		}
	}
	cursor := r.m.View().Cursor
	if composer < 0 || !strings.HasPrefix(lines[len(lines)-2], "  ╰ plan") && !strings.HasPrefix(lines[len(lines)-2], "  ╰ / commands") {
		return "" // without a box
	}
	corner := ansi.StringWidth(strings.Split(lines[composer], "╮")[0])
	for y, line := range lines[composer+1 : len(lines)-2] {
		if !strings.HasPrefix(line, "  │ ") || ansi.Cut(line, corner, corner+1) != "│" {
			return fmt.Sprintf("line %d leaves the box of the composer", composer+1+y)
		}
	}
	if cursor != nil && (cursor.X < 4 || cursor.X >= width-3 || cursor.Y <= composer || cursor.Y >= len(lines)-2) {
		return fmt.Sprintf("the cursor stands at %d,%d, outside of the composer", cursor.X, cursor.Y)
	}
	return ""
}

// TestLayoutAtEveryWidth keeps the words of three scenes at the widths that
// people have.
func TestLayoutAtEveryWidth(t *testing.T) {
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

func TestTheSidebarIsThereWhenItHasSomethingToShow(t *testing.T) {
	o := chattest.WithWorld(chattest.Play(agent.Started{Conversation: "c1"}, agent.Said{Content: "Hello!"}, agent.Ended{Answer: "Hello!"}))
	inRig(t, 200, 40, o, func(r *rig) {
		r.ask("hello")
		if r.mustShow("Hello!"); r.m.drawn.size[0] != 200 {
			t.Errorf("an empty sidebar leaves the conversation %d columns", r.m.drawn.size[0])
		}
	})
	o = chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered)...))
	saved := map[string]string{}
	o.SaveSetting = func(name, value string) error { saved[name] = value; return nil }
	inRig(t, 200, 40, o, func(r *rig) {
		r.ask("how do I run more?")
		for _, want := range []string{"false", "true", "false"} {
			r.send(tea.KeyPressMsg{Code: 'b', Mod: tea.ModCtrl})
			r.settle()
			if width := r.m.drawn.size[0]; saved["sidebar"] != want || (width == 200) != (want == "false") {
				t.Errorf("sidebar: %s, the conversation has %d columns", saved["sidebar"], width)
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
