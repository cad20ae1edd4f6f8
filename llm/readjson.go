package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// fenced matches a text that is one block of code.
var fenced = regexp.MustCompile("(?s)^```[a-zA-Z]*\n(.*)\n```$")

// Unfenced returns a text without the fence of the block of code that it is, and without the space around.
func Unfenced(text string) string {
	text = strings.TrimSpace(text)
	if block := fenced.FindStringSubmatch(text); block != nil {
		text = strings.TrimSpace(block[1])
	}
	return text
}

// ReadJSON parses the value at the start of text, repairing it if necessary,
// and returns its length in text.
func ReadJSON(text string) (raw json.RawMessage, length int, err error) {
	if err = json.NewDecoder(strings.NewReader(text)).Decode(&raw); err == nil {
		return raw, len(raw), nil
	}
	if fixed, length := RepairJSON(text); json.Valid([]byte(fixed)) {
		return json.RawMessage(fixed), length, nil
	}
	return nil, 0, err
}

var (
	commaAtEnd = regexp.MustCompile(`,\s*([}\]])`)
	constants  = strings.NewReplacer("True", "true", "False", "false", "None", "null")
)

// RepairJSON rewrites the object or list at the start of text as valid JSON,
// where its meaning is unambiguous: it removes trailing commas, escapes control
// characters and lone backslashes in strings, and replaces the quotes and
// constants of Python. length is 0 if the value is incomplete.
func RepairJSON(text string) (fixed string, length int) {
	var b strings.Builder
	depth, from := 0, 0 // from is the start of the text between two strings
	between := func(to int) {
		b.WriteString(commaAtEnd.ReplaceAllString(constants.Replace(text[from:to]), "$1"))
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			between(i)
			size := RepairString(&b, text[i:])
			if size == 0 {
				return "", 0
			}
			from = i + size
			i = from - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				between(i + 1)
				return b.String(), i + 1
			}
		}
	}
	return "", 0
}

// RepairString writes the string at the start of text, in either kind of
// quotes, as a JSON string. It returns the length of the string in text; 0 if
// it is incomplete.
func RepairString(b *strings.Builder, text string) (length int) {
	b.WriteByte('"')
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0]:
			b.WriteByte('"')
			return i + 1
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`"'\/bfnrtu`, text[i+1]) >= 0:
			if i++; text[i] != '\'' {
				b.WriteByte(c)
			}
			b.WriteByte(text[i])
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return 0
}
