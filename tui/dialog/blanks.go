package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent/rules"
	"lifehub/tui/safetext"
)

// blanks are those of a prompt, all of them texts, and what the user has typed
// for them after its name.
type blanks struct {
	fields   map[string]map[string]any // the properties of the schema
	order    []string                  // the blanks as the form shows them
	required []string
	Given    map[string]string
}

// NewBlanks reads a schema, and what was typed: city=Hamburg "state"=HH, or the
// values in the order of the blanks, the last of which takes all that is left.
func NewBlanks(schema json.RawMessage, typed string) blanks {
	b := blanks{Given: map[string]string{}}
	var top struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	_ = json.Unmarshal(schema, &top) // what cannot be read has no blanks
	b.fields, b.required = top.Properties, top.Required
	for _, f := range NewForm(schema).Fields {
		b.order = append(b.order, f.name)
	}
	if pairs, err := rules.SplitArguments(typed); err == nil && !slices.ContainsFunc(pairs, func(p [2]string) bool { return b.fields[p[0]] == nil }) {
		for _, p := range pairs {
			b.Given[p[0]] = p[1]
		}
		return b
	}
	for i, name := range b.order {
		word := strings.TrimSpace(typed)
		if i < len(b.order)-1 {
			word, typed, _ = strings.Cut(word, " ")
		}
		if word != "" {
			b.Given[name] = word
		}
	}
	return b
}

// Schema is the prompt's with what was given as defaults, in the order of the
// form.
func (b blanks) Schema() json.RawMessage {
	var properties strings.Builder
	for i, name := range b.order {
		if value, ok := b.Given[name]; ok {
			b.fields[name]["default"] = value
		}
		key, _ := json.Marshal(name)
		field, _ := json.Marshal(b.fields[name]) // both came from JSON
		fmt.Fprintf(&properties, "%s%s:%s", strings.Repeat(",", min(i, 1)), key, field)
	}
	required, err := json.Marshal(b.required)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s}`, properties.String(), required)
}

// Values are what was given, as a form would tell it.
func (b blanks) Values() json.RawMessage {
	raw, err := json.Marshal(b.Given)
	if err != nil {
		return nil
	}
	return raw
}

// Check says which blank has to be filled in.
func (b blanks) Check(values json.RawMessage) error {
	var filled map[string]string
	if err := json.Unmarshal(values, &filled); err != nil {
		return fmt.Errorf("read the values: %w", err)
	}
	for _, name := range b.required {
		if strings.TrimSpace(filled[name]) == "" {
			return fmt.Errorf("%s has to be filled in", safetext.Line(name))
		}
	}
	return nil
}
