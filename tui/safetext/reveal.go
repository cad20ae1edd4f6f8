package safetext

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blanks matches a run of spaces or line ends that could push text out of view.
var blanks = regexp.MustCompile(`[ \t\n\p{Zs}\x{2800}]{9,}`)

// word matches letters with their marks, and the joiners and tags that are shown in a dialog even
// where they have a meaning.
var word = regexp.MustCompile(`[\p{L}\p{M}\x{200c}\x{e0020}-\x{e007f}]+`)

// Reveal returns s for a permission dialog, in which nothing may be hidden. Controls are shown as
// symbols, invisible and reordering characters as ⟨U+202E⟩, characters of a second alphabet within
// a word with their code points, and long runs of spaces as ⟨2500 spaces⟩. The result is safe text.
func Reveal(s string) string {
	s = blanks.ReplaceAllStringFunc(strings.ReplaceAll(s, "\r\n", "\n"), revealBlanks)
	if !printable(s) {
		s = clean(word.ReplaceAllStringFunc(s, revealWord), true)
	}
	return strings.ReplaceAll(s, "\t", "    ")
}

func revealBlanks(run string) string {
	count, ends := utf8.RuneCountInString(run), strings.Count(run, "\n")
	switch {
	case ends > 0:
		return fmt.Sprintf("⟨%d blanks, %d line ends⟩\n", count, ends)
	case strings.Trim(run, " ") != "":
		return fmt.Sprintf("⟨%d blanks⟩", count)
	}
	return fmt.Sprintf("⟨%d spaces⟩", count)
}

// alphabets have characters that look alike. A word in one of them is normal; a mix of two is
// suspicious.
var alphabets = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek,
	unicode.Armenian, unicode.Cherokee,
}

func alphabet(r rune) *unicode.RangeTable {
	for _, a := range alphabets {
		if unicode.Is(a, r) {
			return a
		}
	}
	return nil
}

// revealWord returns a word with the code points of its characters that are not of its main
// alphabet: Latin if it has any Latin letters, and otherwise that of its first letter.
func revealWord(word string) string {
	var home *unicode.RangeTable
	for _, r := range word {
		if a := alphabet(r); a == unicode.Latin || a != nil && home == nil {
			home = a
		}
	}
	var out strings.Builder
	for _, r := range word {
		a := alphabet(r)
		styled := r >= 0x1d400 && r <= 0x1d7ff // mathematical alphabets
		switch {
		case Hidden(r) && r != emojiStyle:
			out.WriteString(number(r))
		case a != nil && a != home || styled:
			out.WriteString(string(r) + number(r))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
