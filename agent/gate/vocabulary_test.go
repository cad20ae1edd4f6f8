package gate

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// What the user typed may go out unchanged, and any text can be checked.
func TestTypedTextMayGoOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed := strings.TrimSpace(norm.NFC.String(rapid.String().Draw(t, "typed")))
		o := outbound{user: newVocabulary([]string{typed, "other words"}, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)), used: map[string]int{}}
		if o.text(typed); len(o.new)+len(o.deviations) > 0 {
			t.Fatalf("new %q, deviations %q", o.new, o.deviations)
		}
		text, whole := rapid.String().Draw(t, "text"), ""
		for between, word := range wordsBetween(text) {
			whole += between + word
		}
		if o.text(text); whole != text {
			t.Fatalf("%q is cut into %q", text, whole)
		}
	})
}
