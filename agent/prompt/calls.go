package prompt

import (
	"errors"
	"slices"
	"strings"

	"lifehub/internal/pattern"
)

// callMarks stand before calls that a model prints as text, because its
// server does not know its way of calling: what Hermes, Qwen and our own
// prompt write, and what Mistral does.
// Why only these: docs/design/agent-modes.md.
var callMarks = []string{"<tool_call>", "[TOOL_CALLS]"}

// markAt is where the first line of a text that begins with a mark of a call, or
// prints one, begins with it; -1: none does. In code that something stands before, a mark
// is quoted.
func markAt(text string) int {
	at, open, quoted := 0, false, false
	for line := range strings.Lines(text) {
		inside := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(inside, "```") {
			open = !open
			quoted = open && strings.TrimSpace(text[:at]) != ""
		}
		marked := slices.ContainsFunc(callMarks, func(mark string) bool { return strings.HasPrefix(inside, mark) })
		if !quoted && (marked || !open && printsCall(inside)) {
			return at + len(line) - len(inside)
		}
		at += len(line)
	}
	return -1
}

var fence = pattern.Lazy("(?s)```(?:json|tool_calls?)?[ \t]*\n(.*?)```")

// Calls finds the calls that a model printed as text. before is what it
// said ahead of them. No calls and no error: the text is no call. An error
// says what of a call cannot be read.
//
// All JSON after a mark is calls. Without one, a text is calls if it begins as
// JSON, or else if its first fence of JSON does, and all of them name tools that
// are there and hold arguments: anything else is an answer that holds JSON.
func Calls(text string, known func(name string) bool) (before string, calls []Step, err error) {
	text = withoutThoughts(text)
	if len(text) > maxDraft {
		return text, nil, nil
	}
	at := markAt(text)
	if at >= 0 && printsCall(text[at:]) {
		if calls, err = printedCalls(text[at:], known); err != nil || len(calls) > 0 {
			return text[:at], calls, err
		}
		return text, nil, nil
	}
	if at >= 0 {
		calls, err = callsIn(text[at:])
		if err == nil && len(calls) == 0 {
			err = errors.New("it holds no call")
		}
		return text[:at], calls, err
	}
	body := strings.TrimSpace(text)
	if m := fence.FindStringSubmatchIndex(text); m != nil && !beginsJSON(body) {
		before, body = text[:m[0]], strings.TrimSpace(text[m[2]:m[3]])
	}
	if !beginsJSON(body) {
		return text, nil, nil
	}
	calls, err = callsIn(body)
	switch {
	case err != nil && strings.TrimSpace(before) == "" && namesTool(body, known):
		return before, nil, err
	case err != nil || len(calls) == 0 || slices.ContainsFunc(calls, func(c Step) bool { return !known(c.Tool) || c.Input == nil }):
		return text, nil, nil
	}
	return before, calls, nil
}

// callsIn reads the JSON of a text as calls: each value has to be one, or
// several.
func callsIn(text string) (calls []Step, err error) {
	for raw, err := range jsonIn(text) {
		if err != nil {
			return nil, err
		}
		d, err := asDraft(raw)
		if err != nil {
			return nil, err
		}
		calls = append(calls, d.Steps...)
	}
	if slices.ContainsFunc(calls, func(c Step) bool { return c.Tool == "" }) {
		return nil, errors.New("it names no tool")
	}
	return calls, nil
}

var quotedName = pattern.Lazy(`["']([\w.\-]+)["']`)

// namesTool reports whether a text that is no JSON was meant to be a call.
func namesTool(text string, known func(string) bool) bool {
	return slices.ContainsFunc(quotedName.FindAllStringSubmatch(text, 200), func(m []string) bool { return known(m[1]) })
}
