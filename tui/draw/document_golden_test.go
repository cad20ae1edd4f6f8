package draw_test

import (
	"strings"
	"testing"

	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
)

func TestGoldenPicturesOfANote(t *testing.T) {
	d := draw.ParseDocument(draw.Note)
	boxtest.Golden(t, func(width int, show func(func(boxtest.Look) string)) {
		show(func(l boxtest.Look) string {
			theme := draw.NewTheme(l.Theme, true, l.Coloured, nil)
			var rows []string
			for at := range d.Blocks() {
				rows = append(rows, d.Draw(at, -1, width, theme).Rows...)
			}
			return strings.Join(rows, "\n")
		})
	})
}
