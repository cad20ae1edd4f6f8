package passage

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestWindowsHoldTheWholePassage: a model with a small window still gets every word of
// a passage.
func TestWindowsHoldTheWholePassage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab .\n-ü日,!"))).Draw(t, "text")
		title := rapid.StringN(0, 200, -1).Draw(t, "title")
		window := rapid.SampledFrom([]int{16, 64, 128, 512, 8192}).Draw(t, "window")
		bare := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		all, texts := "", Embedded(title, "", text, window)
		for _, part := range texts {
			place, own, found := strings.Cut(part, "\n")
			if title == "" || !found || !strings.HasPrefix(title, strings.TrimSuffix(place, "…")) {
				own = part
			}
			all += own
		}
		if len(texts) > 1 && len(texts) < MostWindows && !strings.Contains(title, "\n") && bare(all) != bare(text) {
			t.Fatalf("the windows hold %q of %q", all, text)
		}
	})
}

func TestWindowsFitTheModel(t *testing.T) {
	text := strings.Repeat("The boiler was serviced in March, and the filter was changed as well. ", 15)
	for window, want := range map[int]int{8192: 1, 512: 1, 256: 2, 128: 3} {
		texts := Embedded("Boiler", "Boiler › Service", text, window)
		if len(texts) != want {
			t.Errorf("a window of %d tokens: %d texts, want %d", window, len(texts), want)
		}
		for _, part := range texts {
			if !strings.HasPrefix(part, "Boiler › Service\n") {
				t.Errorf("a window without its headings: %q", part)
			}
			if n := EstimateTokens(part); n > window {
				t.Errorf("a window of %d tokens was given %d", window, n)
			}
		}
	}
}
