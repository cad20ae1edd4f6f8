package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lifehub/internal/pattern"
)

// callMarks are what models put before calls that they print as text, because
// their server does not know their way of calling. Sources: the chat templates
// of Qwen and Hermes, Mistral, Llama 3, DeepSeek, functionary, Granite, Phi,
// Kimi, GLM, gpt-oss, and the prompts of ReAct.
var callMarks = []string{
	"<tool_call", "<|tool_call", "<function=", "<function_call", "<functioncall", "[TOOL_CALLS]", "[TOOL_CALL]", "<|python_tag|>",
	"<｜tool▁call", "<|recipient|>", ">>>", "<|channel|>commentary to=", "to=functions.", "<invoke name=", "```tool_code", "```tool_call", "\nAction:",
	"<start_function_call>",
}

// maxMark is how much of a text's end may be the beginning of a mark, in bytes.
const maxMark = 32

// markAt is where the first mark of a call stands in a text; -1: there is none.
func markAt(text string) int {
	at := -1
	for _, mark := range callMarks {
		if i := strings.Index(text, mark); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if strings.HasPrefix(text, "Action:") {
		return 0
	}
	return at
}

// readCalls finds the calls that a model printed as text. before is what it
// said ahead of them. No calls and no error: the text is no call. An error
// says what of a call cannot be read.
func readCalls(text string, known func(name string) bool) (before string, calls []draftStep, err error) {
	defer func() {
		for i := range calls {
			calls[i].Tool = toolName(calls[i].Tool, known)
		}
	}()
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		text = text[i+len("</think>"):]
	}
	if len(text) > maxDraft {
		return text, nil, nil
	}
	if at := markAt(text); at >= 0 {
		calls, err := readMarked(text[at:], known)
		if err == nil && len(calls) == 0 {
			err = errors.New("it holds no call")
		}
		if err != nil && strings.HasPrefix(text[at:], ">>>") && !known(nameWord.FindString(text[at+len(">>>"):])) {
			return text, nil, nil // a quotation
		}
		return text[:at], calls, err
	}
	return readUnmarked(text, known)
}

// readMarked reads what stands after a mark.
func readMarked(text string, known func(string) bool) ([]draftStep, error) {
	switch {
	case strings.Contains(text, "<parameter=") || strings.Contains(text, "<parameter name=") || emptyTagged.MatchString(text):
		return readTagged(text, taggedCall, taggedValue)
	case strings.Contains(text, "<arg_key>") || emptyKeyed.MatchString(text):
		return readTagged(text, keyedCall, keyedValue)
	}
	if strings.HasPrefix(text, "```tool_code") {
		if calls := readPython(text, known); len(calls) > 0 {
			return calls, nil
		}
	}
	calls, err := readNamed(text, known)
	if len(calls) == 0 {
		if more := readPython(text, known); len(more) > 0 {
			return more, nil
		}
	}
	return calls, err
}

// readUnmarked reads a text that is a call and nothing else: JSON, also in a
// fence, or a list of Python calls. JSON in the middle of prose counts when it
// stands in a fence and calls a tool that is there.
func readUnmarked(text string, known func(string) bool) (before string, calls []draftStep, err error) {
	trimmed := strings.TrimSpace(text)
	if fenced := fencedText(trimmed); fenced != "" {
		if calls := callsIn(fenced); len(calls) > 0 && known(calls[0].Tool) {
			return text[:strings.Index(text, "```")], calls, nil
		}
	}
	body := strings.Trim(trimmed, "`")
	if body != trimmed { // what stands behind the opening marks names a language
		body = strings.TrimPrefix(body, pythonWord.FindString(body)+"\n")
	}
	body = strings.TrimSpace(body)
	if calls := pythonAlone(body, known); len(calls) > 0 {
		return "", calls, nil
	}
	if calls := namedByTags(body, known); len(calls) > 0 {
		return "", calls, nil
	}
	if body == "" || body[0] != '{' && body[0] != '[' {
		return text, nil, nil
	}
	if calls := readPython(body, known); body[0] == '[' && len(calls) > 0 {
		return "", calls, nil
	}
	if calls := callsIn(body); len(calls) > 0 {
		return "", calls, nil
	}
	if calls := keyedByName(body, known); len(calls) > 0 {
		return "", calls, nil
	}
	if looksLikeCall.MatchString(body) && slices.ContainsFunc(jsonWords(body), known) {
		if _, _, err := readJSON(body); err != nil {
			return "", nil, fmt.Errorf("it is no valid JSON: %w", err)
		}
		return "", nil, errors.New("it is JSON of another shape than a call")
	}
	return text, nil, nil
}

// keyedByName reads {"search_notes": {"query": …}}: each key is a tool.
func keyedByName(body string, known func(string) bool) (calls []draftStep) {
	raw, _, err := readJSON(body)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for _, name := range sortedKeys(fields) {
		if !known(name) || !isObject(fields[name]) {
			return nil
		}
		calls = append(calls, draftStep{Tool: name, Input: fields[name]})
	}
	return calls
}

// namedByTags reads a text that is nothing but
// <search_notes><query>running</query></search_notes>.
func namedByTags(body string, known func(string) bool) []draftStep {
	m := taggedByName.FindStringSubmatch(body)
	if m == nil || m[1] != m[3] || !known(m[1]) {
		return nil
	}
	args := map[string]json.RawMessage{}
	for _, value := range taggedArgument.FindAllStringSubmatch(m[2], -1) {
		if value[1] == value[3] {
			args[value[1]] = looseValue(value[2])
		}
	}
	input, err := json.Marshal(args)
	if err != nil {
		return nil
	}
	return []draftStep{{Tool: m[1], Input: input}}
}

var (
	taggedByName   = pattern.Lazy(`(?s)^<([\w.\-]+)>(.*)</([\w.\-]+)>$`)
	taggedArgument = pattern.Lazy(`(?s)<([\w.\-]+)>\s*(.*?)\s*</([\w.\-]+)>`)
)

var looksLikeCall = pattern.Lazy(`"(?:name|tool|function|tool_name)"\s*:[\s\S]*"(?:arguments|parameters|args|input|tool_input)"\s*:`)

var jsonWord = pattern.Lazy(`"([\w.\-]+)"`)

func jsonWords(text string) (list []string) {
	for _, m := range jsonWord.FindAllStringSubmatch(text, 200) {
		list = append(list, m[1])
	}
	return list
}

var fence = pattern.Lazy("(?s)```(?:json|tool_call|tool_calls)?[ \t]*\n(.*?)```")

// fencedText is the inside of the first fence of a text.
func fencedText(text string) string {
	if m := fence.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// callsIn reads JSON that is calls: one after the other, or in a list. Each
// has to name a tool and to hold arguments.
func callsIn(text string) (calls []draftStep) {
	for text = strings.TrimLeft(text, " \t\r\n;,"); text != ""; text = strings.TrimLeft(text, " \t\r\n;,") {
		if text[0] != '{' && text[0] != '[' {
			return calls
		}
		raw, length, err := readJSON(text)
		if err != nil {
			return nil
		}
		steps := callsOf(raw)
		if len(steps) == 0 {
			return nil
		}
		calls = append(calls, steps...)
		text = text[length:]
	}
	return calls
}

// callsOf reads a JSON value as calls; nil: it is none.
func callsOf(raw json.RawMessage) (calls []draftStep) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list {
			inner := callsOf(item)
			if len(inner) == 0 {
				return nil
			}
			calls = append(calls, inner...)
		}
		return calls
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	if inner := first(fields, "tool_calls", "calls"); inner != nil {
		return callsOf(inner)
	}
	if inner := first(fields, "function", "tool_call", "function_call"); len(inner) > 0 && inner[0] == '{' {
		return callsOf(inner)
	}
	name := asText(first(fields, "name", "tool", "tool_name", "function", "function_name", "action"))
	args := first(fields, "arguments", "parameters", "args", "input", "tool_input", "action_input", "tool_arguments")
	if name == "" || args == nil {
		return nil
	}
	return []draftStep{{Tool: strings.TrimSpace(name), Input: args}}
}

// noise are words that formats put between a mark and the arguments.
var noise = map[string]bool{
	"function": true, "functions": true, "json": true, "tool_call": true, "tool_calls": true, "tool": true, "call": true, "calls": true, "id": true,
	"Action": true, "Input": true, "content": true, "recipient": true, "from": true, "assistant": true, "to": true, "channel": true,
	"commentary": true, "constrain": true, "message": true, "ARGS": true, "CALL_ID": true, "TOOL_CALLS": true, "begin": true, "end": true,
	"sep": true, "python_tag": true, "start": true, "argument": true, "arguments": true, "eom_id": true, "eot_id": true, "im_end": true,
	"name": true, "invoke": true, "functioncall": true, "function_call": true, "tool_call_begin": true, "tool_call_argument_begin": true,
	"tool_calls_section_begin": true, "tool_call_end": true, "tool_calls_section_end": true, "tool_code": true, "Observation": true, "Thought": true,
	"tool_call_start": true, "plugin": true, "action_start": true,
}

var nameWord = pattern.Lazy(`[\w][\w.\-/]*`)

// readNamed reads the JSON objects of a text as calls. One that is no whole
// call holds the arguments of the tool whose name stands before it.
func readNamed(text string, known func(string) bool) (calls []draftStep, err error) {
	gap := 0 // where the text between two objects begins
	for i := 0; i < len(text); i++ {
		if text[i] == '[' && !strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\r\n"), "{") || text[i] != '{' && text[i] != '[' {
			continue
		}
		raw, length, err := readJSON(text[i:])
		if err != nil {
			return calls, fmt.Errorf("it is no valid JSON: %w", err)
		}
		name := nameIn(text[gap:i], known)
		if whole := callsOf(raw); len(whole) > 0 && (known(whole[0].Tool) || !known(name)) { // else arguments that look like a call
			calls = append(calls, whole...)
		} else if name != "" {
			calls = append(calls, draftStep{Tool: name, Input: raw})
		} else {
			return calls, errors.New("it names no tool")
		}
		i += length - 1
		gap = i + 1
	}
	if len(calls) == 0 {
		if m := actionLine.FindStringSubmatch(text); m != nil {
			input, err := json.Marshal(strings.TrimSpace(m[2]))
			if err != nil {
				return nil, err
			}
			return []draftStep{{Tool: strings.TrimSpace(m[1]), Input: input}}, nil
		}
	}
	return calls, nil
}

// actionLine is a ReAct action whose input is no JSON.
var actionLine = pattern.Lazy(`Action:\s*([\w.\-]+)\s*\n\s*Action Input:[ \t]*(.*)`)

// nameIn is the tool that a text before arguments names: the last one that is
// there, else the last word that no format puts there.
func nameIn(text string, known func(string) bool) (name string) {
	for _, word := range nameWord.FindAllString(text, -1) {
		if word = toolName(word, known); known(word) {
			name = word
		}
	}
	if name != "" {
		return name
	}
	for _, word := range nameWord.FindAllString(text, -1) {
		if word = toolName(word, known); !noise[word] && word != "" && (word[0] < '0' || word[0] > '9') {
			name = word
		}
	}
	return name
}

// toolName leaves out what some formats put before the name of a tool, where
// it is no part of it.
func toolName(name string, known func(string) bool) string {
	if name = strings.TrimSpace(name); known(name) {
		return name
	}
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "functions."), "default_api."), ".call")
	return name
}

// Calls of tags: <function=NAME><parameter=KEY>VALUE</parameter> …, and
// <tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value> ….
var (
	taggedCall  = pattern.Lazy(`<(?:function=|invoke name=)"?([\w.\-]+)"?\s*>`)
	taggedValue = pattern.Lazy(`(?s)<parameter(?:=| name=)"?([\w.\-]+)"?\s*>\n?(.*?)\n?</parameter>`)
	emptyTagged = pattern.Lazy(`<(?:function=|invoke name=)"?[\w.\-]+"?\s*>\s*</`)
	emptyKeyed  = pattern.Lazy(`<tool_call>\s*[\w.\-]+\s*</tool_call>`)
	keyedCall   = pattern.Lazy(`<tool_call>\s*([\w.\-]+)`)
	keyedValue  = pattern.Lazy(`(?s)<arg_key>\s*([\w.\-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
)

func readTagged(text string, call, value pattern.Pattern) (calls []draftStep, err error) {
	names := call.FindAllStringSubmatchIndex(text, -1)
	for i, at := range names {
		end := len(text)
		if i+1 < len(names) {
			end = names[i+1][0]
		}
		body := text[at[1]:end]
		args := map[string]json.RawMessage{}
		for _, m := range value.FindAllStringSubmatch(body, -1) {
			args[m[1]] = looseValue(m[2])
		}
		input, err := json.Marshal(args)
		if err != nil {
			return nil, err
		}
		if inside := strings.TrimSpace(body); len(args) == 0 && strings.HasPrefix(inside, "{") { // a call of the kind with JSON beside an empty one
			if input, _, err = readJSON(inside); err != nil {
				return calls, fmt.Errorf("it is no valid JSON: %w", err)
			}
		}
		calls = append(calls, draftStep{Tool: strings.TrimSpace(text[at[2]:at[3]]), Input: input})
	}
	return calls, nil
}

// looseValue is a list or object as it is, and all else as text: the schema
// says later whether a number is meant.
func looseValue(text string) json.RawMessage {
	if trimmed := strings.TrimSpace(text); trimmed != "" && (trimmed[0] == '[' || trimmed[0] == '{') && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return quoted
}
