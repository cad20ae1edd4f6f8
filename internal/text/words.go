// Package text is how text is cut and compared: words, sentences, scripts without spaces,
// folding, stop words, language and stems.
package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a run of letters, numbers and their marks. A script without spaces
// shows no words: there it is two neighbouring characters, each pair
// overlapping the next, or one character that stands alone.
type Word struct {
	Text     string // as it stands in the text
	Start    int    // its first byte in the text
	Unspaced bool   // it is of a script without spaces
}

// End is the byte after the word.
func (w Word) End() int { return w.Start + len(w.Text) }

// Words are the words of a text, in reading order.
func Words(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for i := 0; i < len(s); {
			kind, size := kindAt(s, i)
			start, second := i, -1 // second: where the second character of a pair begins
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

// kind is what a character is to a word.
type kind int

const (
	none     kind = iota
	spaced        // a letter or number of a script with spaces
	unspaced      // a character of a script without
	mark          // it belongs to the character before it
)

// inASCIIWord tells the letters and digits that most texts are made of.
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

// Fold makes a word comparable: lower case, full width to half width, ß as ss,
// and without the marks that many who type leave out: the accents of Latin,
// Greek and Cyrillic, the vowels of Hebrew and Arabic. Those of other scripts
// make another letter.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	const lastOptional = 0x06ff // the end of Arabic
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		switch {
		case r <= lastOptional && unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
