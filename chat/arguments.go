package chat

import (
	"bytes"
	"encoding/json"
	"strings"

	"lifehub/tui/safetext"
)

// ExactArguments formats a JSON value so that different values look different: a string that could
// be mistaken for another value keeps its quotes.
func ExactArguments(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	if s == "" || s != strings.TrimSpace(s) || json.Valid([]byte(s)) {
		return string(value)
	}
	return s
}

// BriefArguments formats the arguments of a call on one line: a single value alone, several as key:
// value.
func BriefArguments(input json.RawMessage) string {
	pairs := Arguments(input)
	if len(pairs) == 1 {
		return safetext.Line(pairs[0].Text())
	}
	parts := make([]string, 0, len(pairs))
	for _, pair := range pairs {
		parts = append(parts, pair.Key+": "+pair.Text())
	}
	return safetext.Line(strings.Join(parts, " · "))
}

// Argument is one key of a call's input and its value.
type Argument struct {
	Key   string
	Value json.RawMessage
}

// Text returns a string without its quotes, and any other value as JSON.
func (a Argument) Text() string {
	var s string
	if json.Unmarshal(a.Value, &s) == nil {
		return s
	}
	return string(a.Value)
}

// Arguments returns the keys of an input in order. An input that is not an object is one argument
// without a key.
func Arguments(input json.RawMessage) []Argument {
	decoder := json.NewDecoder(bytes.NewReader(input))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		if len(bytes.TrimSpace(input)) == 0 {
			return nil
		}
		return []Argument{{"", input}}
	}
	var list []Argument
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		key, _ := name.(string)
		list = append(list, Argument{key, value})
	}
	return list
}
