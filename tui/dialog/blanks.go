package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/chat"
	"lifehub/tui/safetext"
)

// Blanks are the variables of a prompt and the values that the user typed after its name.
type Blanks struct {
	list  []chat.Blank // in the order of the form: required ones first
	Given map[string]string
}

// NewBlanks parses what was typed: city=Hamburg "state"=HH, or the values in the order of
// the blanks, with the rest for the last one.
func NewBlanks(list []chat.Blank, typed string) Blanks {
	b := Blanks{list: slices.Clone(list), Given: map[string]string{}}
	slices.SortStableFunc(b.list, func(a, b chat.Blank) int { return requiredFirst(a.Required, b.Required) })
	known := func(pair [2]string) bool {
		return slices.ContainsFunc(b.list, func(blank chat.Blank) bool { return blank.Name == pair[0] })
	}
	pairs, err := gate.SplitArguments(typed)
	if err == nil && !slices.ContainsFunc(pairs, func(pair [2]string) bool { return !known(pair) }) {
		for _, pair := range pairs {
			b.Given[pair[0]] = pair[1]
		}
		return b
	}
	for i, blank := range b.list {
		word := strings.TrimSpace(typed)
		if i < len(b.list)-1 {
			word, typed, _ = strings.Cut(word, " ")
		}
		if word != "" {
			b.Given[blank.Name] = word
		}
	}
	return b
}

// Question asks for the blanks of a prompt; filled is called with the values.
func (b Blanks) Question(of chat.Template, filled func(values map[string]string)) agent.InputAsked {
	server, _, _ := strings.Cut(of.Name, ":")
	check := func(values json.RawMessage) error { _, err := b.Read(values); return err }
	return agent.InputAsked{
		Question: agent.Question{
			From: server, Kind: agent.FormInput, Message: of.Help,
			Schema: b.Schema(), Check: check,
		},
		Reply: func(given agent.Input) {
			if values, err := b.Read(given.Values); err == nil && given.Action == agent.InputAccepted {
				filled(values)
			}
		},
	}
}

// Schema returns the JSON Schema of a form for the blanks, with the given values as
// defaults.
func (b Blanks) Schema() json.RawMessage {
	type property struct {
		Type        string `json:"type"`
		Description string `json:"description,omitempty"`
		Default     string `json:"default,omitempty"`
	}
	fields, required := make([]string, len(b.list)), []string{}
	for i, blank := range b.list {
		name, _ := json.Marshal(blank.Name) // a text can always be encoded
		field, _ := json.Marshal(property{"string", blank.Help, b.Given[blank.Name]})
		fields[i] = fmt.Sprintf("%s:%s", name, field)
		if blank.Required {
			required = append(required, blank.Name)
		}
	}
	names, _ := json.Marshal(required)
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s}`, strings.Join(fields, ","), names)
}

// Complete reports whether no required value is missing.
func (b Blanks) Complete() bool {
	return len(b.list) == 0 || len(b.Given) > 0 && b.missing(b.Given) == nil
}

// Read returns the values of a filled form, or an error that names a missing one.
func (b Blanks) Read(values json.RawMessage) (filled map[string]string, err error) {
	if err := json.Unmarshal(values, &filled); err != nil {
		return nil, fmt.Errorf("read the values: %w", err)
	}
	return filled, b.missing(filled)
}

func (b Blanks) missing(filled map[string]string) error {
	for _, blank := range b.list {
		if blank.Required && strings.TrimSpace(filled[blank.Name]) == "" {
			return fmt.Errorf("%s is required", safetext.Line(blank.Name))
		}
	}
	return nil
}
