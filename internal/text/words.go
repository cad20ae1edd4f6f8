// Package text splits and compares texts: words (including scripts without
// spaces), sentences, folding, stop words, language detection and stemming.
package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a run of letters, numbers and combining marks. In a script without
// spaces, a word is a pair of adjacent characters, with overlapping pairs, or a
// single isolated character.
type Word struct {
	Text     string // as in the text
	Start    int    // offset of its first byte in the text
	Unspaced bool   // in a script without spaces
}

// End returns the offset after the word.
func (w Word) End() int { return w.Start + len(w.Text) }

// Words iterates over the words of a text in order.
func Words(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for i := 0; i < len(s); {
			kind, size := kindAt(s, i)
			start, second := i, -1 // second: offset of the second character of a pair
			i += size
			if kind != spaced && kind != unspaced {
				continue
			}
			for i < len(s) {
				if kind == spaced && inASCIIWord(s[i]) {
					i++
					continue
				}
				next, size := kindAt(s, i)
				if next != kind && next != mark {
					break
				}
				if next == unspaced {
					if second > 0 {
						if !yield(Word{s[start:i], start, true}) {
							return
						}
						start = second
					}
					second = i
				}
				i += size
			}
			if !yield(Word{s[start:i], start, kind == unspaced}) {
				return
			}
		}
	}
}

// WholeWords reports whether s[from:to] begins and ends at word boundaries: it does not cut a
// word. In scripts without spaces, every boundary between characters is one.
func WholeWords(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after))
}

// inWord reports whether a character is joined to such a one next to it.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) && !Unspaced(r)
}

// kind is the role of a character in words.
type kind int

const (
	none     kind = iota
	spaced        // a letter or number of a script with spaces
	unspaced      // a character of a script without spaces
	mark          // belongs to the preceding character
)

// inASCIIWord is a fast check for the most frequent characters.
func inASCIIWord(c byte) bool { return c|0x20-'a' < 26 || c-'0' < 10 }

func kindAt(s string, i int) (k kind, size int) {
	if s[i] < utf8.RuneSelf {
		if inASCIIWord(s[i]) {
			return spaced, 1
		}
		return none, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case unicode.IsMark(r):
		return mark, size
	case Unspaced(r):
		return unspaced, size
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		return spaced, size
	}
	return none, size
}

// Unspaced reports whether a character belongs to a script that is written
// without spaces between words.
func Unspaced(r rune) bool {
	const first = 0x0e00 // Thai
	return r >= first && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// Fold normalises a word for comparison: lower case, full width to half width,
// letters that no keyboard has but its own language's to what others type for them,
// and without marks that are often omitted in typing, which are accents in Latin,
// Greek and Cyrillic and vowels in Hebrew and Arabic. Marks of other scripts are
// kept, because they form different letters.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	const lastOptional = 0x06ff // end of the Arabic block
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		switch {
		case r <= lastOptional && unicode.Is(unicode.Mn, r):
		case r < 0x0300 && typedAs[r] != "":
			b.WriteString(typedAs[r])
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// typedAs are the Latin letters that do not decompose, with what is typed for them.
var typedAs = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ħ': "h", 'ı': "i", 'ł': "l",
	'ŋ': "n", 'þ': "th", 'ŧ': "t",
	'ƀ': "b", 'ɓ': "b", 'ȼ': "c", 'ɗ': "d", 'ǥ': "g", 'ɨ': "i", 'ɉ': "j", 'ȷ': "j", 'ĸ': "k", 'ƙ': "k", 'ƚ': "l",
	'ɍ': "r", 'ʉ': "u", 'ɏ': "y", 'ƴ': "y", 'ƶ': "z",
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
