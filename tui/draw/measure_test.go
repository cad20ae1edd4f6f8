package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTextIsMeasuredAsTheTerminalShowsIt(t *testing.T) {
	defer ByCharacters(false)
	for text, want := range map[string]struct{ clusters, characters int }{
		"plain":                            {5, 5},
		"漢字":                               {4, 4},
		"हिन्दी":                           {2, 5},
		"👩\u200d👧":                         {2, 4},
		"👍🏽":                               {2, 4},
		"❤\ufe0f":                          {2, 1},
		"🇩🇪":                               {2, 2},
		"e\u0301":                          {1, 1},
		"\x1b[1mbold\x1b[m":                {4, 4},
		"\x1b]8;;https://a.b\ax\x1b]8;;\a": {1, 1},
	} {
		ByCharacters(false)
		if got := Width(text); got != want.clusters {
			t.Errorf("%q takes %d cells, want %d", text, got, want.clusters)
		}
		if !ByCharacters(true) || ByCharacters(true) {
			t.Error("it is news once")
		}
		if got := Width(text); got != want.characters {
			t.Errorf("%q takes %d cells by its characters, want %d", text, got, want.characters)
		}
	}
}

func TestTextIsCutByItsCells(t *testing.T) {
	defer ByCharacters(false)
	for _, byCharacters := range []bool{false, true} {
		ByCharacters(byCharacters)
		for _, text := range []string{
			"plain text", "漢字かな交じり文", "1\ufe0f\u20e3#\ufe0f\u20e32\ufe0f\u20e3", "हिन्दी क्षत्रिय", "👩\u200d👧👍🏽❤\ufe0f",
			"a漢\u0301b", "\x1b[1mbold 漢字\x1b[m and \x1b]8;;https://a.b\alink\x1b]8;;\a", "\u0301", "",
		} {
			for most := range 14 {
				got := Fit(text, most, "…")
				if Width(got) > most || Width(text) <= most && got != text {
					t.Errorf("%q cut to %d is %q of %d cells", text, most, got, Width(got))
				}
				if strings.Count(got, "\x1b") != strings.Count(text, "\x1b") {
					t.Errorf("%q cut to %d is %q: a sequence is gone", text, most, got)
				}
				if most == 0 {
					continue
				}
				lines := Lines(text, most)
				if strings.Join(lines, "") != text {
					t.Errorf("%q in lines of %d is %q", text, most, lines)
				}
				for _, line := range lines {
					if _, first := ansi.FirstGraphemeCluster(line, Method()); Width(line) > most &&
						Width(line) > first {
						t.Errorf("%q in lines of %d has %q of %d cells", text, most, line, Width(line))
					}
				}
			}
		}
	}
}
