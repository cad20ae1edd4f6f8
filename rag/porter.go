package rag

import "strings"

// porter reduces an English word to its stem by Porter's algorithm of 1980,
// as SQLite's own "porter" tokenizer does, so that figures compare. Words of
// other scripts pass unchanged.
func porter(word string) string {
	if len(word) < 3 || len(word) > 64 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; c < 'a' || c > 'z' {
			return word
		}
	}
	w := word
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		w = w[:len(w)-1]
	}
	w = porterPast(w)
	if n := len(w) - 1; n > 0 && w[n] == 'y' && hasVowel(w[:n]) {
		w = w[:n] + "i"
	}
	w = swapSuffix(w, porterStep2, 0)
	w = swapSuffix(w, porterStep3, 0)
	w = porterStep4(w)
	if n := len(w) - 1; n > 0 && w[n] == 'e' {
		if m := measure(w[:n]); m > 1 || (m == 1 && !endsShort(w[:n])) {
			w = w[:n]
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w[:len(w)-1]) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// porterPast takes off -eed, -ed and -ing (step 1b).
func porterPast(w string) string {
	var stem string
	switch {
	case len(w) > 3 && strings.HasSuffix(w, "eed"):
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
		return w
	case strings.HasSuffix(w, "ed") && hasVowel(w[:len(w)-2]):
		stem = w[:len(w)-2]
	case strings.HasSuffix(w, "ing") && hasVowel(w[:len(w)-3]):
		stem = w[:len(w)-3]
	default:
		return w
	}
	n := len(stem)
	switch {
	case strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "bl"), strings.HasSuffix(stem, "iz"):
		return stem + "e"
	case n > 1 && stem[n-1] == stem[n-2] && !vowelAt(stem, n-1) && !strings.ContainsRune("lsz", rune(stem[n-1])):
		return stem[:n-1]
	case measure(stem) == 1 && endsShort(stem):
		return stem + "e"
	}
	return stem
}

var porterStep2 = [][2]string{
	{"ational", "ate"},
	{"tional", "tion"},
	{"enci", "ence"},
	{"anci", "ance"},
	{"izer", "ize"},
	{"logi", "log"},
	{"bli", "ble"},
	{"alli", "al"},
	{"entli", "ent"},
	{"eli", "e"},
	{"ousli", "ous"},
	{"ization", "ize"},
	{"ation", "ate"},
	{"ator", "ate"},
	{"alism", "al"},
	{"iveness", "ive"},
	{"fulness", "ful"},
	{"ousness", "ous"},
	{"aliti", "al"},
	{"iviti", "ive"},
	{"biliti", "ble"},
}

var porterStep3 = [][2]string{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

var porterStep4Suffixes = []string{
	"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
	"al", "er", "ic", "ou",
}

func swapSuffix(w string, table [][2]string, atLeast int) string {
	for _, rule := range table {
		if stem, ok := strings.CutSuffix(w, rule[0]); ok {
			if measure(stem) > atLeast {
				return stem + rule[1]
			}
			return w
		}
	}
	return w
}

func porterStep4(w string) string {
	for _, suffix := range porterStep4Suffixes {
		stem, ok := strings.CutSuffix(w, suffix)
		if !ok {
			continue
		}
		if measure(stem) > 1 && (suffix != "ion" || strings.HasSuffix(stem, "s") || strings.HasSuffix(stem, "t")) {
			return stem
		}
		return w
	}
	return w
}

// vowelAt tells whether w[i] is a vowel; y is one after a consonant.
func vowelAt(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !vowelAt(w, i-1)
	}
	return false
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if vowelAt(w, i) {
			return true
		}
	}
	return false
}

// measure counts the vowel-consonant sequences of w.
func measure(w string) int {
	count, previous := 0, false
	for i := range len(w) {
		vowel := vowelAt(w, i)
		if previous && !vowel {
			count++
		}
		previous = vowel
	}
	return count
}

// endsShort tells whether w ends consonant, vowel, consonant, the last not w,
// x or y.
func endsShort(w string) bool {
	n := len(w)
	return n >= 3 && !vowelAt(w, n-1) && vowelAt(w, n-2) && !vowelAt(w, n-3) &&
		w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}
