package llmtest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// searchTool is the tool with which the model of [Paced] looks into the notes.
const searchTool = "search_notes"

// said is a reply: text, or a call.
type said struct {
	text string
	tool string // "" for text
	args string
}

// raw returns the reply as the model writes it.
func (s said) raw() string {
	if s.tool == "" {
		return s.text
	}
	return pacedCall(s.tool, s.args)
}

func (s said) calls() []any {
	function := map[string]string{"name": s.tool, "arguments": s.args}
	return []any{map[string]any{"index": 0, "id": "call_1", "type": "function", "function": function}}
}

// cited finds the numbers of passages.
var cited = regexp.MustCompile(`\[(\d+)\]`)

// reply says the sentence that answers the last question if the request has it,
// and otherwise looks for it, in the shape that the request asks for.
func (s *Paced) reply(body pacedBody) said {
	question, sentence := "", ""
	looked := false // since that question
	var all strings.Builder
	for _, m := range body.Messages {
		text := m.text()
		all.WriteString(text + "\n")
		switch m.Role {
		case "user":
			if q := s.asked(text); q != "" {
				question, sentence, looked = q, s.Answers[q], false
			}
		case "assistant", "tool":
			looked = true
		}
	}
	before, _, has := strings.Cut(all.String(), sentence)
	has = has && question != ""
	args := encoded(map[string]string{"query": question})
	find := question != "" && !has && !looked
	switch {
	case body.Format.Schema.Schema != nil:
		answer := "That is not in your notes."
		if has {
			answer = sentence
		}
		w := wish{tool: "answer", text: answer}
		if find {
			w = wish{tool: searchTool, text: question, args: args}
		}
		text, _ := w.fill("", body.Format.Schema.Schema)
		return said{text: text}
	case find && slices.ContainsFunc(body.Tools, wish{tool: searchTool}.names):
		return said{tool: searchTool, args: args}
	case question == "":
		return said{text: "You are welcome."}
	case !has:
		return said{text: "That is not in your notes."}
	}
	text := `"` + sentence + `"`
	if numbers := cited.FindAllString(before, -1); len(numbers) > 0 {
		text += " " + numbers[len(numbers)-1]
	}
	return said{text: text}
}

// asked returns the question that a message asks last; "" if none is known.
func (s *Paced) asked(message string) (question string) {
	last := -1
	for q := range s.Answers {
		if at := strings.LastIndex(message, q); at > last {
			last, question = at, q
		}
	}
	return question
}

// wish is what the model wants to say where a schema asks for a shape.
type wish struct {
	tool string // answer, or a tool
	text string // of the answer; what the tool is given
	args string // of the tool, where the schema leaves them open
}

type shape struct {
	Type       any
	Const      json.RawMessage
	Enum       []json.RawMessage
	AnyOf      []json.RawMessage `json:"anyOf"`
	OneOf      []json.RawMessage `json:"oneOf"`
	Properties json.RawMessage
	Required   []string
	Items      json.RawMessage
	MinItems   int `json:"minItems"`
}

// names reports whether a schema has the tool as a value.
func (w wish) names(schema json.RawMessage) bool {
	return bytes.Contains(schema, []byte(`"`+w.tool+`"`))
}

// fill writes the shortest value of a schema that says what is wished. name is
// that of the property it is for.
func (w wish) fill(name string, schema json.RawMessage) (value string, ok bool) {
	var s shape
	if json.Unmarshal(schema, &s) != nil {
		return "null", false
	}
	if choices := slices.Concat(s.AnyOf, s.OneOf); len(choices) > 0 {
		return w.fill(name, choices[max(0, slices.IndexFunc(choices, w.names))])
	}
	kind, _ := s.Type.(string)
	switch {
	case s.Const != nil:
		return string(s.Const), true
	case len(s.Enum) > 0:
		return string(s.Enum[max(0, slices.IndexFunc(s.Enum, w.names))]), true
	case kind == "array" && (s.MinItems > 0 || w.names(s.Items)):
		item, _ := w.fill(name, s.Items)
		return "[" + item + "]", true
	case kind == "array":
		return "[]", true
	case kind == "boolean":
		return "false", true
	case kind == "integer", kind == "number":
		return "1", true
	case kind == "object" && len(s.Properties) == 0 && w.args != "":
		return w.args, true
	case kind == "object" || len(s.Properties) > 0:
		return w.object(s), true
	}
	switch name {
	case "text", "answer", "query":
		return encoded(w.text), true
	case "id":
		return `"1"`, true
	}
	return `"Look into the notes."`, true
}

// object fills the required properties, and an answer, in the order of the schema.
func (w wish) object(s shape) string {
	var fields []string
	for name, schema := range ordered(s.Properties) {
		if slices.Contains(s.Required, name) || name == "answer" && w.tool == "answer" {
			value, _ := w.fill(name, schema)
			fields = append(fields, encoded(name)+":"+value)
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// ordered yields the fields of a JSON object in their order.
func ordered(object json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		in := json.NewDecoder(bytes.NewReader(object))
		if _, err := in.Token(); err != nil {
			return
		}
		for in.More() {
			name, err := in.Token()
			var value json.RawMessage
			if err != nil || in.Decode(&value) != nil {
				return
			}
			if key, ok := name.(string); !ok || !yield(key, value) {
				return
			}
		}
	}
}

// encoded returns a value as JSON, on one line and without HTML escapes.
func encoded(v any) string {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if to.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSpace(out.String())
}
