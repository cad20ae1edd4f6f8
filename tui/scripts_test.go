package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
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
			onTour(t, width, 16, func(tr *tour) {
				r := tr.rig
				for i, text := range inAllScripts() {
					what := fmt.Sprintf("text %d %q", i, text)
					r.send(tea.PasteMsg{Content: text})
					r.fits(what, width, 16)
					r.behind(what, text, width)
					r.m.composer.clear()
					for _, said := range []item{&question{text: text}, keptAnswer(text, ""), &notice{text}, &failure{text: text, hint: text}, &page{text}} {
						r.m.transcript.add(said)
					}
					r.m.draw()
					r.fits(what+" said", width, 16)
					tr.clear()
					tr.show(text, i, 12, func(panel string) {
						r.fits(what+", "+panel, width, 16)
						r.fitsTerminal(what+", "+panel, width, 16)
					})
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
