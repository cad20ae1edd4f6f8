// Package safetext makes untrusted text from notes, tools, the web and models safe for a terminal:
// whatever the text contains, it prints characters and does nothing else. Such text reaches a
// screen only through this package.
//
// Start at Text. It drops control characters, whole escape sequences (terminated or not, 7- and
// 8-bit), bidirectional controls, tags, zero-width and other invisible characters, and all but the
// first eight combining marks of a letter. It keeps every visible character of every script, emoji
// with their joiners and selectors, flags, and the joiners needed to spell Persian and Indic
// languages.
//
// A control sequence never extends past the end of its line, so that an unfinished one cannot hide
// the rest of a note.
package safetext

import (
	"strings"
	"unicode/utf8"
)

// Text returns s as printable lines. Line ends become \n, and tabs become spaces up to the next
// multiple of four columns. It does not allocate if s is clean ASCII.
func Text(s string) string { return clean(s, lines, false) }

// Line returns s on one line: each line end or tab becomes a space.
func Line(s string) string { return clean(s, oneLine, false) }

// Source is like Text but keeps tabs, for parsers that count columns.
func Source(s string) string { return clean(s, source, false) }

// Visible is like Source but shows what Source drops: controls as symbols and other characters as
// code points such as ⟨U+202E⟩. It is for text read by another program.
func Visible(s string) string { return clean(s, source, true) }

// Cut returns the length of the prefix of s that can be cleaned now, whatever text follows: for
// every t, Source(s+t) is Source((s + t)[:n]) followed by Source of the rest. So streamed text has
// to be cleaned only once.
func Cut(s string) int {
	cut := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		n, whole := sequence(s[i:])
		switch {
		case !whole, !utf8.FullRuneInString(s[i:]), r == '\r' && i+1 == len(s):
			return cut
		case n > 0:
			size = n
		case r == '\n':
			cut = i + 1
		case r >= ' ' && kindOf(r) == letter && !joinsAhead(s[:i]) && !(r == utf8.RuneError && size == 1):
			cut = i
		}
		i += size
	}
	return cut
}

// joinsAhead reports whether s ends in a joiner or carriage return, whose meaning depends on the
// next character.
func joinsAhead(s string) bool {
	return strings.HasSuffix(s, "\u200d") || strings.HasSuffix(s, "\u200c") || strings.HasSuffix(s, "\r")
}

// mode says how line ends and tabs are treated.
type mode int

const (
	lines   mode = iota // \n is kept, tabs become spaces
	oneLine             // both become a space
	source              // both are kept
)

// tabStop is the width of a tab in columns.
const tabStop = 4

// maxMarks bounds the combining marks on one letter, so that one grapheme cannot cover the lines
// above and below it. Vietnamese needs 2, Hebrew with cantillation 4, Tibetan 6.
const maxMarks = 8

// maxJoins bounds the joiners in one emoji. A family of four has 3.
const maxJoins = 5

func clean(s string, m mode, reveal bool) string {
	i := 0
	for i < len(s) && plain(s[i], m) {
		i++
	}
	if i == len(s) {
		return s
	}
	// Step back to the character that a mark, joiner or selector may belong to.
	if i > 0 {
		i--
	}
	c := cleaner{mode: m, reveal: reveal, out: make([]byte, 0, len(s)+8), prev: '\n'}
	c.ascii(s[:i])
	c.write(s[i:])
	return string(c.out)
}

// plain reports whether b is unchanged in any context.
func plain(b byte, m mode) bool {
	return b >= 0x20 && b < 0x7f || b == '\n' && m != oneLine || b == '\t' && m == source
}

// cleaner holds the output and its state.
type cleaner struct {
	mode   mode
	reveal bool // show what would be dropped
	out    []byte
	prev   rune // last character written
	marks  int  // combining marks since the last letter
	joins  int  // joiners in the current emoji
	column int  // characters since the last line end, for tabs
}

func (c *cleaner) ascii(s string) {
	if s == "" {
		return
	}
	c.out = append(c.out, s...)
	c.prev, c.marks, c.joins = rune(s[len(s)-1]), 0, 0
	c.column = c.column + len(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		c.column = len(s) - i - 1
	}
}

func (c *cleaner) write(s string) {
	for i := 0; i < len(s); {
		if b := s[i]; b >= 0x20 && b < 0x7f {
			j := i + 1
			for j < len(s) && s[j] >= 0x20 && s[j] < 0x7f {
				j++
			}
			c.ascii(s[i:j])
			i = j
			continue
		}
		i += c.special(s[i:])
	}
}

// special handles the first character of s, which is not printable ASCII, and returns the number of
// bytes consumed.
func (c *cleaner) special(s string) int {
	switch s[0] {
	case '\n':
		c.newline()
		return 1
	case '\r':
		switch {
		case len(s) > 1 && s[1] == '\n':
		case c.reveal:
			c.show("␍")
		default:
			c.newline()
		}
		return 1
	case '\t':
		c.tab()
		return 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if c.reveal && (s[0] < utf8.RuneSelf || r == utf8.RuneError && size == 1) {
		c.show(picture(s[0]))
		return 1
	}
	if n, _ := sequence(s); n > 0 && !c.reveal {
		return n
	}
	if s[0] < utf8.RuneSelf { // the other C0 controls, and DEL
		return 1
	}
	if r == utf8.RuneError && size == 1 {
		for size < len(s) && invalidAt(s[size:]) {
			size++
		}
		c.put(utf8.RuneError)
		return size
	}
	return c.character(s, r, size)
}

// invalidAt reports whether s begins with a byte that is neither valid UTF-8 nor an 8-bit control.
func invalidAt(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && size == 1 && (s[0] < 0x80 || s[0] > 0x9f)
}

// character writes r, the first character of s with length size, if it is visible.
func (c *cleaner) character(s string, r rune, size int) int {
	switch kindOf(r) {
	case letter:
		if n := subdivisionFlag(s); n > 0 && !c.reveal {
			c.put(r)
			c.out = append(c.out, s[size:n]...)
			return n
		}
		joins := c.joins
		if c.prev != zwj {
			joins = 0
		}
		c.put(r)
		c.joins = joins
	case modifier: // skin tones modify the emoji before them
		c.out, c.prev = utf8.AppendRune(c.out, r), r
	case mark:
		if c.marks >= maxMarks || c.prev == '\n' {
			c.drop(r)
			break
		}
		c.out = utf8.AppendRune(c.out, r)
		c.marks++
	case joiner:
		if !c.joinerFits(r, s[size:]) {
			c.drop(r)
			break
		}
		c.out, c.prev = utf8.AppendRune(c.out, r), r
	case selector:
		if !c.selectorFits(r, s[size:]) {
			c.drop(r)
			break
		}
		c.out, c.prev = utf8.AppendRune(c.out, r), r
	case lineEnd:
		if !c.reveal {
			c.newline()
			break
		}
		c.drop(r)
	case invisible:
		c.drop(r)
	}
	return size
}

// drop omits a character or, to reveal, writes its code point.
func (c *cleaner) drop(r rune) {
	if c.reveal {
		c.show(number(r))
	}
}

// show writes the visible form of an invisible character.
func (c *cleaner) show(text string) {
	for _, r := range text {
		c.put(r)
	}
}

func (c *cleaner) put(r rune) {
	c.out = utf8.AppendRune(c.out, r)
	c.prev, c.marks, c.joins = r, 0, 0
	c.column++
}

func (c *cleaner) newline() {
	if c.mode == oneLine {
		c.put(' ')
		return
	}
	c.put('\n')
	c.column = 0
}

func (c *cleaner) tab() {
	switch c.mode {
	case source:
		c.put('\t')
	case oneLine:
		c.put(' ')
	case lines:
		for {
			c.put(' ')
			if c.column%tabStop == 0 {
				return
			}
		}
	}
}

// joinerFits reports whether a zero-width joiner or non-joiner has a meaning between the previous
// character and rest.
func (c *cleaner) joinerFits(r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	if r == zwj && pictograph(next) && (pictograph(c.prev) || c.prev == emojiStyle || kindOf(c.prev) == modifier) {
		c.joins++
		return c.joins <= maxJoins
	}
	if r == zwj && indic(c.prev) && c.marks > 0 {
		return true // Malayalam chillu letters, half forms at the end of a word
	}
	return usesJoiners(c.prev) && usesJoiners(next) && kindOf(next) == letter
}

// selectorFits reports whether a variation selector has a meaning after the previous character,
// which must be an emoji, a keycap digit, or a Mongolian or Han character.
func (c *cleaner) selectorFits(r rune, rest string) bool {
	switch {
	case r == emojiStyle || r == textStyle:
		next, _ := utf8.DecodeRuneInString(rest)
		return pictograph(c.prev) || keycapBase(c.prev) && r == emojiStyle && next == keycap && c.marks == 0
	case mongolianSelector(r):
		return mongolian(c.prev)
	default:
		return han(c.prev)
	}
}
