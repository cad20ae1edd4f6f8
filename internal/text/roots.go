package text

import "strings"

// Roots returns the set of the roots of the words in a text, without stop words.
func Roots(s string) map[string]bool {
	set := map[string]bool{}
	for _, tok := range Tokens(s) {
		if !tok.Stop {
			set[Root(tok.Text)] = true
		}
	}
	return set
}

// Root returns the first five letters of a word, so that "task" and "tasks", or
// "mail" and "mailed", match.
func Root(word string) string { return prefix(strings.TrimSuffix(word, "s"), 5) }

// prefix returns the first n runes of s.
func prefix(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
