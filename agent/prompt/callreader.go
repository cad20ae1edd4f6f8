package prompt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lifehub/llm"

	"github.com/goccy/go-yaml"
)

// callWords match a name that is made of words for a tool, function, invocation or action.
const callWords = `(?:(?:start|begin|end|use|mcp|code)[_▁\-]?)*(?:tools?|functions?|invoke|actions?|calls?|calling|` +
	`python_tag|plugin)(?:[_▁\-]?(?:tools?|functions?|actions?|calls?|code|use|section|start|begin|end))*`

// toolMark matches what a model writes before a call: a tag, special token, bracket or code fence with such a name.
var toolMark = regexp.MustCompile(`(?i)<[|｜]?(?:DSML｜)?(?:[\w.\-]+:)?` + callWords + `(?:[\s=:][^<>\n]*)?[|｜/]?>` +
	`|\[(?:[A-Z]+_)*(?:TOOL|FUNCTION)S?(?:_[A-Z]+)*\]|` + "```(?:tool|function)\\w*|\\bfunctools(?:\\[)")

// callsOf finds the calls in a text without reasoning. before is the text in
// front of them.
func callsOf(whole string, known func(string) bool) (before string, calls []Step, err error) {
	code := codeIn(whole)
	for _, m := range toolMark.FindAllStringIndex(whole, -1) {
		line := strings.LastIndexByte(whole[:m[0]], '\n') + 1
		fenced := strings.HasPrefix(whole[m[0]:], "```")
		quoted := !fenced && strings.TrimSpace(whole[:max(0, code.start(m[0]))]) != ""
		if quoted || strings.TrimSpace(whole[line:m[0]]) != "" && !endsSentence(whole[line:m[0]]) {
			continue
		}
		s := callReader{known: known, text: whole[m[0]:], marked: true}
		return whole[:m[0]], s.read(), s.problem
	}
	s := callReader{known: known, text: whole}
	if calls = s.read(); len(calls) > 0 || s.problem != nil {
		return "", calls, s.problem
	}
	if m := yamlCall.FindStringSubmatch(whole); m != nil {
		if raw, err := yaml.YAMLToJSON([]byte(m[1])); err == nil {
			s = callReader{known: known, text: string(raw)}
			if calls = s.read(); len(calls) > 0 {
				return "", calls, s.problem
			}
		}
	}
	for _, m := range lineStarts.FindAllStringIndex(whole, maxStarts) {
		rest := whole[m[0]:]
		if s := (callReader{known: known, text: rest}); m[0] > 0 &&
			(!code.has(m[0]) || strings.HasPrefix(rest, "```")) && len(s.read()) > 0 {
			return whole[:m[0]], nil, ErrNotAlone
		}
	}
	return whole, nil, nil
}

// yamlCall matches what may be a call in YAML.
var yamlCall = regexp.MustCompile("(?s)^\\s*(?:```ya?ml\\s*\n)?((?:- )?(?:tool|tool_name|name|function|action): " +
	"*[\"']?[\\w.-]+[\"']? *\n.*?)(?:\n```)?\\s*$")

const maxStarts = 50 // lines at which an unmarked call after text is looked for

// lineStarts matches where an unmarked call may begin.
var lineStarts = regexp.MustCompile("(?m)^(?:[{\\[]|```|Action:|[A-Za-z_][\\w.]*\\()")

// endsSentence reports whether text ends like a sentence.
func endsSentence(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && strings.ContainsAny(s[len(s)-1:], ".!:")
}

// callReader reads a text that is nothing but calls: names of tools, each with
// its arguments as JSON, as XML parameters or as name=value, among markup.
type callReader struct {
	known  func(name string) bool
	text   string
	marked bool // the text is marked as calls, so unknown tools are called, too

	name       string                     // of a tool whose arguments have not come yet
	parameters map[string]json.RawMessage // of it, from XML
	key        string                     // of the next parameter
	calls      []Step
	problem    error
}

var (
	tag       = regexp.MustCompile(`^<[^<>\n]{1,200}>`)
	tagParts  = regexp.MustCompile(`^(/?)([\w:.\-]+)(?:\s*=\s*["']?([^"'>\s]+)|.*?\bname\s*=\s*["']?([^"'>\s]+))?`)
	bracket   = regexp.MustCompile(`^\[/?[A-Z_]+\]`)
	callID    = regexp.MustCompile(`^\[CALL_ID\]\s*\w+`)
	fenceLine = regexp.MustCompile("^```\\w*")
	word      = regexp.MustCompile(`^[A-Za-z_][\w.\-]*(?::\d+)?`)
	remark    = regexp.MustCompile(`^(?:Thought|Reasoning):[^\n]*(?:\n(?:[^\nA]|A[^c])[^\n]*)*`)
	argKey    = regexp.MustCompile(`(?i)arg_?key$`)
	argValue  = regexp.MustCompile(`(?i)arg_?value$`)
	callTag   = regexp.MustCompile(`(?i)tool|function|invoke|action|call|plugin`)
	argTag    = regexp.MustCompile(`(?i)^(?:param|parameter|arg|argument)$`)
	holders   = regexp.MustCompile(`(?i)^(?:parameters|params|args|arguments|input|tool_input|kwargs)$`)
	names     = regexp.MustCompile(`(?i)^(?:name|tool_?name|function_?name)$`)
	labels    = regexp.MustCompile(`(?i)^(?:` + callWords + `|functools|json|xml|python|assistant|commentary|` +
		`name|arguments|args|parameters|input|action|action_input|default_api|print|id)$`)
)

// read returns the calls; none if the text is not calls, or problem says why
// they cannot be read.
func (s *callReader) read() []Step {
	for rest := strings.TrimSpace(s.text); rest != "" && s.problem == nil; rest = strings.TrimSpace(rest) {
		size := s.next(rest)
		if size == 0 {
			if s.problem == nil && s.marked && len(s.calls) == 0 && s.name == "" {
				s.problem = errors.New("it holds no call that can be read")
			}
			if !s.marked {
				return nil
			}
			break // what a model says after its calls
		}
		rest = rest[size:]
	}
	s.flush(s.marked)
	if s.marked && len(s.calls) == 0 && s.problem == nil {
		s.problem = errors.New("it holds no call")
	}
	if s.problem != nil {
		return nil
	}
	return s.calls
}

// next reads what rest begins with and returns its length; 0 if it is nothing
// that belongs to a call.
func (s *callReader) next(rest string) int {
	switch c := rest[0]; {
	case c == '<' && tag.MatchString(rest):
		return s.tag(rest)
	case c == '`':
		return len(fenceLine.FindString(rest))
	case c == '{' || c == '[' && beginsJSON(rest):
		return s.json(rest)
	case c == '[' && callID.MatchString(rest):
		return len(callID.FindString(rest))
	case c == '[' && bracket.MatchString(rest):
		return len(bracket.FindString(rest))
	case strings.HasPrefix(rest, ">>>"), strings.HasPrefix(rest, "<<<"):
		return len(">>>")
	case strings.IndexByte("[](),:;", c) >= 0:
		return 1
	case strings.HasPrefix(rest, "Observation:"): // made up
		return len(rest)
	}
	if m := remark.FindString(rest); m != "" {
		return len(m)
	}
	return s.word(rest)
}

// word reads a name or a label.
func (s *callReader) word(rest string) int {
	found := word.FindString(rest)
	if found == "" {
		return 0
	}
	after := strings.TrimLeft(rest[len(found):], " \t\r\n`*")
	name := ToolName(found, s.known)
	opens := strings.HasPrefix(after, "(")
	switch {
	case s.known(name) && opens, s.marked && opens && !labels.MatchString(name):
		at := strings.IndexByte(rest, '(') + 1
		input, left, err := namedArguments(rest[at:])
		if err != nil {
			if s.marked || s.known(name) && strings.Contains(rest[at:], "=") {
				s.problem = err
			}
			return 0
		}
		s.flush(true)
		s.calls = append(s.calls, Step{Tool: name, Input: input})
		return len(rest) - len(left)
	case labels.MatchString(found):
		if strings.EqualFold(found, "action") && strings.HasPrefix(strings.TrimLeft(rest[len(found):], " "), "Input") {
			return strings.Index(rest, "Input") + len("Input")
		}
		return len(found)
	case s.name == "" && (s.known(name) || s.marked && beginsArguments(after)):
		s.flush(true)
		s.name = name
		return len(found)
	}
	if s.name != "" && s.known(s.name) && strings.Contains(s.text, "Action Input:") {
		s.problem = errors.New("the action's input has to be a JSON object")
	}
	return 0
}

// beginsArguments reports whether text begins like the arguments of a call.
func beginsArguments(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[ARGS]") || strings.HasPrefix(text, "<") ||
		strings.HasPrefix(text, "json")
}

// json reads a JSON value: the arguments of the tool named before it, or calls.
func (s *callReader) json(rest string) int {
	raw, size, err := llm.ReadJSON(rest)
	if err != nil {
		if s.marked || namesTool(rest, s.known) || s.name != "" {
			s.problem = fmt.Errorf("not valid JSON: %w", err)
		}
		return 0
	}
	found, ok := s.callsIn(raw, 0)
	switch {
	case ok:
		s.calls = append(s.calls, found...)
	case s.name != "" && IsObject(raw):
		s.calls = append(s.calls, Step{Tool: s.name, Input: raw})
		s.name = ""
	case s.marked:
		s.problem = errors.New("it names no tool")
	default:
		return 0
	}
	s.name = ""
	return size
}

var quotedName = regexp.MustCompile(`["']([\w.\-]+)["']`)

// namesTool reports whether a text that is invalid JSON was meant to be a call.
func namesTool(text string, known func(string) bool) bool {
	return slices.ContainsFunc(quotedName.FindAllStringSubmatch(text, 200),
		func(m []string) bool { return m[1] != AnswerTool && known(m[1]) })
}

const maxDepth = 4 // of objects around a call

// callsIn reads JSON as calls: an object that names a tool next to an object of
// arguments, an object whose only name is a tool's, or what holds nothing but
// those. Without a mark, tools have to be known.
func (s *callReader) callsIn(raw json.RawMessage, depth int) (calls []Step, ok bool) {
	if depth > maxDepth {
		return nil, false
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list {
			inner, ok := s.callsIn(item, depth+1)
			if !ok {
				return nil, false
			}
			calls = append(calls, inner...)
		}
		return calls, len(calls) > 0
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	if step, ok := s.call(fields); ok {
		return []Step{step}, true
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if known := ToolName(name, s.known); len(fields) == 1 && s.known(known) &&
			(IsObject(value) || known == AnswerTool) {
			return []Step{{Tool: known, Input: value}}, true
		}
		if inner, ok := s.callsIn(value, depth+1); ok && len(calls) == 0 {
			calls = inner
		}
	}
	if answer := fields[AnswerTool]; len(calls) == 0 && depth == 0 && Text(answer) != "" &&
		first(fields, "steps", "reasoning", "again") != nil {
		return []Step{{Tool: AnswerTool, Input: answer}}, true
	}
	return calls, len(calls) > 0
}

// besideArguments are fields of a call that are none of its arguments.
var besideArguments = []string{
	"id", "type", "reasoning", "thought", "description", "index", "call_id", "tool_call_id",
}

// call reads the fields of an object as one call.
func (s *callReader) call(fields map[string]json.RawMessage) (Step, bool) {
	key := ""
	for _, k := range []string{"tool", "tool_name", "function", "function_name", "action", "recipient_name", "name"} {
		if name := ToolName(Text(fields[k]), s.known); name != "" && (s.known(name) || s.marked) {
			key = k
			break
		}
	}
	if key == "" {
		return Step{}, false
	}
	step := Step{Tool: ToolName(Text(fields[key]), s.known)}
	for _, k := range []string{
		"input", "arguments", "parameters", "args", "action_input", "tool_input",
		"tool_arguments", "kwargs",
	} {
		if value, given := fields[k]; given && step.Input == nil {
			step.Input = objectIn(value)
		}
	}
	if step.Input == nil {
		step.Input = onlyObject(fields)
	}
	if step.Input != nil {
		return step, true
	}
	if key == "name" && !s.marked {
		return Step{}, false // JSON of something else that has a name
	}
	flat := map[string]json.RawMessage{}
	for k, value := range fields {
		if k != key && !slices.Contains(besideArguments, k) && holders.FindString(k) == "" {
			flat[k] = value
		}
	}
	var err error
	step.Input, err = json.Marshal(flat)
	return step, err == nil
}

// objectIn returns an object, which may be written as JSON in a string; nil if
// it is none.
func objectIn(raw json.RawMessage) json.RawMessage {
	var coded string
	if json.Unmarshal(raw, &coded) == nil {
		if inner, _, err := llm.ReadJSON(strings.TrimSpace(coded)); err == nil {
			raw = inner
		}
	}
	if !IsObject(raw) {
		return nil
	}
	return raw
}

// tag reads a tag: of a tool, of one of its parameters, or around them.
func (s *callReader) tag(rest string) int {
	whole := tag.FindString(rest)
	m := tagParts.FindStringSubmatch(strings.NewReplacer("｜DSML｜", "", "|", "", "｜", "", "▁",
		"_").Replace(whole[1 : len(whole)-1]))
	if m == nil {
		return len(whole)
	}
	name, value := m[2][strings.LastIndexByte(m[2], ':')+1:], strings.TrimRight(cmp.Or(m[3], m[4]), "/")
	inner := func() string {
		raw := whole[1:]
		text, size := innerText(rest[len(whole):], "</"+raw[:strings.IndexAny(raw, " =>")])
		whole = rest[:len(whole)+size]
		return text
	}
	switch tool := ToolName(name, s.known); {
	case m[1] != "":
		if callTag.MatchString(name) || tool == s.name {
			s.flush(s.name != "")
		}
	case argKey.MatchString(name):
		s.key = inner()
	case argValue.MatchString(name):
		s.set(s.key, inner())
	case argTag.MatchString(name) && value != "":
		s.set(value, inner())
	case names.MatchString(name):
		s.begin(inner())
	case callTag.MatchString(name) && !s.known(tool):
		if value != "" {
			s.begin(value)
		}
	case s.known(tool) && s.name == "":
		s.begin(name)
	case s.name != "" && !holders.MatchString(name) && strings.Contains(rest, "</"+name):
		s.set(name, inner())
	}
	return len(whole)
}

// innerText returns the text up to a closing tag, or else up to the next tag on
// a line of its own, and its length with the closing tag.
func innerText(rest, closing string) (text string, size int) {
	text, _, closed := strings.Cut(rest, closing)
	if !closed {
		text, _, _ = strings.Cut(rest, "\n<")
		return strings.TrimSpace(text), len(text)
	}
	size = len(text) + len(closing)
	if end := strings.IndexByte(rest[size:], '>'); end >= 0 {
		size += end + 1
	}
	return strings.TrimSpace(text), size
}

// begin begins a call of a tool.
func (s *callReader) begin(name string) {
	s.flush(s.marked)
	s.name = ToolName(name, s.known)
}

// set sets a parameter, whose value is JSON only if it is an object or a list.
func (s *callReader) set(key, value string) {
	if s.parameters == nil {
		s.parameters = map[string]json.RawMessage{}
	}
	raw := json.RawMessage(value)
	if value == "" || value[0] != '{' && value[0] != '[' || !json.Valid(raw) {
		raw, _ = json.Marshal(value) // a text can always be encoded
	}
	s.parameters[key] = raw
}

// flush ends the call begun, if any. Without arguments it is only one if always
// is true.
func (s *callReader) flush(always bool) {
	if s.name != "" && (s.parameters != nil || always) {
		input := json.RawMessage("{}")
		if raw, err := json.Marshal(s.parameters); err == nil && s.parameters != nil {
			input = raw
		}
		s.calls = append(s.calls, Step{Tool: s.name, Input: input})
	}
	s.name, s.parameters, s.key = "", nil, ""
}

// ToolName returns the name of a tool without what notations add to it: special
// tokens, a number, and the name of a module.
func ToolName(name string, known func(string) bool) string {
	name, _, _ = strings.Cut(strings.Trim(name, " \t\r\n`*\"'"), "<|")
	if before, _, numbered := strings.Cut(name, ":"); numbered {
		name = before
	}
	if known == nil || !known(name) {
		at := strings.LastIndexByte(name, '.')
		switch {
		case at >= 0 && known != nil && known(name[at+1:]):
			return name[at+1:]
		case at >= 0 && known != nil && known(name[:at]): // NAME.call(…)
			return name[:at]
		}
		name = strings.TrimPrefix(name, "functions.")
	}
	return name
}

// namedArguments parses the arguments of a call after its opening parenthesis:
// names with values in the constants and quotes of Python or JSON, or one JSON
// object.
func namedArguments(text string) (input json.RawMessage, rest string, err error) {
	if start := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(start, "{") {
		raw, size, err := llm.ReadJSON(start)
		after := strings.TrimLeft(start[size:], " \t\r\n,")
		if err != nil || !strings.HasPrefix(after, ")") {
			return nil, "", errors.New("its arguments are not JSON values")
		}
		return raw, after[1:], nil
	}
	var object strings.Builder
	object.WriteByte('{')
	from, depth, named := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			size := llm.RepairString(&strings.Builder{}, text[i:])
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
			fixed, _ := llm.RepairJSON(object.String())
			if !json.Valid([]byte(fixed)) {
				return nil, "", errors.New("its arguments are not JSON values")
			}
			return json.RawMessage(fixed), text[i+1:], nil
		}
	}
	return nil, "", errors.New("its arguments do not end")
}
