package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBlanks is the longest run of blanks or line ends that Reveal shows as it
// is: longer ones push what follows out of sight.
const maxBlanks = 8

// Reveal returns s for a question where nothing may be hidden: controls show as
// their pictures, invisible and rearranging characters as ⟨U+202E⟩, letters of
// a second alphabet inside a word with their number, and long runs of blanks as
// ⟨2500 spaces⟩. The result is safe text.
func Reveal(s string) string {
	if evident(s) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if n := blankRun(s[i:]); n > 0 {
			i += revealBlanks(&out, s[i:i+n])
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsLetter(r) {
			word := s[i : i+wordLength(s[i:])]
			revealWord(&out, word)
			i += len(word)
			continue
		}
		if k := kindOf(r); r == zwnj || k == selector && r != emojiStyle { // where it has a meaning, too
			out.WriteString(number(r))
		} else {
			out.WriteString(s[i : i+size])
		}
		i += size
	}
	return clean(out.String(), lines, true)
}

// evident reports whether s is ASCII that shows as it is, without a long run of
// blanks: most text is, and a megabyte of it is asked about at times.
func evident(s string) bool {
	blanks := 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == ' ' || b == '\n':
			if blanks++; blanks > maxBlanks {
				return false
			}
		case b < 0x20 || b >= 0x7f:
			return false
		default:
			blanks = 0
		}
	}
	return true
}

func blank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == 0x2800 || r > 0x9f && unicode.IsSpace(r) && kindOf(r) != lineEnd
}

// blankRun returns the length in bytes of the blanks s begins with.
func blankRun(s string) int {
	for i, r := range s {
		if !blank(r) && !(r == '\r' && strings.HasPrefix(s[i:], "\r\n")) {
			return i
		}
	}
	return len(s)
}

func revealBlanks(out *strings.Builder, run string) int {
	ends := strings.Count(run, "\n")
	count := utf8.RuneCountInString(run)
	switch {
	case count <= maxBlanks:
		out.WriteString(run)
	case ends == 0 && strings.Trim(run, " ") != "":
		fmt.Fprintf(out, "⟨%d blanks, %d spaces⟩", count, strings.Count(run, " "))
	case ends == 0:
		fmt.Fprintf(out, "⟨%d spaces⟩", count)
	case ends == count:
		fmt.Fprintf(out, "⟨%d line ends⟩\n", ends)
	default:
		fmt.Fprintf(out, "⟨%d blanks, %d line ends⟩\n", count, ends)
	}
	return len(run)
}

// wordLength returns the length in bytes of the letters and marks s begins with.
func wordLength(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && kindOf(r) != mark {
			return i
		}
	}
	return len(s)
}

// alphabets that are taken for one another. A word of one of them is a word;
// a word of two is a disguise.
var alphabets = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

func alphabet(r rune) *unicode.RangeTable {
	for _, a := range alphabets {
		if unicode.Is(a, r) {
			return a
		}
	}
	return nil
}

// revealWord numbers the letters of word that are not of its first alphabet,
// or, if it has Latin letters at all, that are not Latin.
func revealWord(out *strings.Builder, word string) {
	var home *unicode.RangeTable
	for _, r := range word {
		if a := alphabet(r); a == unicode.Latin || a != nil && home == nil {
			home = a
		}
	}
	marks := 0
	for _, r := range word {
		a := alphabet(r)
		foreign := a != nil && a != home
		styled := r >= 0x1d400 && r <= 0x1d7ff // mathematical alphabets
		if kindOf(r) == mark {
			marks++
		} else {
			marks = 0
		}
		if marks > maxMarks || foreign || styled || kindOf(r) == invisible {
			if kindOf(r) == letter {
				out.WriteRune(r)
			}
			out.WriteString(number(r))
			continue
		}
		out.WriteRune(r)
	}
}

// number shows a character by its number.
func number(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// picture shows a byte that is a control or no character.
func picture(b byte) string {
	switch {
	case b < 0x20:
		return string(0x2400 + rune(b))
	case b == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("⟨byte %02X⟩", b)
}
