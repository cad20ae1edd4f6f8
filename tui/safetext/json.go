package safetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONWriter writes JSON to a writer that may be a terminal. It escapes characters that are allowed
// in JSON strings but are invisible or affect the terminal, so that the value is unchanged and the
// terminal shows only text.
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

// JSON returns JSON with way applied to all strings, including names.
func JSON(raw json.RawMessage, way func(string) string) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return json.Marshal(each(value, way))
}

func each(value any, way func(string) string) any {
	switch v := value.(type) {
	case string:
		return way(v)
	case []any:
		for i := range v {
			v[i] = each(v[i], way)
		}
	case map[string]any:
		safe := make(map[string]any, len(v))
		for name, inner := range v {
			safe[way(name)] = each(inner, way)
		}
		return safe
	}
	return value
}
