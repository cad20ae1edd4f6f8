package prompt

import (
	"errors"
	"slices"
	"strings"

	"lifehub/internal/pattern"
)

// callMarks precede calls that a model prints as text because its server does
// not support its format: that of Hermes, Qwen and our own prompt, and that of
// Mistral. See docs/design/agent-modes.md for why only these.
var callMarks = []string{"<tool_call>", "[TOOL_CALLS]"}

// markAt returns the offset of the first line that starts with a call mark or
// is a printed call; -1 if there is none. A mark in a code block that is
// preceded by text is a quotation and does not count.
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

// Calls finds the calls that a model printed as text. before is the text in
// front of them. If there are neither calls nor an error, the text is not a
// call. An error describes why a call cannot be parsed.
//
// All JSON after a mark is parsed as calls. Without a mark, the text is calls
// only if it, or else its first JSON code block, starts as JSON, and all values
// name known tools and have arguments. Anything else is an answer that contains
// JSON.
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

// callsIn parses all JSON values in a text as calls.
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

// namesTool reports whether a text that is invalid JSON was meant to be a call.
func namesTool(text string, known func(string) bool) bool {
	return slices.ContainsFunc(quotedName.FindAllStringSubmatch(text, 200), func(m []string) bool { return known(m[1]) })
}
