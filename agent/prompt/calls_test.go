package prompt

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
)

// Calls of known tools are recognised; the remaining text is shown.
func TestPrintedCallsAreReadOrShown(t *testing.T) {
	known := func(name string) bool { return name == "find" || name == "ls" }
	for text, want := range map[string]string{
		`{"name": "find", "arguments": {"q":"run"}}`:                        `find{"q":"run"} `,
		`{'name': 'find', 'arguments': {'q': 'run'}}`:                       `find{"q": "run"} `,
		`{"steps":[{"id":"1","tool":"find","input":{"q":"run"}}]}`:          `find{"q":"run"} `,
		`<tool_call>{"name": "ls"}</tool_call>`:                             "ls ",
		"<tool_call>{\"name\": \"find\", \"arguments\": {\"q\":\"r\nun\"}}": `find{"q":"r\u000aun"} `,
		"Look:\n  <tool_call>{\"name\": \"ls\"}</tool_call>\nSo.":           "ls ",

		"```\n<tool_call>{\"name\": \"ls\"}</tool_call>\n```":            "ls ",
		"```\nls\n```\n<tool_call>{\"name\": \"ls\"}</tool_call>":        "ls ",
		"Look:\n```\nls\n```\n<tool_call>{\"name\": \"ls\"}</tool_call>": "ls ",

		`find(q="run")`: `find{"q":"run"} `,
		"I look.\n\nfind(q='it\\'s (a=b), \"c\"', limit=10, all=True)": `find{"q":"it's (a=b), \"c\"","limit":10,"all":true} `,
		"ls()\nfind(q=[\"a\", \"b\"], in={\"x\": None},)":              `ls{} find{"q":["a", "b"],"in":{"x": null}} `,
		"Action: find\nAction Input: {\"q\": \"run\"}":                 `find{"q": "run"} `,
		"Thought: so\nAction: ls\nAction Input: {}\nObservation: none": "ls{} ",
		"Action: ls":                               "ls{} ",
		"Action: find\nAction Input: run":          "the action's input has to be a JSON object",
		"find(q=\"run":                             "a text among its arguments does not end",
		"find(q=\"run\", 3)":                       "each of its arguments needs its name, as in name=value",
		"find(q=run)":                              "its arguments are not JSON values",
		"find(q=\"run\") finds it.":                "",
		"fly(to=\"x\")":                            "",
		"Action: think about it":                   "",
		"Action: fly\nAction Input: {}":            "",
		"```python\nfind(q=\"run\")\n```":          "",
		"find(q=\"run\")\nThat is how to find it.": "",

		`{"name": "find", "arguments": {"q":"run"}`:                "not valid JSON: unexpected EOF",
		`<tool_call>{"name": "find", "arguments": {"q":"run"}`:     "not valid JSON: unexpected EOF",
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
		"```tool_code\nprint(find(q=\"run\"))\n```":                "",
		`<find><q>run</q></find>`:                                  "",
		`<|python_tag|>{"name": "find", "parameters": {}}`:         "",
		">>>find\n{\"q\": \"run\"}":                                "",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find":              "",
		"<|channel|>commentary to=functions.find<|message|>{}":     "",
	} {
		before, calls, err := Calls(text, known)
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

// A call is not shown before it is recognised as one, however long it is.
func TestLongCallIsHeldBack(t *testing.T) {
	for _, begin := range []string{`{"name": "create_note", "arguments": {"text": "`, "```json\n{\"name\": \"", "<tool_call>", "I will look.\n\n<tool_call>", "create_note(text=\"", "I will.\nAction: create_note\nAction Input: {\"text\": \""} {
		shown := ""
		s := CallSplitter{Say: func(piece string) { shown += piece }}
		for _, piece := range strings.SplitAfter(begin+strings.Repeat("words ", 100), " ") {
			s.Add(piece)
		}
		if shown != "" {
			t.Errorf("%.40s…: %q was said", begin, shown)
		}
	}
}

func TestOtherJSONStaysText(t *testing.T) {
	known := func(name string) bool { return name == "search_notes" }
	for _, text := range []string{
		"", "You run three times a week [1].", "[1] says so.", `{"name": "Ana", "age": 3}`, "Use this:\n```json\n{\"theme\": \"dark\"}\n```",
		"```python\nprint(search(1))\n```", "Action matters. Input too.", "> quoted\n>> twice", ">>> quoted thrice\nand on", "search_notes(query) is a tool.", "[x](y)", "{", "[",
		"A list:\n- [ ] buy shoes", "The tag <b> is bold, 1 < 2.",
		`{"name": "search_notes", "port": 25}`, "```json\n[{\"name\": \"search_notes\"}]\n```", `{"tasks": [{"name": "search_notes", "done": true}]}`,
		"Your note says:\n```text\n{\"name\": \"search_notes\", \"arguments\": {}}\n```\nI didn't do it.",
		"Your note says:\n```\n<tool_call>{\"name\": \"search_notes\", \"arguments\": {}}</tool_call>\n```\nI didn't do it.",
		"It is called so: search_notes(query=\"x\")", "Action: call the plumber\nThen wait.", "- search_notes(query=\"x\")",
		"In Python:\n```python\n{\"name\": \"search_notes\", \"arguments\": {}}\n```",
	} {
		if _, calls, err := Calls(text, known); len(calls) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, calls, err)
		}
	}
}

func FuzzReadCalls(f *testing.F) {
	const call = `{"name": "search_notes", "arguments": {"query": "running", "limit": 3, "tags": ["a"]}}`
	for _, text := range []string{
		call, "<tool_call>" + call + "</tool_call>", "[TOOL_CALLS] [" + call + "]", "So:\n```json\n" + call + "\n```", "{'tool_calls': [" + call + ",]}",
		"search_notes(query='running', limit=3)", "Action: search_notes\nAction Input: {\"query\": \"a\"}\nObservation: x",
	} {
		f.Add(text)
	}
	known := func(name string) bool { return name == "search_notes" }
	f.Fuzz(func(t *testing.T, text string) {
		_, drafts, err := Calls(text, known)
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

// However a text is split, the text shown is a beginning of it, and never ends within a
// call marker.
func FuzzCallSplitter(f *testing.F) {
	f.Add(strings.Repeat("words and ", 30)+"<tool_call>{}", 7)
	f.Add(strings.Repeat("words and ", 30)+"\nfind (q) and\nfind(q=1)", 3)
	f.Add(strings.Repeat("words and ", 30)+"\nAction: find\nAction Input: {}", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = 1 + max(0, size)%64
		var shown strings.Builder
		s := CallSplitter{Say: func(piece string) { shown.WriteString(piece) }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			s.Add(rest[:n])
			rest = rest[n:]
		}
		if at := markAt(text); at >= 0 && shown.Len() > at {
			t.Errorf("said %q of %q", shown.String(), text)
		}
		s.Flush()
		if shown.String() != text {
			t.Errorf("said %q of %q", shown.String(), text)
		}
	})
}

func TestAPlanTakesPrecedenceOverPrintedCalls(t *testing.T) {
	known := func(name string) bool { return name == "find" }
	const plan = `{"steps":[{"id":"a","tool":"find","input":{"q":"run"}}]}`
	for text, want := range map[string]string{
		plan:                                    "a",
		"Here:\n" + plan + "\nfind(q=\"swim\")": "a",
		"{\"answer\": \"Write\nfind(q='swim')\nto find it.\", \"steps\": []}": "",
		"I look.\nfind(q=\"run\")":                                      "1",
		"Action: find\nAction Input: {\"name\": \"x\", \"q\": \"run\"}": "1",
		"fly(to=\"x\")": "not a JSON object",
		"find(q=run)":   "not a JSON object",
	} {
		got := ""
		d, err := PlanOrCalls(text, known)
		if err != nil {
			got = err.Error()
		}
		for _, step := range d.Steps {
			got += cmp.Or(step.ID, "1")
			if step.Tool != "find" {
				t.Errorf("%q: tool %q", text, step.Tool)
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
