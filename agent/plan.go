package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxDraft bounds what is read of a planner's answer, in bytes.
const maxDraft = 256 << 10

// draft is a plan as the model wrote it, before anything was checked.
type draft struct {
	Reasoning string
	Answer    string
	Steps     []draftStep
}

type draftStep struct {
	ID, Tool, Description string
	Input                 json.RawMessage
	After                 []string
}

// readPlan finds the plan in a model's answer: it may stand in a fence, after
// thoughts, between prose, or be only its list of steps. Other names that
// models give to the fields are understood. JSON that is broken is an error: a
// part of a plan is never taken for the whole.
func readPlan(text string) (draft, error) {
	problem := errNoObject
	for raw, err := range jsonIn(text) {
		if err != nil {
			return draft{}, err
		}
		d, err := asDraft(raw)
		if err == nil {
			return d, nil
		}
		problem = err
	}
	return draft{}, problem
}

// asDraft reads a JSON value as a plan: an object with steps or an answer, a
// list of steps, or one step.
func asDraft(raw json.RawMessage) (draft, error) {
	if raw[0] == '[' {
		steps, err := asSteps(raw)
		if err != nil || len(steps) == 0 {
			return draft{}, errors.New("the list holds no steps")
		}
		return draft{Steps: steps}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return draft{}, fmt.Errorf("it is no object: %w", err)
	}
	d := draft{
		Reasoning: asText(first(fields, "reasoning", "thought", "thoughts")),
		Answer:    asText(first(fields, "answer", "response", "reply")),
	}
	list := first(fields, "steps", "plan", "tasks", "tool_calls", "calls")
	if isObject(list) { // {"plan":{"steps":[…]}}
		return asDraft(list)
	}
	switch {
	case list != nil && string(list) != "null":
		var err error
		if d.Steps, err = asSteps(list); err != nil {
			return draft{}, err
		}
	case first(fields, "tool", "tool_name", "name", "function") != nil:
		step, err := asStep(raw, 0)
		if err != nil {
			return draft{}, err
		}
		d.Steps = []draftStep{step}
	case d.Answer == "" && d.Reasoning == "" && fields["answer"] == nil && fields["steps"] == nil:
		return draft{}, errors.New(`the object has no "steps"`)
	}
	return d, nil
}

func asSteps(raw json.RawMessage) ([]draftStep, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New(`"steps" is no list`)
	}
	var steps []draftStep
	for i, item := range list {
		step, err := asStep(item, i)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func asStep(raw json.RawMessage, index int) (draftStep, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return draftStep{}, fmt.Errorf("step %d is no object", index+1)
	}
	if inner := fields["function"]; len(inner) > 0 && inner[0] == '{' { // {"type":"function","function":{…}}
		return asStep(inner, index)
	}
	step := draftStep{
		ID:          asText(first(fields, "id", "step", "task_number")),
		Tool:        asText(first(fields, "tool", "tool_name", "name", "function")),
		Description: asText(first(fields, "description", "task")),
		Input:       first(fields, "input", "tool_input", "args", "arguments", "parameters", "tool_arguments"),
		After:       asTexts(first(fields, "after", "depends_on", "dependencies")),
	}
	if step.ID == "" {
		step.ID = strconv.Itoa(index + 1)
	}
	if step.Input == nil { // {"tool":"search_notes","query":"running"}
		step.Input = beside(fields)
	}
	return step, nil
}

// beside are the arguments of a step that has them among its own fields; nil:
// there are none.
func beside(fields map[string]json.RawMessage) json.RawMessage {
	args := map[string]json.RawMessage{}
	for name, value := range fields {
		if !fieldsOfStep[name] {
			args[name] = value
		}
	}
	if len(args) == 0 {
		return nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil
	}
	return raw
}

// fieldsOfStep are the fields of a step that are no arguments of its tool.
var fieldsOfStep = map[string]bool{
	"id": true, "step": true, "task_number": true, "tool": true, "tool_name": true, "name": true, "function": true, "description": true,
	"task": true, "after": true, "depends_on": true, "dependencies": true, "type": true, "reasoning": true, "thought": true, "status": true,
}

// first is the field with the first of the names that is there.
func first(fields map[string]json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if value, ok := fields[name]; ok {
			return value
		}
	}
	return nil
}

// asText reads a string or a number as text; anything else is none.
func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

func asTexts(raw json.RawMessage) (texts []string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		if text := asText(item); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// asWord reads a string, or a bare word of JSON such as true.
func asWord(raw json.RawMessage) string {
	if s := asText(raw); s != "" {
		return s
	}
	return string(raw)
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// fieldsOf are the fields of an object, by their names in lower case. Where
// none of the wanted ones is there, and one field alone holds an object, they
// are those of that.
func fieldsOf(raw json.RawMessage, wanted ...string) map[string]json.RawMessage {
	var named map[string]json.RawMessage
	if json.Unmarshal(raw, &named) != nil {
		return nil
	}
	fields := map[string]json.RawMessage{}
	for name, value := range named {
		fields[strings.ToLower(name)] = value
	}
	if len(wanted) > 0 && len(fields) == 1 && first(fields, wanted...) == nil {
		for _, inner := range fields {
			if isObject(inner) {
				return fieldsOf(inner)
			}
		}
	}
	return fields
}
