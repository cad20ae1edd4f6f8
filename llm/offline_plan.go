package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// plan is what the planner of a turn expects, in the order of its prompt.
type plan struct {
	Reasoning string `json:"reasoning"`
	Answer    string `json:"answer,omitempty"`
	Steps     []step `json:"steps"`
}

type step struct {
	ID          string         `json:"id"`
	Tool        string         `json:"tool"`
	Input       map[string]any `json:"input"`
	Description string         `json:"description"`
	After       []string       `json:"after"`
}

// Bounds on what the rules read. A message beyond the first is a pasted text,
// which is not cut into requests; one beyond the second is searched for by its
// beginning.
const (
	maxRequestBytes = 2 << 10
	maxRuleBytes    = 64 << 10
)

// makePlan turns a message into a plan by rules and returns it as JSON.
func makePlan(task *Task) string {
	p := planFor(task)
	if p.Steps == nil {
		p.Steps = []step{}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil { // maps of strings and numbers encode
		return `{"reasoning":"","steps":[]}`
	}
	return strings.TrimSpace(out.String())
}

func planFor(task *Task) plan {
	message := strings.TrimSpace(task.Question)
	if len(message) > maxRuleBytes {
		message = clipBytes(message, maxRequestBytes)
	}
	german := looksGerman(message)
	if reply := smallTalk(message, german, task.Tools); reply != "" {
		return plan{Reasoning: "This needs no tool.", Answer: reply}
	}
	if p, ok := namedTool(message, task); ok {
		return p
	}

	p := plan{Reasoning: "Offline: planned by rules, without a model."}
	var topics []string
	var calls []clause
	for _, part := range clauses(message, task) {
		switch {
		case part.call.tool != "":
			calls = append(calls, part)
		case smallTalk(part.text, german, task.Tools) == "":
			topics = append(topics, part.text)
		}
	}
	if len(topics) > 0 || len(calls) == 0 {
		p.search(strings.Join(topics, " "), task)
	}
	after := []string{} // the step before that changes a note; two at once could meet in one
	for _, part := range calls {
		s := step{Tool: part.call.tool, Input: part.call.args, Description: part.text, After: []string{}}
		if writes[s.Tool] {
			s.After = after
		}
		if id := p.add(s); writes[s.Tool] {
			after = []string{id}
		}
	}
	if len(p.Steps) == 0 {
		p.Answer = choose(german,
			"I am offline, and none of the tools that are switched on fits this.",
			"Ich bin offline, und keines der eingeschalteten Werkzeuge passt dazu.")
	}
	return p
}

// maxPlanSteps is the most steps of a plan.
const maxPlanSteps = 8

// add appends a step, if there is room, and returns its id.
func (p *plan) add(s step) string {
	if len(p.Steps) < maxPlanSteps {
		s.ID = strconv.Itoa(len(p.Steps) + 1)
		s.Description = clipBytes(oneLine(s.Description), 120)
		p.Steps = append(p.Steps, s)
	}
	return strconv.Itoa(len(p.Steps))
}

// search adds the step that answers most questions.
func (p *plan) search(topic string, task *Task) {
	spec, ok := offered(task.Tools, "search_notes")
	if !ok {
		return
	}
	args := searchArgs(topic, task)
	if args = fit(spec, args); args != nil {
		p.add(step{Tool: "search_notes", Input: args, Description: "search your notes", After: []string{}})
	}
}

// writes are the tools that change notes.
var writes = map[string]bool{"create_note": true, "append_note": true, "add_task": true, "complete_task": true, "edit_note": true, "remember": true}

// call is a tool with its arguments, as read from a clause.
type call struct {
	tool string
	args map[string]any
}

// read gives the first rule's reading of a clause whose tool is offered; its
// tool is "" when no rule knows the clause.
func read(clause string, task *Task) call {
	said := polite.ReplaceAllString(strings.TrimSpace(clause), "")
	for _, rule := range rules {
		spec, ok := offered(task.Tools, rule.tool)
		if !ok {
			continue
		}
		if args := rule.read(said, task); args != nil {
			if args = fit(spec, args); args != nil {
				return call{spec.Name, args}
			}
		}
	}
	return call{}
}

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

func choose(german bool, english, deutsch string) string {
	if german {
		return deutsch
	}
	return english
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clipBytes cuts a text to at most n bytes, at the end of a character.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
