package agent

import "unicode"

// isCJK tells a character of a script that is written without spaces.
func isCJK(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func upper(r rune) rune { return unicode.ToUpper(r) }
