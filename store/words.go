package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is one unit of the word index and its place in the text, in bytes.
type word struct {
	text       string // folded
	start, end int
}

// cut makes the words that a message is found by. Runs of scripts that put no
// spaces between words become overlapping pairs, and their last letter stands
// alone, so that one letter finds them too.
func cut(text string) []word {
	var words []word
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inWord(r) {
			i += size
			continue
		}
		start, unspaced := i, isUnspaced(r)
		for i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
			if !inWord(r) || !unicode.IsMark(r) && isUnspaced(r) != unspaced {
				break
			}
			i += size
		}
		if unspaced {
			words = appendPairs(words, text[start:i], start)
		} else if folded := fold(text[start:i]); folded != "" {
			words = append(words, word{folded, start, i})
		}
	}
	return words
}

func appendPairs(words []word, run string, offset int) []word {
	for i := 0; i < len(run); {
		_, first := utf8.DecodeRuneInString(run[i:])
		_, second := utf8.DecodeRuneInString(run[i+first:])
		words = append(words, word{fold(run[i : i+first+second]), offset + i, offset + i + first + second})
		i += first
	}
	return words
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// isUnspaced tells the letters of scripts whose words are not found by their spaces.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// fold takes case, width and accents off a word: Straße, STRASSE, résumé, ｒｅｓｕｍｅ.
func fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		switch {
		case r >= 0x300 && r <= 0x36f: // combining accents of Latin, Greek and Cyrillic
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// phrase is words that stand side by side. The last one may go on, unless the
// user put the phrase in quotes.
type phrase struct {
	words []string
	whole bool
}

// phrases reads what a user searches for: every word, and what stands in
// quotes as it stands there.
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

// find returns where in a text the phrase stands first, in bytes.
func (p phrase) find(words []word) (from, to int, ok bool) {
	for i := range words {
		if i+len(p.words) > len(words) {
			break
		}
		fits := true
		for j, wanted := range p.words {
			is := words[i+j].text
			last := j == len(p.words)-1
			fits = fits && (is == wanted || last && !p.whole && strings.HasPrefix(is, wanted))
		}
		if fits {
			return words[i].start, words[i+len(p.words)-1].end, true
		}
	}
	return 0, 0, false
}
