package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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
	"Hermes, not closed": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string { return "<tool_call>" + named("name", "arguments")(w) })
	},
	"Hermes, quotes of Python": func(c []wanted) string {
		return "<tool_call>" + joined(c, "</tool_call>\n<tool_call>", func(w wanted) string {
			return fmt.Sprintf("{'name': '%s', 'arguments': %s}", w.Tool, argsJSON(w))
		}) + "</tool_call>"
	},
	"Mistral":   func(c []wanted) string { return "[TOOL_CALLS] [" + joined(c, ", ", named("name", "arguments")) + "]" },
	"bare JSON": func(c []wanted) string { return joined(c, "; ", named("name", "parameters")) },
	"bare list": func(c []wanted) string { return "[" + joined(c, ",\n", named("name", "arguments")) + "]" },
	"fenced JSON": func(c []wanted) string {
		return "Let me call it.\n```json\n[" + joined(c, ", ", named("tool", "input")) + "]\n```"
	},
	"OpenAI": func(c []wanted) string {
		return `{"tool_calls": [` + joined(c, ", ", func(w wanted) string {
			text, _ := json.Marshal(argsJSON(w))
			return fmt.Sprintf(`{"id": "call_1", "type": "function", "function": {"name": %q, "arguments": %s}}`, w.Tool, text)
		}) + `]}`
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
		}
		if len(shapeOf(findTool(c.offered, first.Tool).Spec().Schema).Required) > 0 {
			broken["refused: no arguments"] = "<tool_call>{\"name\": \"" + first.Tool + "\"}</tool_call>"
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

// What stands for a call, of tools that are there, and what of a text is said.
func TestPrintedCallsAreReadOrSaid(t *testing.T) {
	known := func(name string) bool { return name == "find" || name == "ls" }
	for text, want := range map[string]string{
		`{"name": "find", "arguments": {"q":"run"}}`:                        `find{"q":"run"} `,
		`{'name': 'find', 'arguments': {'q': 'run'}}`:                       `find{"q": "run"} `,
		`{"steps":[{"id":"1","tool":"find","input":{"q":"run"}}]}`:          `find{"q":"run"} `,
		`<tool_call>{"name": "ls"}</tool_call>`:                             "ls ",
		"<tool_call>{\"name\": \"find\", \"arguments\": {\"q\":\"r\nun\"}}": `find{"q":"r\u000aun"} `,
		"Look:\n  <tool_call>{\"name\": \"ls\"}</tool_call>\nSo.":           "ls ",

		`{"name": "find", "arguments": {"q":"run"}`:                "it is no valid JSON: unexpected EOF",
		`<tool_call>{"name": "find", "arguments": {"q":"run"}`:     "it is no valid JSON: unexpected EOF",
		`<tool_call>{"answer": "no"}</tool_call>`:                  "it holds no call",
		`<tool_call>{"q":"run"}</tool_call>`:                       `the object has no "steps"`,
		"<tool_call>find\n<arg_key>q</arg_key></tool_call>":        "it holds no call",
		"<tool_call>\n<function=ls>\n</function>\n</tool_call>":    "it holds no call",
		`{"find": {"q": "run"}}`:                                   `the object has no "steps"`,
		`[TOOL_CALLS]find[ARGS]{"q":"run"}`:                        `the object has no "steps"`,
		"> <tool_call>{\"name\": \"ls\"}</tool_call>":              "",
		"Write `<tool_call>{\"name\": \"ls\"}</tool_call>` to it.": "",
		`{"name": "fly", "arguments": {}}`:                         "",
		"```json\n{\"name\": \"fly\", \"arguments\": {}}\n```":     "",
		`{"name": "Ana", "age": 3}`:                                "",
		`{"name": "Ana", "age": 3`:                                 "",
		`find(q="run")`:                                            "",
		"```tool_code\nprint(find(q=\"run\"))\n```":                "",
		`<find><q>run</q></find>`:                                  "",
		`<|python_tag|>{"name": "find", "parameters": {}}`:         "",
		"Action: find\nAction Input: {\"q\": \"run\"}":             "",
		">>>find\n{\"q\": \"run\"}":                                "",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find":              "",
		"<|channel|>commentary to=functions.find<|message|>{}":     "",
	} {
		before, calls, err := readCalls(text, known)
		got := ""
		for _, c := range calls {
			got += c.Tool + string(c.Input) + " "
		}
		if err != nil {
			got = err.Error()
		}
		if got != want || want == "" && before != text {
			t.Errorf("%s:\ngot  %s, said %s\nwant %s", text, got, before, want)
		}
	}
}

// A call is not shown before it is known to be one, however long it is.
func TestALongCallIsHeldBack(t *testing.T) {
	for _, begin := range []string{`{"name": "create_note", "arguments": {"text": "`, "```json\n{\"name\": \"", "<tool_call>"} {
		said := ""
		s := callSplitter{say: func(piece string) { said += piece }}
		for _, piece := range strings.SplitAfter(begin+strings.Repeat("words ", 100), " ") {
			s.add(piece)
		}
		if said != "" {
			t.Errorf("%.40s…: %q was said", begin, said)
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
