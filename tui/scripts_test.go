package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
	"lifehub/tui/draw"
	"lifehub/tui/transcript"
)

// inAllScripts are 200 texts of letters that are wide, joined or written from
// right to left, cut at all lengths.
func inAllScripts() []string {
	seeds := []string{
		"漢字かな交じり文、中文字符", "1\ufe0f\u20e3#\ufe0f\u20e3❤\ufe0f™\ufe0f", "குழந்தை நமক্ষে ស្រឡាញ់", "한국어 조합형 글자",
		"👩‍👩‍👧‍👦👍🏽🏳️‍🌈", "🇩🇪🇫🇷🇯🇵", "e\u0301o\u0308u\u0302\u0323", "שלום עולם", "مرحبا بالعالم",
		"ภาษาไทยไม่มีช่องว่าง", "हिन्दी क्षत्रिय", "ab漢👍c",
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

// TestTextInAnyScriptFitsTheWindow puts such texts where users and notes can:
// no row is wider than the window, and the cursor stands behind what was typed.
func TestTextInAnyScriptFitsTheWindow(t *testing.T) {
	testenv.WithoutRace(t)
	for i, width := range []int{20, 41, 100, 24, 121} {
		byCharacters := i >= 3
		t.Run(fmt.Sprint(width, byCharacters), func(t *testing.T) {
			draw.ByCharacters(byCharacters)
			defer draw.ByCharacters(false)
			onTour(t, width, 16, func(tr *tour) {
				r := tr.rig
				for i, text := range inAllScripts() {
					what := fmt.Sprintf("text %d %q", i, text)
					r.send(tea.PasteMsg{Content: text})
					r.fits(what, width, 16)
					if !byCharacters { // the terminal model does not add up
						r.behind(what, text, width)
					}
					r.m.composer.Clear()
					for _, said := range []transcript.Item{
						&transcript.Question{Text: text}, answered(text, ""),
						&transcript.Notice{Text: text}, &transcript.Failure{Text: text, Hint: text},
						&transcript.Page{Source: text},
					} {
						r.m.transcript.Add(said)
					}
					r.m.draw()
					r.fits(what+" said", width, 16)
					tr.clear()
					tr.show(text, i, 12, func(panel string) {
						r.fits(what+", "+panel, width, 16)
						if !byCharacters {
							r.fitsTerminal(what+", "+panel, width, 16)
						}
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
	row := strings.TrimRight(lines[cursor.Y], " │")
	screen := r.terminal(width, 1)
	screen.WriteString(row)
	if at := screen.CursorPosition().X; cursor.X < at && at < width-1 {
		r.t.Errorf("%s: the cursor is at %d, the text ends at %d: %q", what, cursor.X, at, row)
	}
}

// TestCursorFollowsTheTypedText also where the terminal gives each
// character room of its own, and hears late that it does not.
func TestCursorFollowsTheTypedText(t *testing.T) {
	defer draw.ByCharacters(false)
	for text, want := range map[string]struct{ characters, clusters int }{
		"plain": {5, 5}, "हिन्दी": {5, 2}, "👩\u200d👧!": {5, 3}, "👍🏽": {4, 2}, "❤\ufe0f": {1, 2}, "漢字": {4, 4},
	} {
		draw.ByCharacters(true)
		inRig(t, 60, 16, chattest.WithWorld(chattest.Hold()), func(r *rig) {
			r.m.transcript.Add(&transcript.Notice{Text: strings.Repeat(text+" ", 60)})
			r.send(tea.PasteMsg{Content: text})
			before := r.m.View().Cursor.X
			r.fits("by characters", 60, 16)
			r.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeNotRecognized})
			if r.m.View().Cursor.X != before {
				t.Error("a terminal that does not know the mode changed the picture")
			}
			r.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
			r.fits("by clusters", 60, 16)
			if after := r.m.View().Cursor.X; before != want.characters+4 || after != want.clusters+4 {
				t.Errorf("%q: the cursor is at %d, then %d, want %+v behind the edge of the box",
					text, before, after, want)
			}
		})
	}
}
