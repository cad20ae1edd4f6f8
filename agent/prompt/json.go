package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"lifehub/llm"
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
			raw, length, err := llm.ReadJSON(text[i:])
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

// Value returns the JSON value that a text consists of, or else the first object, or list of objects,
// in it.
func Value(text string) (json.RawMessage, error) {
	trimmed := llm.Unfenced(WithoutThoughts(text))
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
