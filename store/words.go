package store

import (
	"slices"
	"strings"
	"unicode"

	"lifehub/internal/text"
)

// word is one unit of the word index and its place in the text, in bytes.
type word struct {
	text       string // folded
	start, end int
}

// cut makes the words that a message is found by. The last letter of a script
// without spaces is a word after its pair, so that one letter finds all.
func cut(s string) []word {
	var words []word
	last := -1 // where the second letter of the pair before begins; -1: there is none
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

// secondLetter is where the second letter of a pair begins; -1: it is a letter
// alone.
func secondLetter(w text.Word) int {
	for i, r := range w.Text {
		if i > 0 && !unicode.IsMark(r) {
			return w.Start + i
		}
	}
	return -1
}

// indexed is a text as the full-text indexes take it.
func indexed(s string) string {
	var b strings.Builder
	for _, w := range cut(s) {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// phrase is words that stand side by side. The last one may go on, unless the
// user put the phrase in quotes.
type phrase struct {
	words []string
	whole bool
}

// phrases reads what a user searches for: every word, and what is in
// quotes as it is written there.
func phrases(search string) []phrase {
	var list []phrase
	for i, part := range strings.Split(search, `"`) {
		pieces := strings.Fields(part)
		if i%2 == 1 {
			pieces = []string{part}
		}
		for _, piece := range pieces {
			p := phrase{whole: i%2 == 1}
			end := -1
			for _, w := range cut(piece) {
				if w.end != end { // else it is the last letter of a run, which its pair holds
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

// match is the query of FTS5 that finds all phrases.
func match(list []phrase) string {
	var parts []string
	for _, p := range list {
		part := `"` + strings.Join(p.words, " ") + `"`
		if !p.whole {
			part += "*"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " AND ")
}

// find returns where in a text the phrase first is, in bytes; 0, 0: nowhere.
func (p phrase) find(words []word) (from, to int) {
	last := len(p.words) - 1
	for i := 0; i+last < len(words); i++ {
		if slices.EqualFunc(words[i:i+last], p.words[:last], func(is word, wanted string) bool { return is.text == wanted }) &&
			(words[i+last].text == p.words[last] || !p.whole && strings.HasPrefix(words[i+last].text, p.words[last])) {
			return words[i].start, words[i+last].end
		}
	}
	return 0, 0
}
