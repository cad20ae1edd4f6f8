package text

import (
	"strings"
	"testing"
	"unicode"
)

// FuzzBlocks checks that the blocks of any text are a division of it into whole lines, and that its parts have, in
// order and once, every word outside tables' rules and the lines of fences.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{
		"# Head\ntext\n\n- a\n  - b\n\n  more\n- c\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
		"> a\n> ```sh\n> b\n> ```\n> c",
		"````\n```\n~~~\n````\n", "[a]: b\n\ntext\n===\n", "\t- x\n%% y\n%%", "> - a\n> - b\n\n1. c\n   ```\n   d",
		"a\n---\n\n<!-- b\n\nc -->\n", strings.Repeat("> ", 60) + "deep\n\nnext",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, b := range Blocks(s) {
			if b.Start != at || b.End <= b.Start || b.Start > 0 && s[b.Start-1] != '\n' {
				t.Fatalf("%q: %+v begins after %d", s, b, at)
			}
			at = b.End
		}
		if at != len(s) && strings.TrimSpace(s) != "" {
			t.Fatalf("%q ends at %d", s, at)
		}
		at = 0
		for _, part := range Parts(s) {
			if part.Start < at || part.End <= part.Start || part.End > len(s) {
				t.Fatalf("%q: %+v begins before %d", s, part, at)
			}
			if left := s[at:part.Start]; strings.ContainsFunc(left, unicode.IsLetter) &&
				!strings.ContainsAny(left, "`~") {
				t.Fatalf("%q: no part has %q", s, left)
			}
			at = part.End
		}
	})
}
