package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// toolAt returns the index of a tool by name, or -1.
func toolAt(tools []llm.ToolSpec, name string) int {
	return slices.IndexFunc(tools, func(t llm.ToolSpec) bool { return t.Name == name })
}

// toolShape is the part of a tool's argument schema that the rules use.
type toolShape struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func shapeOf(tool llm.ToolSpec) (shape toolShape) {
	_ = json.Unmarshal(tool.Schema, &shape) // an unreadable schema requires no arguments
	return shape
}

// namedTool parses "/task TEXT" and the like, "@tool key=value …" and "/tool key=value …". A
// word that begins with @ but names no tool is a note or a name in a question.
func namedTool(message string, task *llm.Task) (plan, bool) {
	called, rest, _ := strings.Cut(message, " ")
	name := strings.TrimLeft(called, "@/")
	if len(called)-len(name) != 1 {
		return plan{}, false
	}
	if tool, args, ok := CallOf(name, rest, when.DayOf(task.Today)); ok && called[0] == '/' {
		switch {
		case toolAt(task.Tools, tool) < 0:
			return plan{Reasoning: "No such tool.", Answer: fmt.Sprintf("`/%s` needs the tool `%s`, which is not "+
				"available.", name, tool)}, true
		case args == nil:
			return plan{Reasoning: "An argument is missing.", Answer: fmt.Sprintf("What? Write `/%s TEXT`.", name)},
				true
		}
		return oneStep(tool, args, message), true
	}
	i := toolAt(task.Tools, name)
	switch {
	case i >= 0:
	case command.MatchString(message):
		unknown := fmt.Sprintf("Unknown tool or command %q. `/help` lists the commands, `/tools` the tools.", called)
		return plan{Reasoning: "No such tool.", Answer: unknown}, true
	default:
		return plan{}, false
	}
	shape := shapeOf(task.Tools[i])
	args, unread := readArgs(shape, strings.TrimSpace(rest))
	for _, needed := range shape.Required {
		if _, given := args[needed]; !given {
			return plan{Reasoning: "An argument is missing.", Answer: fmt.Sprintf("`%s` needs %s. Write `@%s %s=…`.",
				name, strings.Join(shape.Required, ", "), name, strings.Join(shape.Required, "=… "))}, true
		}
	}
	if unread != "" {
		takes := "takes no arguments"
		if len(shape.Properties) > 0 {
			takes = "takes " + strings.Join(slices.Sorted(maps.Keys(shape.Properties)), ", ")
		}
		return plan{Reasoning: "An argument is unknown.", Answer: fmt.Sprintf(
				"`%s` %s, and nothing for “%s”. It was not called.", name, takes, text.Cut(text.OneLine(unread), 120))},
			true
	}
	return oneStep(name, args, message), true
}

// CallOf returns the call of a command that calls one tool, such as task, with what is typed after its name. The
// arguments are nil if something is missing; it reports false for any other command.
func CallOf(name, typed string, today when.Day) (tool string, args map[string]any, ok bool) {
	c, ok := commands[name]
	if !ok {
		return "", nil, false
	}
	if args = c.args(strings.TrimSpace(typed), today); c.needs != "" && args[c.needs] == "" {
		args = nil
	}
	return c.tool, args, true
}

// commands are the commands that call one tool.
var commands = map[string]struct {
	tool, needs string
	args        func(typed string, today when.Day) map[string]any
}{
	"note": {"append_note", "content", func(typed string, _ when.Day) map[string]any { return map[string]any{"content": typed} }},
	"task": {"add_task", "text", taskArgs},
	"done": {"complete_task", "task", doneArgs},
	"move": {"move_note", "", func(typed string, _ when.Day) map[string]any { return twoNames(typed, "path", "to") }},
	"merge": {"merge_notes", "", func(typed string, _ when.Day) map[string]any {
		return twoNames(typed, "path", "into")
	}},
	"retag": {"rename_tag", "", func(typed string, _ when.Day) map[string]any { return twoNames(typed, "tag", "to") }},
	"tasks": {"list_tasks", "", func(typed string, _ when.Day) map[string]any {
		status, words, _ := strings.Cut(typed, " ")
		if slices.Contains([]string{"open", "due", "overdue", "done", "all"}, status) {
			return map[string]any{"status": status, "query": words}
		}
		return map[string]any{"query": typed}
	}},
}

// quotedName matches a name in quotation marks or a wikilink at the start of a text.
var quotedName = regexp.MustCompile(`^(?:"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|(\[\[[^\]]+\]\]))(?:\s+|$)`)

// twoNames reads "NOTE NAME" as two arguments. A name of several words is in quotation marks; the second may do without
// if the first has them. What cannot be told apart is one name, and the second is missing.
func twoNames(typed, first, second string) map[string]any {
	var name, rest string
	if quoted := quotedName.FindStringSubmatch(typed); quoted != nil {
		name, rest = strings.Join(quoted[1:], ""), typed[len(quoted[0]):]
	} else if name, rest, _ = strings.Cut(typed, " "); !quotedName.MatchString(strings.TrimSpace(rest)) &&
		len(strings.Fields(rest)) > 1 {
		name, rest = typed, ""
	}
	rest = strings.TrimSpace(rest)
	if quoted := quotedName.FindStringSubmatch(rest); quoted != nil && len(quoted[0]) == len(rest) {
		rest = strings.Join(quoted[1:], "")
	}
	return map[string]any{first: strings.TrimSpace(name), second: rest}
}

// doneArgs reads the words of a task, or NOTE:LINE.
func doneArgs(typed string, _ when.Day) map[string]any {
	if at := strings.LastIndexByte(typed, ':'); at > 0 {
		if _, err := strconv.Atoi(typed[at+1:]); err == nil {
			return map[string]any{"note": typed[:at], "task": path.Base(typed)}
		}
	}
	return map[string]any{"task": typed}
}

// taskArgs reads "call Ines due:tomorrow". A day that is not understood is left to the tool, which says so.
func taskArgs(typed string, today when.Day) map[string]any {
	task, due, dated := strings.Cut(" "+typed, " due:")
	args := map[string]any{"text": strings.TrimSpace(task)}
	if !dated {
		return args
	}
	args["due"] = strings.TrimSpace(due)
	if day, ok := when.DayIn(due, today, true); ok {
		args["due"] = day.String()
	}
	return args
}

// command matches a message that begins with a slash command rather than a path.
var command = regexp.MustCompile(`^/[\pL\pN_:-]+(?:\s|$)`)

// argument matches the start of a named argument: "key=" and, if quoted, the
// value.
var argument = regexp.MustCompile(`(?:^|\s)([\pL_][\pL\pN_-]*)=("(?:[^"\\]|\\.)*"|'[^']*')?`)

// readArgs parses arguments given as JSON or as key=value pairs. An unquoted
// value ends where the next known argument begins. Text outside the pairs becomes
// the first required argument that is missing, or else the query; if the tool has
// neither, it is returned as unread.
func readArgs(shape toolShape, text string) (args map[string]any, unread string) {
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &args) == nil {
		return args, ""
	}
	args = map[string]any{}
	pairs := slices.DeleteFunc(argument.FindAllStringSubmatchIndex(text, -1), func(m []int) bool {
		_, takes := shape.Properties[text[m[2]:m[3]]]
		return shape.Properties != nil && !takes
	})
	free, end := "", 0
	for i, m := range pairs {
		free += text[end:m[0]]
		begin := m[1]
		if end = len(text); i+1 < len(pairs) {
			end = pairs[i+1][0]
		}
		if m[4] >= 0 { // quoted
			begin, end = m[4], m[5]
		}
		name := text[m[2]:m[3]]
		args[name] = typed(shape.Properties[name].Type, unquote(text[begin:end]))
	}
	if free = strings.TrimSpace(free + text[end:]); free == "" {
		return args, ""
	}
	for _, name := range append(slices.Clone(shape.Required), "query") {
		_, given := args[name]
		property, takes := shape.Properties[name]
		if !given && (takes || name != "query") {
			args[name] = typed(property.Type, unquote(free))
			return args, ""
		}
	}
	return args, free
}

// unquote removes a pair of quotation marks and decodes escapes inside double
// quotes.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if text, err := strconv.Unquote(s); err == nil && s[0] == '"' {
		return text
	}
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// typed converts a value to the type that the schema requires.
func typed(kind any, value string) any {
	if kind != nil && kind != "string" && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return value
}
