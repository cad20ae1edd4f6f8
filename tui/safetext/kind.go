package safetext

import (
	"strings"
	"unicode"
)

// kind classifies a character by its effect on the screen.
type kind int

const (
	letter    kind = iota // visible on its own; includes spaces
	mark                  // combines with the character before it
	modifier              // skin tone
	joiner                // ZWJ, ZWNJ
	selector              // variation selector
	lineEnd               // U+2028, U+2029
	invisible             // invisible, or reorders visible text
)

const (
	zwnj       = '\u200c'
	zwj        = '\u200d'
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	keycap     = '\u20e3'
)

func kindOf(r rune) kind {
	switch {
	case r < 0x7f:
		return letter
	case r < 0x300:
		if r <= 0x9f || r == 0xad { // C1; soft hyphen
			return invisible
		}
		return letter
	case r == zwnj || r == zwj:
		return joiner
	case r == 0x2028 || r == 0x2029:
		return lineEnd
	case r == 0x180f || mongolianSelector(r) || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef:
		return selector
	case r >= 0x1f3fb && r <= 0x1f3ff:
		return modifier
	case hidden(r):
		return invisible
	case unicode.In(r, unicode.Mn, unicode.Me) || jamoTail(r):
		return mark
	}
	return letter
}

// Hidden reports whether a character is invisible on its own or affects the screen otherwise:
// controls except line feed and tab, joiners, selectors, line separators, and characters that are
// invisible or change the direction.
func Hidden(r rune) bool {
	if r < ' ' || r == 0x7f {
		return r != '\n' && r != '\t'
	}
	switch kindOf(r) {
	case joiner, selector, lineEnd, invisible:
		return true
	}
	return false
}

// hidden reports whether r is invisible: ignorable by default, a format character, a surrogate or a
// noncharacter. Prepended marks, which format the digits after them, are visible.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point, unicode.Cs) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// jamoTail reports whether r is a Hangul vowel or final consonant, which combines with the letter
// before it. A long run of them is one grapheme.
func jamoTail(r rune) bool {
	return r >= 0x1161 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff
}

func mongolianSelector(r rune) bool { return r >= 0x180b && r <= 0x180d || r == 0x180f }
func mongolian(r rune) bool         { return r >= 0x1820 && r <= 0x18aa }
func han(r rune) bool               { return unicode.Is(unicode.Han, r) }
func indic(r rune) bool             { return r >= 0x900 && r <= 0xdff }
func keycapBase(r rune) bool        { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// pictograph reports whether r can be an emoji or part of one.
func pictograph(r rune) bool {
	switch {
	case r < 0x203c:
		return r == 0xa9 || r == 0xae
	case r < 0x2190:
		return r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139
	case r < 0x2c00:
		return r <= 0x21ff || r >= 0x2300 && r <= 0x23ff || r == 0x24c2 || r >= 0x25a0 && r <= 0x27bf ||
			r == 0x2934 || r == 0x2935 || r >= 0x2b00 && r <= 0x2bff
	case r < 0x1f000:
		return r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
	}
	return r <= 0x1faff && kindOf(r) == letter
}

// usesJoiners reports whether the script of r is spelt with ZWJ or ZWNJ: Arabic to Sinhala,
// Tibetan, Myanmar, Khmer, Mongolian.
func usesJoiners(r rune) bool {
	return r >= 0x600 && r <= 0xdff || r >= 0x0f00 && r <= 0x109f || r >= 0x1780 && r <= 0x18af ||
		r >= 0xa8e0 && r <= 0xa8ff || r >= 0xfb50 && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc
}

// subdivisions are the flags of England, Scotland and Wales, the only tag sequences that Unicode
// recommends. Tags elsewhere hide text.
var subdivisions = [...]string{
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
}

// subdivisionFlag returns the length of the flag that s begins with, or 0.
func subdivisionFlag(s string) int {
	for _, flag := range subdivisions {
		if strings.HasPrefix(s, flag) {
			return len(flag)
		}
	}
	return 0
}
