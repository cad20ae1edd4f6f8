// Package safetext makes untrusted text from notes, tools, the web and models safe for a terminal:
// whatever the text contains, it prints characters and does nothing else. Such text reaches a
// screen only through this package.
//
// Start at Text. It drops escape sequences, controls, and characters that are invisible or change
// the direction, and all but the first eight combining marks of a letter. It keeps every visible
// character of every script, emoji with their joiners and selectors, flags, and the joiners needed
// to spell Persian and Indic languages.
package safetext

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s as printable lines. Line ends become \n, and each tab four spaces. It does not
// allocate if s is clean ASCII.
func Text(s string) string { return strings.ReplaceAll(Source(s), "\t", "    ") }

// Line returns s on one line: each line end or tab becomes a space.
func Line(s string) string { return oneLine.Replace(Source(s)) }

// Source is like Text but keeps tabs, for parsers that count columns.
func Source(s string) string {
	if printable(s) {
		return s
	}
	return clean(sequence.ReplaceAllString(lineEnds.Replace(strings.ToValidUTF8(s, "\ufffd")), ""), false)
}

// Visible is like Source but shows what Source drops: controls as symbols and other characters as
// code points such as ⟨U+202E⟩. It is for text read by another program.
func Visible(s string) string {
	if printable(s) {
		return s
	}
	return clean(strings.ReplaceAll(s, "\r\n", "\n"), true)
}

var (
	oneLine  = strings.NewReplacer("\n", " ", "\t", " ")
	lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")
)

// sequence matches a control sequence, a control string (OSC, DCS, SOS, PM, APC) and any other
// escape sequence, with 7-bit or 8-bit controls. One without an end extends to the end of its line
// or to a character that cannot belong to it, so that it hides no more than that.
var sequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?` +
	`|(?:\x1b[P\]X^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\a\x18\x1a\x1b\x{9c}\n]*(?:[\a\x18\x1a\x{9c}]|\x1b\\)?` +
	`|\x1b[ -/]*[0-~]?`)

// printable reports whether s consists of printable ASCII, line feeds and tabs.
func printable(s string) bool {
	for i := range len(s) {
		if (s[i] < ' ' || s[i] > '~') && s[i] != '\n' && s[i] != '\t' {
			return false
		}
	}
	return true
}

// Hidden reports whether a character is invisible on its own or affects the screen otherwise:
// controls except line feed and tab, joiners, selectors, line separators, and characters that are
// invisible or change the direction.
func Hidden(r rune) bool {
	switch {
	case r < 0x300:
		return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u00ad'
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // formats the digits after it, and is visible
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// maxMarks bounds the combining marks on one letter, so that one grapheme cannot cover the lines
// above and below it. Vietnamese needs 2, Hebrew with cantillation 4, Tibetan 6.
const maxMarks = 8

// clean drops the hidden characters of s that have no meaning where they are, or shows them.
func clean(s string, reveal bool) string {
	var out strings.Builder
	out.Grow(len(s))
	base, marks := '\n', 0 // the last character written that is no mark, and the marks after it
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		hidden := Hidden(r)
		mark := hidden || unicode.In(r, unicode.Mn, unicode.Me)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, "⟨byte %02X⟩", s[i])
			base, marks = '⟩', 0
		case r == blackFlag && !reveal:
			tags := subdivision.FindString(s[i+size:])
			out.WriteString(string(r) + tags)
			base, marks, size = r, 0, size+len(tags)
		case !mark:
			out.WriteRune(r)
			base, marks = r, 0
		case base != '\n' && marks < maxMarks && (!hidden || fits(base, marks, r, next)):
			out.WriteRune(r)
			marks++
		case reveal:
			out.WriteString(number(r))
			base, marks = '⟩', 0
		}
		i += size
	}
	return out.String()
}

const (
	zwnj       = '\u200c'
	zwj        = '\u200d'
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	keycap     = '\u20e3'
	blackFlag  = '\U0001f3f4'
)

// joined are the scripts that are spelt with joiners.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Tibetan, unicode.Myanmar,
	unicode.Khmer, unicode.Mongolian,
}

// fits reports whether the hidden character r has a meaning after a character with so many marks,
// and before next: in an emoji, a variant of a character or a word.
func fits(base rune, marks int, r, next rune) bool {
	switch {
	case r == zwj && unicode.Is(unicode.S, base) && unicode.Is(unicode.S, next):
		return true
	case r == zwj || r == zwnj:
		return unicode.In(base, joined...)
	case r == textStyle || r == emojiStyle:
		return marks == 0 && (unicode.Is(unicode.S, base) || strings.ContainsRune("‼⁉ℹ〰", base) || next == keycap)
	case unicode.Is(unicode.Variation_Selector, r):
		return marks == 0 && unicode.In(base, unicode.Han, unicode.Mongolian)
	}
	return false
}

// subdivision matches the tags that make a black flag that of England, Scotland or Wales, the only
// ones that Unicode recommends. Tags elsewhere hide text.
var subdivision = regexp.MustCompile(`^\x{e0067}\x{e0062}(?:\x{e0065}\x{e006e}\x{e0067}` +
	`|\x{e0073}\x{e0063}\x{e0074}|\x{e0077}\x{e006c}\x{e0073})\x{e007f}`)

// number returns a visible form of a hidden character: the symbol of a control, or else the code point.
func number(r rune) string {
	switch {
	case r < ' ':
		return string(0x2400 + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("⟨U+%04X⟩", r)
}
