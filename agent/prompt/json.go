package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
)

var errNoObject = errors.New("not a JSON object")

// WithoutThoughts returns the part of a model's text after its reasoning.
func WithoutThoughts(text string) string {
	thought, rest, _, _ := channels(text)
	if rest == "" {
		return thought
	}
	return rest
}

// jsonIn yields the JSON objects, and lists of objects, in a model's text after
// its reasoning. It stops with an error at the first invalid one.
func jsonIn(text string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		text := WithoutThoughts(text)
		if len(text) > maxDraft {
			yield(nil, fmt.Errorf("it is longer than %d bytes", maxDraft))
			return
		}
		for i := 0; i < len(text); i++ {
			if !beginsJSON(text[i:]) {
				continue
			}
			raw, length, err := readJSON(text[i:])
			if err != nil {
				yield(nil, fmt.Errorf("not valid JSON: %w", err))
				return
			}
			if !yield(raw, nil) {
				return
			}
			i += length - 1
		}
	}
}

// Object decodes the first JSON object in a text.
func Object(text string, into any) error {
	for raw, err := range jsonIn(text) {
		if err == nil && json.Unmarshal(raw, into) != nil {
			err = errors.New("it does not have the shape asked for")
		}
		return err
	}
	return errNoObject
}

// fenced matches a text that is one block of code.
var fenced = regexp.MustCompile("(?s)^```[a-zA-Z]*\n(.*)\n```$")

// Value returns the JSON value that a text consists of, or else the first object, or list of objects,
// in it.
func Value(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(WithoutThoughts(text))
	if block := fenced.FindStringSubmatch(trimmed); block != nil {
		trimmed = strings.TrimSpace(block[1])
	}
	if json.Valid([]byte(trimmed)) && len(trimmed) <= maxDraft {
		return json.RawMessage(trimmed), nil
	}
	for raw, err := range jsonIn(text) {
		return raw, err
	}
	return nil, errors.New("not JSON")
}

// beginsJSON reports whether text starts with an object or a list of objects,
// rather than a bracket in prose.
func beginsJSON(text string) bool {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	inside := strings.TrimLeft(text[1:min(len(text), 200)], " \t\r\n")
	return text[0] == '{' && (strings.HasPrefix(inside, `"`) || strings.HasPrefix(inside, "'")) ||
		text[0] == '[' && strings.HasPrefix(inside, "{")
}

// readJSON parses the value at the start of text, repairing it if necessary,
// and returns its length in text.
func readJSON(text string) (raw json.RawMessage, length int, err error) {
	if err = json.NewDecoder(strings.NewReader(text)).Decode(&raw); err == nil {
		return raw, len(raw), nil
	}
	if fixed, length := repairJSON(text); json.Valid([]byte(fixed)) {
		return json.RawMessage(fixed), length, nil
	}
	return nil, 0, err
}

var (
	commaAtEnd = regexp.MustCompile(`,\s*([}\]])`)
	constants  = strings.NewReplacer("True", "true", "False", "false", "None", "null")
)

// repairJSON rewrites the object or list at the start of text as valid JSON,
// where its meaning is unambiguous: it removes trailing commas, escapes control
// characters and lone backslashes in strings, and replaces the quotes and
// constants of Python. length is 0 if the value is incomplete.
func repairJSON(text string) (fixed string, length int) {
	var b strings.Builder
	depth, from := 0, 0 // from is the start of the text between two strings
	between := func(to int) {
		b.WriteString(commaAtEnd.ReplaceAllString(constants.Replace(text[from:to]), "$1"))
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			between(i)
			size := repairString(&b, text[i:])
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

// repairString writes the string at the start of text, in either kind of
// quotes, as a JSON string. It returns the length of the string in text; 0 if
// it is incomplete.
func repairString(b *strings.Builder, text string) (length int) {
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
