package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// offered finds a tool by its name. Tools of MCP servers are named
// server_tool, so web_search also finds brave_web_search.
func offered(tools []ToolSpec, name string) (ToolSpec, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	if name == "web_search" {
		for _, t := range tools {
			if strings.HasSuffix(t.Name, "_"+name) {
				return t, true
			}
		}
	}
	return ToolSpec{}, false
}

// toolShape is what the rules need to know of a tool's arguments.
type toolShape struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func shapeOf(spec ToolSpec) (toolShape, bool) {
	var shape toolShape
	if len(spec.Schema) == 0 || json.Unmarshal(spec.Schema, &shape) != nil || shape.Properties == nil {
		return toolShape{}, false
	}
	return shape, true
}

// fit drops the arguments that the tool does not take; nil when one that it
// needs is missing. A tool without a readable schema takes all.
func fit(spec ToolSpec, args map[string]any) map[string]any {
	shape, known := shapeOf(spec)
	if !known {
		return args
	}
	args = maps.Clone(args)
	maps.DeleteFunc(args, func(name string, _ any) bool { _, takes := shape.Properties[name]; return !takes })
	for _, name := range shape.Required {
		if _, given := args[name]; !given {
			return nil
		}
	}
	return args
}

// namedTool reads "@tool …" and "/tool key=value …": a call in so many words.
func namedTool(message string, task *Task) (plan, bool) {
	if message == "" || (message[0] != '@' && message[0] != '/') {
		return plan{}, false
	}
	name, rest, _ := strings.Cut(message[1:], " ")
	i := slices.IndexFunc(task.Tools, func(t ToolSpec) bool { return t.Name == name })
	if i < 0 {
		if message[0] == '/' && wordOnly(name) {
			return plan{Reasoning: "No such tool.", Answer: fmt.Sprintf("There is no tool or command %q. `/help` lists the commands, `/tools` the tools.", "/"+name)}, true
		}
		return plan{}, false // @note.md, or a path
	}
	spec := task.Tools[i]
	args := fit(spec, readArgs(spec, strings.TrimSpace(rest)))
	if args == nil {
		shape, _ := shapeOf(spec)
		return plan{Reasoning: "An argument is missing.", Answer: fmt.Sprintf("`%s` needs %s. Write `/%s %s=…`.",
			name, strings.Join(shape.Required, ", "), name, strings.Join(shape.Required, "=… "))}, true
	}
	p := plan{Reasoning: "You named the tool."}
	p.add(step{Tool: name, Input: args, Description: message, After: []string{}})
	return p, true
}

func wordOnly(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != ':'
	}) < 0
}

// readArgs reads arguments as JSON, as key=value pairs, or as the text of the
// one argument that the tool needs first.
func readArgs(spec ToolSpec, text string) map[string]any {
	args := map[string]any{}
	if text == "" {
		return args
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &args) == nil {
		return args
	}
	shape, _ := shapeOf(spec)
	pairs := keyValue.FindAllStringSubmatchIndex(text, -1)
	var free strings.Builder // what stands outside the pairs
	end := 0
	for _, m := range pairs {
		name, value := text[m[2]:m[3]], text[m[4]:m[5]]
		if _, takes := shape.Properties[name]; !takes {
			continue
		}
		free.WriteString(text[end:m[0]])
		end = m[1]
		args[name] = typed(shape.Properties[name].Type, unquote(value))
	}
	free.WriteString(text[end:])
	if rest := strings.TrimSpace(free.String()); rest != "" {
		for _, name := range textArguments(shape) {
			if _, given := args[name]; !given {
				args[name] = typed(shape.Properties[name].Type, unquote(rest))
				break
			}
		}
	}
	return args
}

// textArguments are the names that free text may fill: the required ones in
// their order, else those that tools usually call their text.
func textArguments(shape toolShape) []string {
	names := slices.Clone(shape.Required)
	for _, usual := range []string{"query", "text", "message", "content", "path", "place", "expression", "task"} {
		if _, takes := shape.Properties[usual]; takes {
			names = append(names, usual)
		}
	}
	return names
}

// typed turns words into the type that the schema asks for, where they can be.
func typed(kind any, value string) any {
	switch kind {
	case "integer":
		if n, err := strconv.Atoi(value); err == nil {
			return n
		}
	case "number":
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			return json.Number(strconv.FormatFloat(n, 'g', -1, 64))
		}
	case "boolean":
		if b, err := strconv.ParseBool(value); err == nil {
			return b
		}
	case "array", "object":
		var v any
		if json.Unmarshal([]byte(value), &v) == nil {
			return v
		}
		if kind == "array" {
			return []string{value}
		}
	}
	return value
}
