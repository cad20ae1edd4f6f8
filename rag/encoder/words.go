package encoder

import (
	"iter"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words iterates over the words of a text as in the table: in lower case, including
// apostrophes within words (don't, army's).
func words(s string) iter.Seq[string] {
	s = strings.ReplaceAll(strings.ToLower(norm.NFKC.String(s)), "’", "'")
	return func(yield func(string) bool) {
		start, apostrophe := -1, -1
		for i, r := range s + " " {
			switch {
			case unicode.IsLetter(r) || unicode.IsNumber(r):
				if start < 0 {
					start = i
				}
				continue
			case start < 0:
				continue
			case r == '\'' && apostrophe < 0:
				apostrophe = i
				continue
			}
			end := i
			if apostrophe == end-1 {
				end = apostrophe // a closing quotation mark
			}
			if !yield(s[start:end]) {
				return
			}
			start, apostrophe = -1, -1
		}
	}
}
