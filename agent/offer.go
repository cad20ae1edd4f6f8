package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/llm"
)

// offer chooses the tools that the planner may use: all of them, or, when
// there are more than limit, those that the user named and those whose name
// and description share most words with the question. The order stays.
func offer(tools []Tool, question string, limit int) []Tool {
	if len(tools) <= limit {
		return tools
	}
	asked := words(question)
	rank := make(map[string]int, len(tools)) // higher is more relevant
	for _, tool := range tools {
		spec := tool.Spec()
		switch {
		case strings.Contains(strings.ToLower(question), strings.ToLower(spec.Name)):
			rank[spec.Name] = 1 << 20
		case spec.Name == searchTool:
			rank[spec.Name] = 1 << 19
		default:
			rank[spec.Name] = 2*shared(asked, words(spec.Name)) + shared(asked, words(spec.Description))
		}
	}
	best := slices.Clone(tools)
	slices.SortStableFunc(best, func(a, b Tool) int { return rank[b.Spec().Name] - rank[a.Spec().Name] })
	best = best[:limit]
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool {
		return !slices.ContainsFunc(best, func(b Tool) bool { return b.Spec().Name == t.Spec().Name })
	})
}

// words is the set of words of a text, by their first five letters, so that
// "task" and "tasks", "mail" and "mailed" meet.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, tok := range tokenize(text) {
		if !tok.stop {
			set[prefix(tok.text, 5)] = true
		}
	}
	return set
}

func shared(a, b map[string]bool) (n int) {
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}

// prefix is the first n runes of s.
func prefix(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func specs(tools []Tool) []llm.ToolSpec {
	var list []llm.ToolSpec
	for _, tool := range tools {
		list = append(list, tool.Spec())
	}
	return list
}

// describe lists tools for a prompt, one a line:
//
//	add_task(text: string, due?: string "YYYY-MM-DD"): Add a task.
func describe(specs []llm.ToolSpec) string {
	if len(specs) == 0 {
		return "(none)"
	}
	const longest = 2000 // bytes: servers describe at any length
	var b strings.Builder
	for _, spec := range specs {
		fmt.Fprintf(&b, "%s(%s): %s\n", spec.Name, oneLine(clip(arguments(spec.Schema), longest)), oneLine(clip(spec.Description, longest)))
	}
	return strings.TrimRight(b.String(), "\n")
}

// arguments writes a schema short; one that is not a plain list of arguments
// is given as it is.
func arguments(schema json.RawMessage) string {
	if len(schema) == 0 {
		return ""
	}
	top := shapeOf(schema)
	var list []string
	for _, name := range propertyOrder(schema) {
		property := top.Properties[name]
		if property.Properties != nil || property.Type == nil && property.Enum == nil {
			return string(schema)
		}
		optional := "?"
		if slices.Contains(top.Required, name) {
			optional = ""
		}
		text := name + optional + ": " + property.kind()
		if property.Description != "" {
			text += fmt.Sprintf(" %q", oneLine(property.Description))
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// kind names what an argument may be.
func (s shape) kind() string {
	if len(s.Enum) > 0 {
		var list []string
		for _, value := range s.Enum {
			list = append(list, fmt.Sprintf("%v", value))
		}
		return strings.Join(list, "|")
	}
	if s.is("array") && s.Items != nil && s.Items.Type != nil {
		return "list of " + s.Items.kind()
	}
	return fmt.Sprint(s.Type)
}

// propertyOrder is the order in which the schema's author wrote its arguments.
func propertyOrder(schema json.RawMessage) (names []string) {
	var top struct{ Properties json.RawMessage }
	if json.Unmarshal(schema, &top) != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(top.Properties))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return names
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return names
		}
		names = append(names, name.(string)) // the keys of an object are strings
	}
	return names
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
