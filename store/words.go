package store

import (
	"slices"
	"strings"
	"unicode"

	"lifehub/internal/text"
)

// word is a unit of the full-text index with its byte range in the text.
type word struct {
	text       string // folded
	start, end int
}

// cut splits a text into the words of the index. In a script without spaces,
// words are pairs of characters; the last character of a run is also a word on
// its own, so that every single character can be found.
func cut(s string) []word {
	var words []word
	last := -1 // start of the second character of the previous pair, or -1
	alone := func() {
		if end := words[len(words)-1].end; last >= 0 {
			words = append(words, word{text.Fold(s[last:end]), last, end})
		}
	}
	for w := range text.Words(s) {
		if last != w.Start && len(words) > 0 {
			alone()
		}
		words = append(words, word{text.Fold(w.Text), w.Start, w.End()})
		last = -1
		if w.Unspaced {
			last = secondLetter(w)
		}
	}
	if len(words) > 0 {
		alone()
	}
	return words
}

// secondLetter returns where the second character of a pair begins, or -1 for a
// single character.
func secondLetter(w text.Word) int {
	for i, r := range w.Text {
		if i > 0 && !unicode.IsMark(r) {
			return w.Start + i
		}
	}
	return -1
}

// indexed returns the form of a text that is stored in the full-text indexes.
func indexed(s string) string {
	var b strings.Builder
	for _, w := range cut(s) {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// phrase is a sequence of adjacent words. Unless quoted, its last word matches as
// a prefix.
type phrase struct {
	words []string
	exact bool // quoted
}

// phrases parses a search into its words and quoted phrases.
func phrases(search string) []phrase {
	var list []phrase
	for i, part := range strings.Split(search, `"`) {
		pieces := strings.Fields(part)
		if i%2 == 1 {
			pieces = []string{part}
		}
		for _, piece := range pieces {
			p := phrase{exact: i%2 == 1}
			end := -1
			for _, w := range cut(piece) {
				if w.end != end { // otherwise it is the last character of a run, which is part of a pair
					p.words = append(p.words, w.text)
				}
				end = w.end
			}
			if len(p.words) > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// match returns the FTS5 query that matches all phrases.
func match(list []phrase) string {
	var parts []string
	for _, p := range list {
		part := `"` + strings.Join(p.words, " ") + `"`
		if !p.exact {
			part += "*"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " AND ")
}

// find returns the byte range of the first occurrence of the phrase in a text; 0,
// 0 if there is none.
func (p phrase) find(words []word) (from, to int) {
	last := len(p.words) - 1
	for i := 0; i+last < len(words); i++ {
		if slices.EqualFunc(words[i:i+last], p.words[:last],
			func(is word, wanted string) bool { return is.text == wanted }) &&
			(words[i+last].text == p.words[last] || !p.exact && strings.HasPrefix(words[i+last].text, p.words[last])) {
			return words[i].start, words[i+last].end
		}
	}
	return 0, 0
}
