package safetext

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONWriter writes JSON to a place that may be a terminal: characters that JSON
// allows in a string and that show nothing, or do more, are escaped, so that the
// value stays the same and the terminal shows only text.
type JSONWriter struct{ To io.Writer }

func (w JSONWriter) Write(p []byte) (int, error) {
	var b strings.Builder
	for rest := p; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if Hidden(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		} else {
			b.Write(rest[:size])
		}
		rest = rest[size:]
	}
	if _, err := io.WriteString(w.To, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
