package llm

import (
	"bufio"
	"encoding/json"
	"strings"
)

// ErrorIn returns what a document of a server says went wrong: its error, message, detail or errors, of a
// list the first one's; "" if it has none.
func ErrorIn(document []byte) string {
	text, found := errorIn(document, 0)
	if !found {
		return ""
	}
	return text
}

// ErrorText returns the text of an error: a string, what [ErrorIn] finds, or else all of it. It is "" if
// nothing is wrong.
func ErrorText(raw []byte) string {
	text, _ := errorIn(raw, 0)
	return text
}

// errorIn returns the text of an error, and whether it is in one of its fields.
func errorIn(raw []byte, depth int) (text string, found bool) {
	const deepest = 5
	if json.Unmarshal(raw, &text) == nil { // null leaves it empty
		return text, false
	}
	var list []json.RawMessage
	var fields map[string]json.RawMessage
	switch text = strings.TrimSpace(string(raw)); {
	case text == "{}", text == "[]", text == "false", text == "0":
		return "", false
	case depth == deepest:
	case json.Unmarshal(raw, &list) == nil && len(list) > 0:
		return errorIn(list[0], depth+1)
	case json.Unmarshal(raw, &fields) == nil:
		for _, name := range []string{"error", "message", "detail", "errors"} {
			if said, _ := errorIn(fields[name], depth+1); said != "" {
				return said, true
			}
		}
	}
	return text, false
}

// SkipMark skips a byte order mark, with which some servers for Windows begin.
func SkipMark(in *bufio.Reader) {
	const mark = "\uFEFF"
	if begin, _ := in.Peek(len(mark)); string(begin) == mark {
		_, _ = in.Discard(len(mark)) // cannot fail after Peek
	}
}
