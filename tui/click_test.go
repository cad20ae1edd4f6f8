package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
)

// clickOn clicks where a text first stands.
func (r *rig) clickOn(text string) {
	r.t.Helper()
	for y, line := range strings.Split(r.text(), "\n") {
		if x := strings.Index(line, text); x >= 0 {
			r.click(x, y)
			return
		}
	}
	r.t.Fatalf("%s is not on the screen:\n%s", text, r.text())
}

func TestAClickChoosesARowOfAPanel(t *testing.T) {
	for _, size := range [][2]int{{140, 40}, {80, 24}, {23, 12}} {
		inRig(t, size[0], size[1], chattest.WithEverything(), func(r *rig) {
			r.keys("/theme", "enter")
			r.mustShow("▌ auto")
			r.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
			r.mustShow("▌ dark")
			r.clickOn("dracula")
			r.mustShow("▌ dracula")
			r.click(1, 0) // nothing is there
			r.mustShow("▌ dracula")
			r.clickOn("dracula")
			r.mustNotShow("▌ dracula")
			if r.m.Options.Theme.Name != "dracula" {
				t.Errorf("%v: the theme is %q", size, r.m.Options.Theme.Name)
			}
		})
	}
}

func TestAClickTakesACommandOrAName(t *testing.T) {
	for _, size := range [][2]int{{140, 40}, {23, 12}} {
		inRig(t, size[0], size[1], chattest.WithLibrary(), func(r *rig) {
			r.keys("/")
			r.clickOn("Copy the")
			r.mustShow("▌ C")
			r.clickOn("Copy the")
			if got := r.m.composer.Text(); got != "/copy " {
				t.Errorf("%v: the composer holds %q", size, got)
			}
			r.m.composer.Clear()
			r.keys("see @")
			r.clickOn("@fitness")
			r.clickOn("@fitness")
			if got := r.m.composer.Text(); got != "see @fitness.md " {
				t.Errorf("%v: the composer holds %q", size, got)
			}
		})
	}
}

// A click in the sidebar opens the source under it, and chooses nothing that is to
// the left.
func TestAClickInTheSidebarOpensASource(t *testing.T) {
	inRig(t, 160, 40, withNotes(), func(r *rig) {
		r.ask("how do I run more?")
		if r.m.drawn.size[0] >= 160 {
			t.Fatalf("there is no sidebar:\n%s", r.text())
		}
		opened := 0
		for y, line := range strings.Split(r.text(), "\n") {
			beside, source := "", false
			if cells := []rune(line); len(cells) > r.m.drawn.size[0] {
				beside = string(cells[r.m.drawn.size[0]:])
				source = strings.ContainsAny(beside, "①②③")
			}
			if r.click(150, y); r.m.focused {
				t.Fatalf("a click in line %d chose item %d:\n%s", y, r.m.transcript.Chosen, r.text())
			}
			if source && r.m.panel == nil {
				t.Errorf("a click on %q opens nothing", beside)
			}
			if r.m.panel != nil {
				opened++
				r.keys("esc")
			}
		}
		if opened == 0 {
			t.Errorf("no source was opened:\n%s", r.text())
		}
	})
}

func TestAClickOnAPassageOpensItsNote(t *testing.T) {
	o := withNotes()
	source := agent.Source{
		N: 1, Vault: "/notes", Path: "fitness.md", Line: 12, EndLine: 12, Heading: "Running › Plan",
		Text: "Run three times a week.",
	}
	o.Assistant = chattest.Play(
		agent.Said{Content: "Here they are.\n\n**Running › Plan** · `fitness.md:12`\n> Run **three times** a week."},
		agent.Cited{Citation: agent.Citation{
			N: 1, Path: "fitness.md", Line: 12, EndLine: 12, Quote: source.Text,
			Verdict: agent.Cites,
		}, Source: source},
		agent.Ended{Effects: agent.Effects{}},
	)
	inRig(t, 100, 34, o, func(r *rig) {
		r.ask("how often do I run?")
		r.mustShow("Running › Plan · fitness.md:12\n    │ Run three times a week.")
		r.mustNotShow("[1] fitness.md:12") // the passage has its place already
		r.clickOn("Here they are.")
		r.mustNotShow("┃")
		r.clickOn("Run three times")
		r.mustShow("┃ Run three times a week.")
	})
}
