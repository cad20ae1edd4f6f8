package draw

import (
	"slices"
	"strings"
	"testing"
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
		{"größe", "oe", ""},
	} {
		var marked strings.Builder
		lower := lowered(c.text)
		for _, at := range Matched(c.text, c.typed) {
			marked.WriteByte(lower[at])
		}
		if fits := Match(c.text, c.typed) > 0; fits != (c.marked != "" || c.typed == "") || marked.String() != c.marked {
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
	for typed, fits := range map[string]bool{"mo": true, "model": true, "choose mo": true, "choose pull": false, "chmo": false, "theme": false, "": true} {
		if got := MatchRow("/model", "Choose the model of this run", typed) > 0; got != fits {
			t.Errorf("%q: %v", typed, got)
		}
	}
}

func FuzzMarkedCharactersWereTyped(f *testing.F) {
	f.Add("Marathon training", "mt")
	f.Add("İstanbul ß", "i")
	f.Fuzz(func(t *testing.T, text, typed string) {
		score, lower := Match(text, typed), lowered(text)
		for _, at := range Matched(text, typed) {
			if at >= len(lower) || score == 0 && len(strings.Fields(typed)) < 2 {
				t.Fatalf("%d marked of %q, score %d", at, lower, score)
			}
		}
	})
}

func BenchmarkScore(b *testing.B) {
	for b.Loop() {
		Match("projects/house/2026-11-20 the garden in march.md\x00the garden in march", "ghmar")
	}
}
