package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// safeJSON writes JSON to a place that may be a terminal: control and
// direction-changing characters that JSON allows in a string are escaped, so
// that the value stays the same and the terminal shows only text.
type safeJSON struct{ to io.Writer }

func (w safeJSON) Write(p []byte) (int, error) {
	var b strings.Builder
	for rest := p; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if unsafeRune(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		} else {
			b.Write(rest[:size])
		}
		rest = rest[size:]
	}
	if _, err := io.WriteString(w.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unsafeRune is DEL, a C1 control, or a mark that hides or reorders text.
func unsafeRune(r rune) bool {
	switch {
	case r >= 0x7f && r <= 0x9f,
		r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, // zero width, direction
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0x061c,
		r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}

// count is a number of things, in words: 1 note, 2 notes.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
