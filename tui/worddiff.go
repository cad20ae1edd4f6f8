package tui

import (
	"strings"
	"unicode"
)

// Word is a piece of a text and what became of it.
type Word struct {
	Text string
	Mark rune // ' ' stands in both, '-' only before, '+' only after
}

// maxCompared bounds the work of comparing two texts, in pairs of words; what
// is longer is shown as replaced as a whole.
const maxCompared = 4_000_000

// WordDiff tells which words of before were replaced by which of after. Put
// together, the words that are not marked '+' are before, and those that are
// not marked '-' are after.
func WordDiff(before, after string) []Word {
	a, b := wordsOf(before), wordsOf(after)
	var head, tail []Word
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = grow(head, a[0], ' ')
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]Word{{a[len(a)-1], ' '}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	list := head
	for _, w := range together(compared(a, b)) {
		list = grow(list, w.Text, w.Mark)
	}
	for _, w := range tail {
		list = grow(list, w.Text, ' ')
	}
	return list
}

// compared is the difference of two lists that begin and end differently, by
// their longest common subsequence.
func compared(a, b []string) []Word {
	var list []Word
	if len(a)*len(b) > maxCompared {
		for _, w := range a {
			list = grow(list, w, '-')
		}
		for _, w := range b {
			list = grow(list, w, '+')
		}
		return list
	}
	// common[i][j] is the length of what a[i:] and b[j:] have in common.
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			list = grow(list, a[i], ' ')
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			list = grow(list, a[i], '-')
			i++
		default:
			list = grow(list, b[j], '+')
			j++
		}
	}
	return list
}

// together takes changes together between which only marks and blanks stand:
// the slashes that two addresses share tell nobody anything.
func together(words []Word) (list []Word) {
	var gone, come, between string // of the change so far, and what stands in both after it
	flush := func() {
		for _, w := range []Word{{gone, '-'}, {come, '+'}, {between, ' '}} {
			if w.Text != "" {
				list = grow(list, w.Text, w.Mark)
			}
		}
		gone, come, between = "", "", ""
	}
	for i, w := range words {
		switch {
		case w.Mark == ' ':
			between = w.Text
			if strings.ContainsFunc(w.Text, isWordRune) {
				flush()
			}
			continue
		case between != "" && (gone != "" || leads(words[i:], '-')) && (come != "" || leads(words[i:], '+')):
			gone, come, between = gone+between, come+between, ""
		case between != "":
			flush()
		}
		if w.Mark == '-' {
			gone += w.Text
		} else {
			come += w.Text
		}
	}
	flush()
	return list
}

// leads tells whether words of a mark stand before the next that stand in both.
func leads(words []Word, mark rune) bool {
	for _, w := range words {
		if w.Mark == ' ' {
			return false
		}
		if w.Mark == mark {
			return true
		}
	}
	return false
}

// grow adds a word, to the last one if both have the same mark.
func grow(list []Word, text string, mark rune) []Word {
	if n := len(list); n > 0 && list[n-1].Mark == mark {
		list[n-1].Text += text
		return list
	}
	return append(list, Word{text, mark})
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// wordsOf cuts a text into runs of letters and digits, runs of blanks, and
// single marks.
func wordsOf(text string) []string {
	kind := func(r rune) int {
		switch {
		case isWordRune(r):
			return 1
		case r == ' ' || r == '\t':
			return 2
		}
		return 0
	}
	var words []string
	start, last := 0, 0
	for i, r := range text {
		k := kind(r)
		if i > 0 && (k == 0 || k != last) {
			words = append(words, text[start:i])
			start = i
		}
		last = k
	}
	if start < len(text) {
		words = append(words, text[start:])
	}
	return words
}
