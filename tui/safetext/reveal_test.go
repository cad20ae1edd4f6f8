package safetext

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lifehub/internal/hostile"
)

// unshown returns the first invisible character of s that shown does not reveal.
func unshown(s, shown string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for i, r := range s {
		sign := fmt.Sprintf("⟨U+%04X⟩", r)
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			sign = fmt.Sprintf("⟨byte %02X⟩", s[i])
		case !Hidden(r) && !unicode.In(r, unicode.Mn, unicode.Me):
			continue
		case r < 0x20:
			sign = string(0x2400 + r)
		case r == 0x7f:
			sign = "␡"
		}
		if strings.Count(s, string(r)) > strings.Count(shown, string(r))+strings.Count(shown, sign) &&
			strings.Count(s, s[i:i+1]) > strings.Count(shown, sign) {
			return fmt.Sprintf("%q at %d", s[i:i+size], i)
		}
	}
	return ""
}

var revealing = map[string]func(string) string{"Reveal": Reveal, "Visible": Visible}

func TestEveryHiddenCharacterIsShown(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, s string) {
		for name, way := range revealing {
			shown := way(s)
			if lost := unshown(s, shown); lost != "" {
				t.Errorf("%s(%q) = %q: it hides %s", name, s, shown, lost)
			}
			if why := fault(strings.ReplaceAll(shown, "\t", "")); why != "" {
				t.Errorf("%s(%q) = %q: %s", name, s, shown, why)
			}
		}
	}
	for _, p := range hostile.Payloads {
		check(t, p.Text)
		check(t, strings.ReplaceAll(p.Text, "\n", " "))
	}
	for r := rune(0); r < 0x110000; r++ {
		if utf8.ValidRune(r) && (Hidden(r) || unicode.In(r, unicode.Mn, unicode.Me)) {
			check(t, "a"+string(r)+"b")
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyText.Draw(t, "s")) })
}

func TestVisibleLeavesTextAsItIs(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\n\n    code\r\nпривет": "a\tb\n\n    code\nпривет",
		"می\u200cخواهم 👩\u200d👧 ❤\ufe0f " + strings.Repeat(" ", 40): "می\u200cخواهم 👩\u200d👧 ❤\ufe0f " +
			strings.Repeat(" ", 40),
		"раypal":                    "раypal",
		"a\x1b[31mb\x00\u009bc\xff": "a␛[31mb␀⟨U+009B⟩c⟨byte FF⟩",
		"a\rb\u2028c\u200bd\u200de": "a␍b⟨U+2028⟩c⟨U+200B⟩d⟨U+200D⟩e",
		"hi\U000e0069":              "hi⟨U+E0069⟩",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}
