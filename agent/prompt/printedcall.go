package prompt

import (
	"encoding/json"
	"errors"
	"strings"

	"lifehub/internal/pattern"
)

// Two more formats in which models print calls, each on separate lines: Python
// calls with named arguments, and the actions of ReAct prompts
// (arXiv:2210.03629).
var (
	callLine   = pattern.Lazy(`^([A-Za-z_][\w.\-]*)\((?:\s*\w+\s*=|\s*\)[ \t]*(?:\r?\n|$))`)
	actionLine = pattern.Lazy("^Action:[ \t]*`?([\\w.\\-]+)`?[ \t]*(?:\\r?\\n|$)")
	inputLine  = pattern.Lazy(`^\s*Action Input:\s*`)
	// callBegun matches an incomplete line that may become a call.
	callBegun = pattern.Lazy(`^[ \t]*([A-Za-z_][\w.\-]*(\(\s*(\w+\s*)?\)?\s*)?|A|Action:?.*)$`)
)

// printsCall reports whether a line starts a call in one of these formats. It
// is called for every line with every piece of an answer, so it rejects most
// lines by their first word.
func printsCall(line string) bool {
	end := strings.IndexAny(line, "( \t\r\n")
	return end > 0 && line[end] == '(' && callLine.MatchString(line) || strings.HasPrefix(line, "Action:") && actionLine.MatchString(line)
}

// printedCalls parses the calls at the start of a text, with only blank lines
// between them. Text after an action is dropped, because models continue with a
// made-up result; after other calls, no text is allowed. If there are neither
// calls nor an error, the text is not a call of a known tool.
func printedCalls(text string, known func(name string) bool) (calls []Step, err error) {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var input json.RawMessage
		var name string
		if m := actionLine.FindStringSubmatch(rest); m != nil {
			if name = m[1]; !known(name) {
				return nil, nil
			}
			if input, rest, err = actionInput(rest[len(m[0]):]); err != nil {
				return nil, err
			}
			if !actionLine.MatchString(strings.TrimSpace(rest)) {
				rest = ""
			}
		} else if m := callLine.FindStringSubmatch(rest); m != nil && known(m[1]) {
			name = m[1]
			if input, rest, err = namedArguments(rest[len(name)+1:]); err != nil {
				return nil, err
			}
			if line, _, _ := strings.Cut(rest, "\n"); strings.TrimSpace(line) != "" {
				return nil, nil // a sentence about the call
			}
		} else {
			return nil, nil
		}
		calls = append(calls, Step{Tool: name, Input: input})
	}
	return calls, nil
}

// actionInput parses the input after an action's first line.
func actionInput(text string) (input json.RawMessage, rest string, err error) {
	m := inputLine.FindString(text)
	if m == "" {
		return json.RawMessage("{}"), text, nil
	}
	text = text[len(m):]
	if !strings.HasPrefix(text, "{") {
		return nil, "", errors.New("the action's input has to be a JSON object")
	}
	input, length, err := readJSON(text)
	if err != nil {
		return nil, "", errors.New("the action's input is not valid JSON: " + err.Error())
	}
	return input, text[length:], nil
}

// namedArguments parses the arguments of a call after its opening parenthesis,
// with the constants and quotes of Python or JSON.
func namedArguments(text string) (input json.RawMessage, rest string, err error) {
	var object strings.Builder
	object.WriteByte('{')
	from, depth, named := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			size := repairString(&strings.Builder{}, text[i:])
			if size == 0 {
				return nil, "", errors.New("a text among its arguments does not end")
			}
			i += size - 1
		case '=':
			if !named && depth == 0 {
				name, err := json.Marshal(strings.TrimSpace(text[from:i]))
				if err != nil {
					return nil, "", err
				}
				object.Write(name)
				object.WriteByte(':')
				from, named = i+1, true
			}
		case '(', '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',', ')':
			if depth > 0 {
				if c == ')' {
					depth--
				}
				continue
			}
			value := strings.TrimSpace(text[from:i])
			if !named && value != "" {
				return nil, "", errors.New("each of its arguments needs its name, as in name=value")
			}
			object.WriteString(value)
			if c == ',' {
				object.WriteByte(',')
				from, named = i+1, false
				continue
			}
			object.WriteByte('}')
			fixed, _ := repairJSON(object.String())
			if !json.Valid([]byte(fixed)) {
				return nil, "", errors.New("its arguments are not JSON values")
			}
			return json.RawMessage(fixed), text[i+1:], nil
		}
	}
	return nil, "", errors.New("its arguments do not end")
}
