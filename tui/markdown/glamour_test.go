package markdown

import (
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/glamour/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/layout"
)

// glamourRender draws a text with glamour, the renderer that this package
// stands in for while an answer streams.
func glamourRender(tb testing.TB, src string, width int) string {
	tb.Helper()
	r, err := glamour.NewTermRenderer(glamour.WithStandardStyle("dark"), glamour.WithWordWrap(width))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := r.Render(src)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestNoWordThatGlamourShowsIsMissing draws plain constructs with both.
func TestNoWordThatGlamourShowsIsMissing(t *testing.T) {
	for _, kind := range []string{"prose", "list", "nested", "fence", "table", "quote"} {
		src := answer(kind, 500)
		if kind == "prose" { // glamour shows whole addresses, we show hosts
			src = strings.NewReplacer("](https://runs.example/", "](runs", ")", ")").Replace(src)
		}
		ours := letters.FindAllString(plain(Render(src, 400, layout.Palette{}.Theme())), -1)
		slices.Sort(ours)
		for _, word := range letters.FindAllString(ansi.Strip(glamourRender(t, src, 400)), -1) {
			if _, ok := slices.BinarySearch(ours, word); !ok {
				t.Errorf("%s: glamour shows %q", kind, word)
			}
		}
	}
}

// BenchmarkGlamour reports how many times glamour's drawing of an answer of
// 8,000 tokens takes as long as ours, and as many bytes.
func BenchmarkGlamour(b *testing.B) {
	for _, kind := range []string{"prose", "list", "fence", "table", "mixed"} {
		b.Run(kind, func(b *testing.B) {
			src := answer(kind, tokens)
			var times, bytes []float64
			for b.Loop() {
				begin := time.Now()
				theirs := glamourRender(b, src, 100)
				middle := time.Now()
				ours := strings.Join(Render(src, 100, darkPalette.Theme()), "\n")
				times = append(times, float64(middle.Sub(begin))/float64(time.Since(middle)))
				bytes = append(bytes, float64(len(theirs))/float64(len(ours)))
			}
			b.ReportMetric(median(times), "x-time")
			b.ReportMetric(median(bytes), "x-bytes")
		})
	}
}
