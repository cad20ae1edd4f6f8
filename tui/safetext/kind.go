package safetext

import (
	"strings"
	"unicode"
)

// kind is what a character is to a screen.
type kind int

const (
	letter    kind = iota // shows on its own; spaces too
	mark                  // shows on the character before it
	modifier              // skin tone
	joiner                // ZWJ, ZWNJ
	selector              // variation selector
	lineEnd               // U+2028, U+2029
	invisible             // everything that shows nothing or rearranges what does
)

const (
	zwnj       = '\u200c'
	zwj        = '\u200d'
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	keycap     = '\u20e3'
	blackFlag  = '\U0001f3f4'
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
	case unicode.Is(hidden, r):
		return invisible
	case unicode.In(r, unicode.Mn, unicode.Me) || jamoTail(r):
		return mark
	}
	return letter
}

// Hidden reports whether a character shows nothing on its own, or does more to a
// screen than show: controls but the line end and the tab, what joins, selects,
// hides, ends lines or changes the direction.
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

// hidden holds the characters that show nothing: Unicode's default ignorables
// without joiners and selectors, bidirectional controls, interlinear
// annotation, and what is no character.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180e, Hi: 0x180e, Stride: 1}, // Mongolian vowel separator
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // zero width, directional marks
		{Lo: 0x202a, Hi: 0x202e, Stride: 1}, // embeddings and overrides
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // word joiner, invisible operators, isolates
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xd800, Hi: 0xdfff, Stride: 1}, // surrogates
		{Lo: 0xfdd0, Hi: 0xfdef, Stride: 1}, // noncharacters
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // reserved, interlinear annotation
		{Lo: 0xfffe, Hi: 0xffff, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x13430, Hi: 0x1343f, Stride: 1}, // hieroglyph format controls
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical format controls
		{Lo: 0x1fffe, Hi: 0x1ffff, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe00ff, Stride: 1}, // tags
		{Lo: 0xe01f0, Hi: 0xe0fff, Stride: 1}, // reserved as ignorable
		{Lo: 0xffffe, Hi: 0xfffff, Stride: 1},
		{Lo: 0x10fffe, Hi: 0x10ffff, Stride: 1},
	},
}

// jamoTail reports whether r is a Hangul vowel or tail that joins the letter
// before it: a long run of them is one character on screen.
func jamoTail(r rune) bool {
	return r >= 0x1161 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff
}

func mongolianSelector(r rune) bool { return r >= 0x180b && r <= 0x180d || r == 0x180f }
func mongolian(r rune) bool         { return r >= 0x1820 && r <= 0x18aa }
func han(r rune) bool               { return unicode.Is(unicode.Han, r) }
func indic(r rune) bool             { return r >= 0x900 && r <= 0xdff }
func keycapBase(r rune) bool        { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// pictograph reports whether r can be an emoji or a part of one.
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

// usesJoiners reports whether the script of r spells with ZWJ or ZWNJ.
func usesJoiners(r rune) bool {
	switch {
	case r < 0x600:
		return false
	case r <= 0x7ff: // Arabic, Syriac, Thaana, N'Ko
		return true
	case r <= 0x8ff:
		return true // Arabic extended
	case r <= 0xdff: // Devanagari to Sinhala
		return true
	case r >= 0x0f00 && r <= 0x109f, r >= 0x1780 && r <= 0x18af: // Tibetan, Myanmar, Khmer, Mongolian
		return true
	}
	return r >= 0xa8e0 && r <= 0xa8ff || r >= 0xfb50 && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc
}

// The flags of England, Scotland and Wales are the only ones spelt with tags
// that Unicode recommends; tags anywhere else hide text.
var subdivisions = [...]string{"gbeng", "gbsct", "gbwls"}

// subdivisionFlag returns the length of the flag that s begins with, 0 if none.
func subdivisionFlag(s string) int {
	for _, name := range subdivisions {
		var flag strings.Builder
		flag.WriteRune(blackFlag)
		for _, c := range name {
			flag.WriteRune(0xe0000 + c)
		}
		flag.WriteRune(0xe007f)
		if strings.HasPrefix(s, flag.String()) {
			return flag.Len()
		}
	}
	return 0
}
