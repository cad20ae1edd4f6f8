package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
)

func argsJSON(c wanted) string {
	raw, _ := json.Marshal(c.Args)
	return string(raw)
}

func joined(calls []wanted, sep string, one func(wanted) string) string {
	var list []string
	for _, c := range calls {
		list = append(list, one(c))
	}
	return strings.Join(list, sep)
}

// pythonLiteral writes a value of JSON as Python does.
func pythonLiteral(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, pythonLiteral(item))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case map[string]any:
		var list []string
		for _, key := range keysInOrder(v) {
			list = append(list, fmt.Sprintf("%q: %s", key, pythonLiteral(v[key])))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case string:
		raw, _ := json.Marshal(v)
		return string(raw)
	}
	return fmt.Sprint(v)
}

func keysInOrder(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func pythonText(c wanted) string {
	var args []string
	for _, name := range keysInOrder(c.Args) {
		args = append(args, name+"="+pythonLiteral(c.Args[name]))
	}
	return c.Tool + "(" + strings.Join(args, ", ") + ")"
}

// tagText is a value between tags: text as it is, all else as JSON.
func tagText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

func named(key, args string) func(wanted) string {
	return func(c wanted) string { return fmt.Sprintf(`{"%s": %q, "%s": %s}`, key, c.Tool, args, argsJSON(c)) }
}

// callForms write calls as models print them.
var callForms = map[string]func([]wanted) string{
	"Hermes, Qwen": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string { return "<tool_call>\n" + named("name", "arguments")(w) + "\n</tool_call>" })
	},
	"Hermes after prose": func(c []wanted) string {
		return "I'll look that up.\n<tool_call>" + joined(c, "</tool_call><tool_call>", named("name", "arguments")) + "</tool_call>"
	},
	"Hermes, thoughts": func(c []wanted) string {
		return "<think>a {\"name\": 1}</think><tool_call>" + joined(c, "</tool_call><tool_call>", named("name", "arguments")) + "</tool_call>"
	},
	"Hermes, trailing comma": func(c []wanted) string {
		return "<tool_call>" + joined(c, "</tool_call>\n<tool_call>", func(w wanted) string { return strings.TrimSuffix(named("name", "arguments")(w), "}") + ",}" }) + "</tool_call>"
	},
	"Qwen coder": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string {
			var b strings.Builder
			for _, name := range keysInOrder(w.Args) {
				fmt.Fprintf(&b, "<parameter=%s>\n%s\n</parameter>\n", name, tagText(w.Args[name]))
			}
			return "<tool_call>\n<function=" + w.Tool + ">\n" + b.String() + "</function>\n</tool_call>"
		})
	},
	"GLM": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string {
			var b strings.Builder
			for _, name := range keysInOrder(w.Args) {
				fmt.Fprintf(&b, "<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>\n", name, tagText(w.Args[name]))
			}
			return "<tool_call>" + w.Tool + "\n" + b.String() + "</tool_call>"
		})
	},
	"Mistral": func(c []wanted) string { return "[TOOL_CALLS] [" + joined(c, ", ", named("name", "arguments")) + "]" },
	"Mistral, new": func(c []wanted) string {
		return joined(c, "", func(w wanted) string { return "[TOOL_CALLS]" + w.Tool + "[ARGS]" + argsJSON(w) })
	},
	"Mistral, ids": func(c []wanted) string {
		return joined(c, "", func(w wanted) string { return "[TOOL_CALLS]" + w.Tool + "[CALL_ID]a1B2c3D4e[ARGS]" + argsJSON(w) })
	},
	"Llama":       func(c []wanted) string { return "<|python_tag|>" + joined(c, "; ", named("name", "parameters")) },
	"Llama, bare": func(c []wanted) string { return joined(c, "; ", named("name", "parameters")) },
	"Llama, function tag": func(c []wanted) string {
		return joined(c, "", func(w wanted) string { return "<function=" + w.Tool + ">" + argsJSON(w) + "</function>" })
	},
	"pythonic":        func(c []wanted) string { return "[" + joined(c, ", ", pythonText) + "]" },
	"Gemma tool_code": func(c []wanted) string { return "```tool_code\nprint(" + joined(c, ")\nprint(", pythonText) + ")\n```" },
	"DeepSeek": func(c []wanted) string {
		return "<｜tool▁calls▁begin｜>" + joined(c, "\n", func(w wanted) string {
			return "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" + w.Tool + "\n```json\n" + argsJSON(w) + "\n```<｜tool▁call▁end｜>"
		}) + "<｜tool▁calls▁end｜>"
	},
	"DeepSeek 3.1": func(c []wanted) string {
		return "<｜tool▁calls▁begin｜>" + joined(c, "", func(w wanted) string {
			return "<｜tool▁call▁begin｜>" + w.Tool + "<｜tool▁sep｜>" + argsJSON(w) + "<｜tool▁call▁end｜>"
		}) + "<｜tool▁calls▁end｜>"
	},
	"functionary": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string { return ">>>" + w.Tool + "\n" + argsJSON(w) })
	},
	"functionary 2": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string { return "<|recipient|>" + w.Tool + "\n<|content|>" + argsJSON(w) })
	},
	"gpt-oss": func(c []wanted) string {
		return joined(c, "", func(w wanted) string {
			return "<|channel|>commentary to=functions." + w.Tool + " <|constrain|>json<|message|>" + argsJSON(w) + "<|call|>"
		})
	},
	"Kimi": func(c []wanted) string {
		return "<|tool_calls_section_begin|>" + joined(c, "", func(w wanted) string {
			return "<|tool_call_begin|>functions." + w.Tool + ":0<|tool_call_argument_begin|>" + argsJSON(w) + "<|tool_call_end|>"
		}) + "<|tool_calls_section_end|>"
	},
	"Granite": func(c []wanted) string { return "<|tool_call|>[" + joined(c, ", ", named("name", "arguments")) + "]" },
	"fenced JSON": func(c []wanted) string {
		return "Let me call it.\n```json\n[" + joined(c, ", ", named("tool", "input")) + "]\n```"
	},
	"bare list": func(c []wanted) string { return "[" + joined(c, ",\n", named("name", "arguments")) + "]" },
	"OpenAI": func(c []wanted) string {
		return `{"tool_calls": [` + joined(c, ", ", func(w wanted) string {
			text, _ := json.Marshal(argsJSON(w))
			return fmt.Sprintf(`{"id": "call_1", "type": "function", "function": {"name": %q, "arguments": %s}}`, w.Tool, text)
		}) + `]}`
	},
	"ReAct": func(c []wanted) string {
		return "Thought: I need that.\n" + joined(c, "\n", func(w wanted) string { return "Action: " + w.Tool + "\nAction Input: " + argsJSON(w) })
	},
}

// callsOfText are the calls that a text comes to, as the loop would run them.
func (t *turn) callsOfText(text string, l rightList) (calls []wanted, err error) {
	_, drafts, err := readCalls(text, l.known)
	if err != nil {
		return nil, err
	}
	for _, d := range drafts {
		step, _, err := t.mendStep(d, l.offered)
		if err != nil {
			return calls, err
		}
		args, err := readObject(step.Input)
		if err != nil {
			return calls, err
		}
		calls = append(calls, wanted{step.Tool, args})
	}
	return calls, nil
}

// Every list of right calls comes out of a printed text as it went in; broken
// ones are refused with a reason.
func TestPrintedCallsAreRead(t *testing.T) {
	total, right := map[string]int{}, map[string]int{}
	turn := &turn{Agent: New(Options{})}
	told := 0
	for _, c := range rightCalls(t) {
		for form, write := range callForms {
			form = c.from + ": " + form
			total[form]++
			text := write(c.calls)
			got, err := turn.callsOfText(text, c)
			if err == nil && reflect.DeepEqual(got, c.calls) {
				right[form]++
			} else if told++; told <= 12 {
				t.Logf("%s, %s: %v\n%s\ncame out as %v", c.id, form, err, text, got)
			}
		}
		first := c.calls[0]
		broken := map[string]string{
			"refused: unknown tool": "<tool_call>" + named("name", "arguments")(wanted{first.Tool + "_x", first.Args}) + "</tool_call>",
			"refused: cut JSON":     "<tool_call>" + strings.TrimRight(named("name", "arguments")(first), "}") + "</tool_call>",
			"refused: no arguments": "<tool_call>{\"name\": \"" + first.Tool + "\"}</tool_call>",
		}
		for form, text := range broken {
			form = c.from + ": " + form
			total[form]++
			if got, err := turn.callsOfText(text, c); err != nil && err.Error() != "" && len(got) == 0 {
				right[form]++
			}
		}
	}
	var forms []string
	for form := range total {
		forms = append(forms, form)
	}
	slices.Sort(forms)
	for _, form := range forms {
		t.Logf("| %-44s | %4d of %4d | %5.1f %% |", form, right[form], total[form], 100*float64(right[form])/float64(total[form]))
		if right[form]*100 < total[form]*98 {
			t.Errorf("%s: %d of %d", form, right[form], total[form])
		}
	}
}

// Tools that need no argument are called with none, beside others.
func TestCallsWithoutArgumentsAreReadInTags(t *testing.T) {
	known := func(name string) bool { return name == "ls" || name == "cd" }
	for text, want := range map[string]string{
		"<tool_call>\n<function=ls>\n</function>\n</tool_call>":                                                   "ls{} ",
		"<function=ls></function><function=cd>{\"to\": \"a\"}</function>":                                         "ls{} cd{\"to\": \"a\"} ",
		"<tool_call>ls</tool_call>\n<tool_call>cd\n<arg_key>to</arg_key>\n<arg_value>a</arg_value>\n</tool_call>": "ls{} cd{\"to\":\"a\"} ",
		"<function=cd><parameter=to>a</parameter></function><function=ls> </function>":                            "cd{\"to\":\"a\"} ls{} ",
		"<invoke name=\"ls\">\n</invoke><invoke name=\"cd\"><parameter name=\"to\">b</parameter></invoke>":        "ls{} cd{\"to\":\"b\"} ",
		"<function=ls></function><function=cd>{\"to\": </function>":                                               "error",
	} {
		_, calls, err := readCalls(text, known)
		got := ""
		for _, c := range calls {
			got += c.Tool + string(c.Input) + " "
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s:\ngot  %s (%v)\nwant %s", text, got, err, want)
		}
	}
}

// Other ways of printing a call than those of the lists of right calls.
func TestCallsAreReadInOtherForms(t *testing.T) {
	known := func(name string) bool { return name == "find" || name == "ls" }
	const want = `find{"q":"run"} `
	for text, want := range map[string]string{
		`find(q="run")`:                                         want,
		"```python\nfind(q='run')\n```":                         want,
		"`find(q=\"run\")`":                                     want,
		`find({"q": "run"})`:                                    want,
		`functions.find({"q": "run"})`:                          want,
		"find(q=\"run\")\nls()":                                 want + "ls{} ",
		"```tool_code\nprint(default_api.find(q=\"run\"))\n```": want,
		`<|python_tag|>find.call(q="run")`:                      want,
		`{"find": {"q":"run"}}`:                                 want,
		`<find><q>run</q></find>`:                               want,
		`<tool_call>{'name': 'find', 'arguments': {'q': 'run'}}</tool_call>`:            want,
		"<tool_call>{\"name\": \"find\", \"arguments\": {\"q\":\"r\nun\"}}</tool_call>": `find{"q":"r\u000aun"} `,
		`{"steps":[{"id":"1","tool":"find","input":{"q":"run"}}]}`:                      "it is JSON of another shape than a call",
		`<start_function_call>call:find{q:<escape>run<escape>}<end_function_call>`:      "it is no valid JSON: invalid character 'q' looking for beginning of object key string",
		`find(q="run") brings nothing.`:                                                 "",
		`fly(q="run")`:                                                                  "",
		`{"find": "run"}`:                                                               "",
		`{"find": {}, "fly": {}}`:                                                       "",
		`<find>run</fly>`:                                                               "",
		`<b>bold</b>`:                                                                   "",
	} {
		_, calls, err := readCalls(text, known)
		got := ""
		for _, c := range calls {
			got += c.Tool + string(c.Input) + " "
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// A call is not shown before it is known to be one, however long it is.
func TestALongCallIsHeldBack(t *testing.T) {
	for _, text := range []string{`create_note(text="` + strings.Repeat("words ", 100) + `")`, "<create_note><text>" + strings.Repeat("words ", 100) + "</text></create_note>"} {
		said := ""
		s := callSplitter{say: func(piece string) { said += piece }}
		for _, piece := range strings.SplitAfter(text, " ") {
			s.add(piece)
		}
		if said != "" {
			t.Errorf("%.40s…: %q was said", text, said)
		}
	}
}

func TestWhatIsNoCallStaysText(t *testing.T) {
	known := func(name string) bool { return name == "search_notes" }
	for _, text := range []string{
		"", "You run three times a week [1].", "[1] says so.", `{"name": "Ana", "age": 3}`, "Use this:\n```json\n{\"theme\": \"dark\"}\n```",
		"```python\nprint(search(1))\n```", "Action matters. Input too.", "> quoted\n>> twice", ">>> quoted thrice\nand on", "search_notes(query) is a tool.", "[x](y)", "{", "[",
		"A list:\n- [ ] buy shoes", "The tag <b> is bold, 1 < 2.",
	} {
		if _, calls, err := readCalls(text, known); len(calls) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, calls, err)
		}
	}
}

func FuzzReadCalls(f *testing.F) {
	calls := []wanted{{"search_notes", map[string]any{"query": "running", "limit": 3.0, "tags": []any{"a"}}}}
	for _, write := range callForms {
		f.Add(write(calls))
	}
	known := func(name string) bool { return name == "search_notes" }
	f.Fuzz(func(t *testing.T, text string) {
		_, drafts, err := readCalls(text, known)
		if err != nil && len(drafts) > 0 && err.Error() == "" {
			t.Error("an error without words")
		}
		for _, d := range drafts {
			if d.Tool == "" {
				t.Errorf("a call without a tool in %q", text)
			}
			if d.Input != nil && !json.Valid(d.Input) {
				t.Errorf("arguments that are no JSON: %s", d.Input)
			}
		}
	})
}

// However a text is cut into pieces, what is said of it is its beginning, and
// never a part of a mark.
func FuzzCallSplitter(f *testing.F) {
	f.Add(strings.Repeat("words and ", 30)+"<tool_call>{}", 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = 1 + max(0, size)%64
		var said strings.Builder
		s := callSplitter{say: func(piece string) { said.WriteString(piece) }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			s.add(rest[:n])
			rest = rest[n:]
		}
		if at := markAt(text); at >= 0 && said.Len() > at {
			t.Errorf("said %q of %q", said.String(), text)
		}
		s.flush()
		if said.String() != text {
			t.Errorf("said %q of %q", said.String(), text)
		}
	})
}
