package passage

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What is embedded begins with the place and is no longer than the model reads.
func TestEmbeddedTextFitsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab .\n-ü日,!"))).Draw(t, "text")
		title := rapid.StringN(0, 200, -1).Draw(t, "title")
		window := rapid.SampledFrom([]int{16, 64, 128, 512, 8192}).Draw(t, "window")
		got := Embedded(title, "", text, window)
		if n := EstimateTokens(got); n > window || !utf8.ValidString(got) {
			t.Errorf("a window of %d tokens was given %d: %q", window, n, got)
		}
	})
	text := strings.Repeat("The boiler was serviced in March, and the filter was changed as well. ", 15)
	for window, whole := range map[int]bool{8192: true, 512: true, 256: false, 128: false} {
		got := Embedded("Boiler", "Boiler › Service", text, window)
		if !strings.HasPrefix(got, "Boiler › Service\nThe boiler") || strings.HasSuffix(got, text) != whole {
			t.Errorf("for a window of %d tokens: %q", window, got)
		}
	}
}
