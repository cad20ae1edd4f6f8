package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"lifehub/agent"
)

// inAllScripts are 200 texts of letters that are wide, joined or written from
// right to left, cut at all lengths.
func inAllScripts() []string {
	seeds := []string{
		"漢字かな交じり文、中文字符", "한국어 조합형 글자", "👩‍👩‍👧‍👦👍🏽🏳️‍🌈", "🇩🇪🇫🇷🇯🇵", "e\u0301o\u0308u\u0302\u0323", "שלום עולם", "مرحبا بالعالم", "ภาษาไทยไม่มีช่องว่าง", "हिन्दी क्षत्रिय", "ab漢👍c",
	}
	var texts []string
	for n := 1; len(texts) < 200; n++ {
		for _, seed := range seeds {
			runes := []rune(strings.Repeat(seed+" ", n))
			texts = append(texts, string(runes[:min(len(runes), 7*n)]))
		}
	}
	return texts
}

// TestTextInAnyScriptFitsEveryPlace puts such texts where users and notes can:
// no row is wider than the window, and the cursor stands behind what was typed.
func TestTextInAnyScriptFitsEveryPlace(t *testing.T) {
	for _, width := range []int{20, 41, 60, 100, 160} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			o := withLibrary()
			var text string
			o.Mentions = func(context.Context, string) ([]Mention, error) {
				return []Mention{{Name: "a" + text, Detail: text}, {Name: "b", Detail: text}}, nil
			}
			o.Preview = func(context.Context, string) string { return text + "\n" + text }
			rack := &shop{}
			o.Servers = rack
			o.Figures = func(context.Context, string) ([]agent.Figures, error) {
				return []agent.Figures{{Of: "c.1", Title: text, Turns: 1}}, nil
			}
			inRig(t, width, 16, o, func(r *rig) {
				for i, one := range inAllScripts() {
					text = one
					rack.list = []Server{{Name: text, State: text, Said: text}}
					what := fmt.Sprintf("text %d %q", i, text)
					r.m.composer.clear()
					r.send(tea.PasteMsg{Content: text})
					r.fits(what, width, 16)
					r.behind(what, text, width)
					r.m.composer.clear()
					r.keys("@a")
					r.fits(what+" named", width, 16)
					r.m.composer.clear()
					r.m.transcript.clear()
					for _, said := range []item{&question{text: text}, keptAnswer(text, ""), &notice{text}, &failure{text: text, hint: text}, &page{text}} {
						r.m.transcript.add(said)
					}
					r.m.draw()
					r.fits(what+" said", width, 16)
					if i%8 != 0 {
						continue // opening panels takes long
					}
					r.keys("/stats turn", "enter")
					r.fits(what+" figures", width, 16)
					r.keys("esc", "/mcp", "enter")
					r.fits(what+" servers", width, 16)
					r.keys("esc", "esc")
				}
			})
		})
	}
}

// behind checks with a terminal that the cursor stands right of the last letter
// of the composer, or at the beginning of the next line.
func (r *rig) behind(what, text string, width int) {
	r.t.Helper()
	cursor := r.m.View().Cursor
	if cursor == nil {
		r.t.Errorf("%s: no cursor", what)
		return
	}
	lines := strings.Split(ansi.Strip(r.m.View().Content), "\n")
	row := strings.TrimRight(lines[cursor.Y], " ")
	screen := vt.NewEmulator(width, 1)
	screen.WriteString(row)
	if at := screen.CursorPosition().X; cursor.X < at && at < width-1 {
		r.t.Errorf("%s: the cursor is at %d, the text ends at %d: %q", what, cursor.X, at, row)
	}
}
