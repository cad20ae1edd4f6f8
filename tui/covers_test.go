package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
)

// Whatever covers the conversation is in one place, over the same dimmed lines: in the middle of a roomy window, else
// at the lower edge.
func TestEverythingCoversTheConversationInOnePlace(t *testing.T) {
	covers := map[string]struct {
		options func() chat.Options
		keys    []string
		title   string
	}{
		"dialog": {
			func() chat.Options { return chattest.WithWorld(chattest.Hold(chattest.TaskAsked)) }, nil,
			"Allow add_task?",
		},
		"palette": {finished, []string{"ctrl+p"}, "Commands"},
		"panel":   {chattest.WithEverything, []string{"ctrl+r"}, "Earlier prompts"},
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		for name, cover := range covers {
			inRig(t, size[0], size[1], cover.options(), func(r *rig) {
				r.ask("how often do I run?")
				r.pass(dialog.QuietPeriod)
				r.keys(cover.keys...)
				top, bottom, asked := -1, -1, -1
				lines := strings.Split(r.m.View().Content, "\n")
				for at, line := range lines {
					switch line = ansi.Strip(line); {
					case strings.Contains(line, "╭ "+cover.title):
						top = at
					case top >= 0 && bottom < 0 && strings.Contains(line, "╰"):
						bottom = at
					case top < 0 && strings.Contains(line, "how often do I run?"):
						asked = at
					}
				}
				from, to := r.m.drawn.bodyTop, bodyEnd(lines)
				above, below := top-from, to-bottom-1
				if roomy := size[0] > 100; top < 0 || roomy &&
					(above-below > 1 || below-above > 1) || !roomy && below != 0 {
					t.Errorf("%s at %v: %d lines above it, %d below:\n%s", name, size, above, below, r.text())
				}
				if asked >= from && ansi.Strip(lines[asked]) != lines[asked] &&
					lines[asked] != draw.Dimmed([]string{lines[asked]}, r.m.theme)[0] {
					t.Errorf("%s at %v: what is behind it is not dimmed: %q", name, size, lines[asked])
				}
			})
		}
	}
}

// bodyEnd returns the line on which the composer, with the air above it, begins.
func bodyEnd(lines []string) int {
	at := len(lines) - 1
	for !strings.HasPrefix(strings.TrimLeft(ansi.Strip(lines[at]), " "), "▌") {
		at--
	}
	for strings.HasPrefix(strings.TrimLeft(ansi.Strip(lines[at-1]), " "), "▌") {
		at--
	}
	if len(lines) >= 28 { // rows.Air
		at--
	}
	return at
}

// The palette names the group of each command while it is filtered, and in a narrow window only the titles remain.
func TestPaletteKeepsGroupsAndTitles(t *testing.T) {
	for _, width := range []int{120, 50} {
		inRig(t, width, 40, chattest.WithEverything(), func(r *rig) {
			r.keys("/mod")
			for _, c := range r.m.lists.Palette.Rows {
				r.mustShow("│ " + c.Group + " ")
				r.mustShow(c.Title())
				if got := strings.Contains(r.text(), "/"+c.Name); got != (width >= 60) {
					t.Errorf("%d columns: /%s is shown: %v", width, c.Name, got)
				}
			}
			if len(r.m.lists.Palette.Rows) < 2 {
				t.Errorf("found %+v", r.m.lists.Palette.Rows)
			}
		})
	}
}

// A verdict is complete in a narrow window.
func TestVerdictsAreNotCut(t *testing.T) {
	citation := agent.Citation{
		N: 1, Path: "running/a-plan-with-a-long-name.md", Line: 25, EndLine: 25,
		Quote: "Never two hard days in a row.", Verdict: agent.NotFound, Detail: "but in [2]",
	}
	for _, width := range []int{40, 80} {
		inRig(t, width, 24, chattest.WithWorld(chattest.Play(
			agent.Said{Content: "Run daily [1]."}, agent.Cited{
				Citation: citation,
				Source:   agent.Source{N: 1, Path: citation.Path, Line: 25},
			}, agent.Ended{Answer: "Run daily [1]."})),
			func(r *rig) {
				r.ask("how?")
				for _, keys := range [][]string{nil, {"tab"}} {
					r.keys(keys...)
					shown := strings.Join(strings.Fields(r.text()), " ")
					if !strings.Contains(shown, citation.Label()) {
						t.Errorf("%d columns: %q is not complete:\n%s", width, citation.Label(), r.text())
					}
				}
			})
	}
}
