package draw

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTypedCharactersMatchInOrder(t *testing.T) {
	for _, c := range []struct{ text, typed, marked string }{
		{"conversations", "conv", "conv"},
		{"conversations", "cvs", "cvs"},
		{"add_task", "addtsk", "addtsk"},
		{"raise my weekly distance", "rwd", "rwd"},
		{"Marathon training", "train mar", "martrain"},
		{"Zürich im März", "märz", "märz"},
		{"daily/2026-11-20.md", "1120", "1120"},
		{"a test", "test", "test"},
		{"abc xbx", "bx", "bx"},
		{"anything", "", ""},
		{"zebra", "arbez", ""},
		{"When do I fly to Lisbon?", "wfl", "wfl"},
		{"one two", "nw", ""}, // inside another word a letter is no match
		{"größe", "oe", "öe"},
		{"people/Tomás.md", "tomas", "tomás"},
		{"people/Toma\u0301s.md", "tomas", "toma\u0301s"},
		{"cumpleaños", "cumpleanos", "cumpleaños"},
		{"Tomas", "tomás", "tomas"},
		{"Straße 4", "strasse", "straße"},
		{"İzmir plan", "plan", "plan"},
	} {
		var marked strings.Builder
		lower := strings.ToLower(c.text)
		if len(lower) != len(c.text) {
			lower = c.text
		}
		for _, at := range Matched(c.text, c.typed) {
			marked.WriteByte(lower[at])
		}
		if fits := Match(c.text, c.typed) > 0; fits != (c.marked != "" || c.typed == "") ||
			marked.String() != c.marked {
			t.Errorf("%q in %q: fits %v, marked %q, want %q", c.typed, c.text, fits, marked.String(), c.marked)
		}
	}
}

func TestBetterMatchComesFirst(t *testing.T) {
	for typed, names := range map[string][]string{
		"mod":  {"model", "commode"},
		"mode": {"mode", "model"},
		"fit":  {"fitness.md", "log/fitness.md", "file: the log", "benefit.md"},
		"wd":   {"weekly distance", "word"},
	} {
		sorted := slices.Clone(names)
		slices.Reverse(sorted)
		slices.SortStableFunc(sorted, func(a, b string) int { return Match(b, typed) - Match(a, typed) })
		for i, name := range sorted {
			if Match(name, typed) == 0 {
				sorted = sorted[:i]
				break
			}
		}
		if !slices.Equal(sorted, names[:len(sorted)]) || len(sorted) < 2 {
			t.Errorf("%s: %q, want %q", typed, sorted, names)
		}
	}
}

func TestRowMatchesByNameOrDetail(t *testing.T) {
	for typed, fits := range map[string]bool{
		"mo": true, "model": true, "choose mo": true, "choose model": true,
		"choose pull": false, "chmo": false, "theme": false, "thé": true, "": true,
	} {
		if got := MatchRow("/model", "Choose the módel of this run", typed) > 0; got != fits {
			t.Errorf("%q: %v", typed, got)
		}
	}
}

func FuzzMarkedCharactersWereTyped(f *testing.F) {
	f.Add("Marathon training", "mt")
	f.Add("İstanbul ß", "i")
	f.Add("Toma\u0301s\xff 각", "tomás s")
	f.Fuzz(func(t *testing.T, text, typed string) {
		score, marked := Match(text, typed), Matched(text, typed)
		for _, at := range marked {
			if at >= len(text) || score == 0 && len(strings.Fields(folded(typed, nil))) < 2 {
				t.Fatalf("%d marked of %q, score %d", at, text, score)
			}
			for next := at + 1; next < len(text) && utf8.ValidString(text) && !utf8.RuneStart(text[next]); next++ {
				if _, all := slices.BinarySearch(marked, next); !all && next < maxMatched {
					t.Fatalf("a part of a character is marked at %d of %q", at, text)
				}
			}
		}
	})
}

func BenchmarkScore(b *testing.B) {
	for b.Loop() {
		Match("projects/house/2026-11-20 the garden in march.md\x00the garden in march", "ghmar")
	}
}
