package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBlanks is the longest run of spaces or line ends that Reveal shows unchanged. Longer ones
// could push text out of view.
const maxBlanks = 8

// Reveal returns s for a permission dialog, in which nothing may be hidden. Controls are shown as
// symbols, invisible and reordering characters as ⟨U+202E⟩, characters of a second alphabet within
// a word with their code points, and long runs of spaces as ⟨2500 spaces⟩. The result is safe text.
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
		if k := kindOf(r); r == zwnj || k == selector && r != emojiStyle { // even where it has a meaning
			out.WriteString(number(r))
		} else {
			out.WriteString(s[i : i+size])
		}
		i += size
	}
	return clean(out.String(), lines, true)
}

// evident reports whether s is printable ASCII without a long run of spaces. It is a fast path:
// most text is, and some requests have a megabyte.
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

// blankRun returns the length in bytes of the blanks that s begins with.
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

// wordLength returns the length in bytes of the letters and marks that s begins with.
func wordLength(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && kindOf(r) != mark {
			return i
		}
	}
	return len(s)
}

// alphabets have characters that look alike. A word in one of them is normal; a mix of two is
// suspicious.
var alphabets = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

func alphabet(r rune) *unicode.RangeTable {
	for _, a := range alphabets {
		if unicode.Is(a, r) {
			return a
		}
	}
	return nil
}

// revealWord writes a word and the code points of its characters that are not of its main alphabet:
// Latin if it has any Latin letters, and otherwise that of its first letter.
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

// number returns the code point of a character in visible form.
func number(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// picture returns a visible form of a control or an invalid byte.
func picture(b byte) string {
	switch {
	case b < 0x20:
		return string(0x2400 + rune(b))
	case b == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("⟨byte %02X⟩", b)
}
