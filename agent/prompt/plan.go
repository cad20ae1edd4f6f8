package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxDraft bounds how much of a model's text is parsed, in bytes.
const maxDraft = 256 << 10

// Draft is a plan as written by the model, before any checks.
type Draft struct {
	Reasoning string
	Answer    string
	Steps     []Step
	Again     bool // planning continues after the steps
}

// Step is a step of a plan, or a call, as written by the model.
type Step struct {
	ID, Tool, Description string
	Input                 json.RawMessage
	After                 []string
}

// listIn returns the list of steps among a plan's fields. "plan" may also be
// plain text.
func listIn(fields map[string]json.RawMessage) json.RawMessage {
	if plan := fields["plan"]; len(plan) > 0 && plan[0] == '[' {
		return plan
	}
	return first(fields, "steps", "tasks", "tool_calls")
}

// Plan parses the plan in a model's reply. It may be in a code block, after
// reasoning or between prose, or consist only of its list of steps, or of calls
// in OpenAI's format. Invalid JSON is an error, so that a part of a plan is
// never mistaken for the whole.
func Plan(text string) (Draft, error) {
	problem := errNoObject
	for raw, err := range jsonIn(text) {
		if err != nil {
			return Draft{}, err
		}
		d, err := asDraft(raw)
		if err == nil {
			return d, nil
		}
		problem = err
	}
	return Draft{}, problem
}

// UntilRepeated returns a plan, while it is streamed, without its first step that
// makes the same call as an earlier one, and what follows: a model that repeats
// itself does not stop by itself. It reports false if no step does.
func UntilRepeated(text string) (plan string, repeats bool) {
	if len(text) > maxDraft {
		return "", false
	}
	_, rest, _, _ := channels(text)
	at := stepsBegin.FindStringIndex(rest)
	if at == nil {
		return "", false
	}
	list := json.NewDecoder(strings.NewReader(rest[at[1]-1:]))
	_, _ = list.Token()
	for calls := []Step{}; list.More(); {
		end := at[1] - 1 + int(list.InputOffset())
		var raw json.RawMessage
		if list.Decode(&raw) != nil {
			return "", false
		}
		call, err := asStep(raw, 0)
		if err != nil {
			return "", false
		}
		if slices.ContainsFunc(calls, func(c Step) bool {
			return c.Tool == call.Tool &&
				compact(c.Input) == compact(call.Input)
		}) {
			return strings.TrimRight(rest[:end], ", \t\r\n") + "]}", true
		}
		calls = append(calls, call)
	}
	return "", false
}

var stepsBegin = regexp.MustCompile(`"steps"\s*:\s*\[`)

// compact returns a JSON value without the space between its tokens.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// PlanOrCalls is like [Plan], but also takes calls of known tools that the model
// wrote instead of a plan.
func PlanOrCalls(text string, known func(name string) bool) (Draft, error) {
	d, err := Plan(text)
	if r := Read(text, known); err != nil && len(r.Calls) > 0 {
		return Draft{Steps: r.Calls}, nil
	}
	return d, err
}

// asDraft parses a JSON value as a plan: an object with steps or an answer, a
// list of steps, or one step.
func asDraft(raw json.RawMessage) (Draft, error) {
	if raw[0] == '[' {
		steps, err := asSteps(raw)
		if err != nil || len(steps) == 0 {
			return Draft{}, errors.New("the list holds no steps")
		}
		return Draft{Steps: steps}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return Draft{}, fmt.Errorf("not a JSON object: %w", err)
	}
	d := Draft{
		Reasoning: Text(fields["reasoning"]), Answer: Answer(Text(fields["answer"])),
		Again: strings.Trim(string(fields["again"]), `"`) == "true",
	}
	switch list := listIn(fields); {
	case list != nil && string(list) != "null":
		var err error
		if d.Steps, err = asSteps(list); err != nil {
			return Draft{}, err
		}
	case first(fields, "tool", "tool_name", "name", "function") != nil:
		step, err := asStep(raw, 0)
		if err != nil {
			return Draft{}, err
		}
		d.Steps = []Step{step}
	case d.Answer == "" && d.Reasoning == "" && fields["answer"] == nil && fields["steps"] == nil:
		return Draft{}, errors.New(`the object has no "steps"`)
	}
	return d, nil
}

func asSteps(raw json.RawMessage) ([]Step, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New(`"steps" is not a list`)
	}
	var steps []Step
	for i, item := range list {
		step, err := asStep(item, i)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return withoutIdle(steps), nil
}

// withoutIdle removes the steps without a tool from a plan that has other
// steps, such as {"tool": null, "description": "Synthesize"}, because an answer
// is written anyway. Steps that depend on a removed one depend on its
// dependencies instead.
func withoutIdle(steps []Step) []Step {
	idle := func(s Step) bool { return s.Tool == "" && s.Input == nil }
	if !slices.ContainsFunc(steps, func(s Step) bool { return !idle(s) }) {
		return steps
	}
	for _, gone := range steps {
		for i := range steps {
			if at := slices.Index(steps[i].After, gone.ID); at >= 0 && idle(gone) {
				steps[i].After = slices.Replace(slices.Clone(steps[i].After), at, at+1, gone.After...)
			}
		}
	}
	return slices.DeleteFunc(steps, idle)
}

func asStep(raw json.RawMessage, index int) (Step, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return Step{}, fmt.Errorf("step %d is not a JSON object", index+1)
	}
	if inner := fields["function"]; len(inner) > 0 && inner[0] == '{' { // {"type":"function","function":{…}}
		return asStep(inner, index)
	}
	step := Step{
		ID:          Text(first(fields, "id", "task_number", "step")),
		Tool:        Text(first(fields, "tool", "tool_name", "name")),
		Description: Text(fields["description"]),
		Input:       first(fields, "input", "tool_input", "tool_arguments", "arguments", "parameters"),
		After:       Texts(fields["after"]),
	}
	if step.Input == nil {
		step.Input = onlyObject(fields)
	}
	if step.ID == "" {
		step.ID = strconv.Itoa(index + 1)
	}
	return step, nil
}

// first returns the value of the first name that is present.
func first(fields map[string]json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if value, ok := fields[name]; ok {
			return value
		}
	}
	return nil
}

// onlyObject returns the only value that is an object, or nil.
func onlyObject(fields map[string]json.RawMessage) (object json.RawMessage) {
	for _, value := range fields {
		if IsObject(value) {
			if object != nil {
				return nil
			}
			object = value
		}
	}
	return object
}

// Text returns a JSON string or number as text; "" for anything else.
func Text(raw json.RawMessage) string {
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

// Texts returns the texts in a JSON list, or a single text.
func Texts(raw json.RawMessage) (texts []string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		if text := Text(item); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// IsObject reports whether a JSON value is an object.
func IsObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}
