package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

func knownTool(name string) bool {
	return slices.Contains([]string{"find", "ls", "search_notes", "add_task", "files__read_file"}, name)
}

// notations write a call as servers and models are known to. %[1]s is the name,
// %[2]s the arguments as JSON, %[3]s as JSON in a string.
var notations = []string{
	`[Calling tool: %[1]s(%[2]s)]`, "<<<TOOL_CALL>>>{\"name\": \"%[1]s\", \"arguments\": %[2]s}<<<END_TOOL_CALL>>>",
	`{"name": "%[1]s", "arguments": %[2]s}`,
	`{"tool": "%[1]s", "input": %[2]s}`,
	`{"tool_name": "%[1]s", "parameters": %[2]s}`,
	`{"name": "%[1]s", "arguments": %[3]s}`,
	`[{"name": "%[1]s", "arguments": %[2]s}]`,
	`{"%[1]s": %[2]s}`,
	`{"tool": {"name": "%[1]s", "arguments": %[2]s}}`,
	`{"tool_calls": [{"id": "a", "type": "function", "function": {"name": "%[1]s", "arguments": %[3]s}}]}`,
	`{"function_call": {"name": "%[1]s", "arguments": %[2]s}}`,
	`{"thought": "I look.", "action": "%[1]s", "action_input": %[2]s}`,
	"```json\n{\"name\": \"%[1]s\", \"arguments\": %[2]s}\n```",
	"```\n{\"name\": \"%[1]s\", \"arguments\": %[2]s}\n```",
	`<tool_call>{"name": "%[1]s", "arguments": %[2]s}</tool_call>`,
	"<tool_call>\n{\"name\": \"%[1]s\", \"arguments\": %[2]s}\n</tool_call><|im_end|>",
	"I look.\n<tool_call>{\"name\": \"%[1]s\", \"arguments\": %[2]s}",
	`<tool_calls>[{"name": "%[1]s", "arguments": %[2]s}]</tool_calls>`,
	`<TOOLCALL>[{"name": "%[1]s", "arguments": %[2]s}]</TOOLCALL>`,
	`<function=%[1]s>%[2]s</function>`,
	`<|python_tag|>{"name": "%[1]s", "parameters": %[2]s}<|eom_id|>`,
	`<|tool_call|>[{"name": "%[1]s", "arguments": %[2]s}]<|/tool_call|>`,
	`<|action_start|><|plugin|>{"name": "%[1]s", "parameters": %[2]s}<|action_end|>`,
	`[TOOL_CALLS] [{"name": "%[1]s", "arguments": %[2]s}]`,
	`[TOOL_CALLS]%[1]s[ARGS]%[2]s`,
	`[TOOL_CALLS]%[1]s[CALL_ID]abc123def[ARGS]%[2]s`,
	`[TOOL_CALLS]%[1]s%[2]s</s>`,
	`functools[{"name": "%[1]s", "arguments": %[2]s}]`,
	"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>%[1]s\n```json\n%[2]s\n" +
		"```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>%[1]s<｜tool▁sep｜>%[2]s<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
	"<|tool_calls_section_begin|><|tool_call_begin|>functions.%[1]s:0<|tool_call_argument_begin|>%[2]s<|" +
		"tool_call_end|><|tool_calls_section_end|>",
	"<|channel|>commentary to=functions.%[1]s <|constrain|>json<|message|>%[2]s<|call|>",
	"<|start|>assistant to=functions.%[1]s<|channel|>commentary json<|message|>%[2]s<|call|>",
	"<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary " +
		"to=functions.%[1]s<|message|>%[2]s",
	"<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"%[1]s\", \"parameters\": %[2]s}]<|END_ACTION|>",
	"Action: ```json\n[{\"tool_name\": \"%[1]s\", \"parameters\": %[2]s}]\n```",
	"Action: %[1]s\nAction Input: %[2]s\nObservation: none",
	"Thought: I look.\nAction: %[1]s\nAction Input: %[2]s",
	">>>%[1]s\n%[2]s",
	"<think>I call %[1]s.</think>\n{\"name\": \"%[1]s\", \"arguments\": %[2]s}",
	"%[1]s(%[2]s)",
	"commentary to=functions.%[1]s json%[2]s",
	"analysisI look.assistantcommentary to=functions.%[1]s json%[2]s",
	"assistantcommentary to=functions.%[1]s code %[2]s",
	"<think>So<tool_call>{\"name\": \"%[1]s\", \"arguments\": %[2]s}</tool_call>",
	"tool: %[1]s\ninput: %[2]s\n",
	"```yaml\nname: %[1]s\narguments: %[2]s\n```",
}

// xmlNotations write a call with parameters that are texts.
var xmlNotations = []struct{ begin, parameter, end string }{
	{"<tool_call>\n<function=%s>\n", "<parameter=%s>\n%s\n</parameter>\n", "</function>\n</tool_call>"},
	{"<function=%s>\n", "<parameter=%s>\n%s\n</parameter>\n", "</function>\n</tool_call>"},
	{"<seed:tool_call>\n<function=%s>", "<parameter=%s>%s</parameter>", "</function></seed:tool_call>"},
	{
		"<function_calls>\n<invoke name=\"%s\">\n", "<parameter name=\"%s\">%s</parameter>\n",
		"</invoke>\n</function_calls>",
	},
	{
		"<minimax:tool_call>\n<invoke name=\"%s\">\n", "<parameter name=\"%s\">%s</parameter>\n",
		"</invoke>\n</minimax:tool_call>",
	},
	{"<｜DSML｜function_calls><｜DSML｜invoke name=\"%s\">", "<｜DSML｜parameter name=\"%s\" " +
		"string=\"true\">%s</｜DSML｜parameter>", "</｜DSML｜invoke></｜DSML｜function_calls>"},
	{"<tool_call>%s\n", "<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>\n", "</tool_call>"},
	{"<tool_call><name>%s</name><arguments>", "<%[1]s>%[2]s</%[1]s>", "</arguments></tool_call>"},
	{"<%s>\n", "<%[1]s>%[2]s</%[1]s>\n", ""},
	{"```tool_code\n%s(", "%s=\"%s\",", ")\n```"},
	{"```tool_code\nprint(%s(", "%s='%s', ", "))\n```"},
	{"[%s(", "%s=\"%s\", ", ")]"},
	{"<|python_tag|>%s.call(", "%s=\"%s\", ", ")"},
	{"%s(", "%s=\"%s\", ", ")"},
}

// A random call in any notation comes back, however it is split while it is
// streamed, and no part of it is passed on as an answer.
func TestCallInAnyNotationComesBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"call", "Ines", "Zürich", "2026-11-28", "a, b; c", "{{1.text}}", "x = y", "猫", "it's", "5"}
	check := func(whole, tool string, want map[string]any) {
		t.Helper()
		r := Read(whole, knownTool)
		if r.Problem != nil || len(r.Calls) != 1 || r.Calls[0].Tool != tool {
			t.Errorf("%s\nread as %+v", whole, r)
			return
		}
		var got map[string]any
		if err := json.Unmarshal(r.Calls[0].Input, &got); err != nil ||
			!maps.EqualFunc(got, want, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Errorf("%s\ngot  %v\nwant %v", whole, got, want)
		}
		var hear Hear
		said := ""
		for rest := whole; rest != ""; {
			n := min(len(rest), 1+random.IntN(12))
			_, piece := hear.Add(rest[:n])
			said, rest = said+piece, rest[n:]
		}
		if strings.TrimSpace(strings.TrimPrefix(said, "I look.")) != "" {
			t.Errorf("%s\nsaid %q", whole, said)
		}
	}
	for range 20 {
		tool := []string{"find", "search_notes", "files__read_file"}[random.IntN(3)]
		text := func() string {
			var some []string
			for range 1 + random.IntN(4) {
				some = append(some, words[random.IntN(len(words))])
			}
			return strings.Join(some, " ")
		}
		texts := map[string]any{"query": text(), "path": text()}
		all := map[string]any{
			"limit": random.IntN(9), "tags": []any{text(), text()},
			"deep": map[string]any{"on": true},
		}
		maps.Copy(all, texts)
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		coded, err := json.Marshal(string(raw))
		if err != nil {
			t.Fatal(err)
		}
		for _, notation := range notations {
			if !strings.Contains(notation, "%[3]s") {
				notation += "%.0[3]s"
			}
			check(fmt.Sprintf(notation, tool, raw, coded), tool, all)
		}
		for _, n := range xmlNotations {
			whole := fmt.Sprintf(n.begin, tool)
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				value := texts[name].(string)
				if strings.Contains(n.parameter, "'%s'") {
					value = strings.ReplaceAll(value, "'", `\'`)
				}
				whole += fmt.Sprintf(n.parameter, name, value)
			}
			if strings.Contains(n.begin, "<%s>") {
				whole += "</" + tool + ">"
			}
			check(whole+n.end, tool, texts)
		}
	}
}

// What is an answer is read as one, without reasoning, special tokens and the
// fence around it.
func TestAnswerIsCutOutOfAReply(t *testing.T) {
	const answer = `You run three times a week [1]: "three times a week".`
	for _, whole := range []string{
		answer, "The notes say three.\n</think>\n\n" + answer, "<think>so</think>" + answer,
		"<thought>\nso\n</thought>\n" + answer, "[THINK]so[/THINK]" + answer,
		"◁think▷so◁/think▷" + answer, "<seed:think>so</seed:think>" + answer,
		"<|begin_of_thought|>so<|end_of_thought|>" + answer, "<reasoning>so</reasoning>\n" + answer,
		"<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>" + answer + "<|return|>",
		"analysisI think so.assistantfinal" + answer,
		"<|START_THINKING|>so<|END_THINKING|><|START_RESPONSE|>" + answer + "<|END_RESPONSE|>",
		"<|open|>think<|sep|>so<|close|>think<|sep|>" + answer, answer + "<turn|>",
		answer + "<pad><pad>", answer + " [EOS]",
		answer + "\n</assistant>", answer + "</s><s>[INST] what else? [/INST]",
		answer + "<|eot_id|><|start_header_id|>user",
		"The notes say three. <think>so</think>" + answer,
		"<think>\nThe user asks of the <think> tag. Fine.\n</think>\n\n" + answer,
		answer + "<|im_end|>\n<|im_start|>user\nwhat else?", answer + "</s>", answer + "<end_of_turn>",
		"<|im_start|>assistant\n" + answer, "```markdown\n" + answer + "\n```", "```\n" + answer + "\n```",
		"<think>" + answer, "<think>so</think><think>and so</think>" + answer,
		`{"tool": "answer", "input": {"text": ` + quoted(answer) + `}}`,
		"```json\n{\"tool\":\"answer\",\"input\":{\"text\":" + quoted(answer) + "}}\n```",
		"The notes say three.[/THINK]" + answer, "The notes say three.\n◁/think▷" + answer,
		"The notes say three. </thought>\n" + answer, answer + "\n</think>", answer + "</think><|im_end|>",
		answer + "\n<think>is that", answer + "\n<think>is that all?</think>", "<antThinking>so</antThinking>" + answer,
		"<|channel>thought\nso<channel|>" + answer,
		"<think>so</think>\n<answer>" + answer + "</answer>", "<response>\n" + answer + "\n</response>",
		`{"tool": "answer", "input": {"text": ` + quoted("<think>so</think>"+answer) + `}}`,
		`{"tool": "answer", "input": {"text": ` + quoted("The notes say three.\n</think>\n"+answer) + `}}`,
		`{"answer": ` + quoted(answer) + `}`, `{"reasoning": "so", "steps": [], "answer": ` + quoted(answer) + `}`,
		`{"tool":"answer","text":` + quoted(answer) + `}`,
	} {
		if r := Read(whole, knownTool); r.Text != answer || !r.IsAnswer() {
			t.Errorf("%s\nread as %+v", whole, r)
		}
		var hear Hear
		said := ""
		for rest := []rune(whole); len(rest) > 0; rest = rest[1:] {
			_, more := hear.Add(string(rest[:1]))
			said += more
		}
		if !strings.HasPrefix(answer, said) && !strings.HasPrefix("The notes say three.", said) {
			t.Errorf("%s\nsaid %q", whole, said)
		}
	}
}

// A model that was asked for JSON answers in JSON, more or less.
func TestAnswerIsFoundInJSON(t *testing.T) {
	const answer = `You run three times a week [1].`
	for whole, want := range map[string]string{
		"Here you go: {\"tool\":\"answer\",\"input\":{\"text\":\"" + answer + "\"}} Ask again.": answer,
		`{"tool":"answer","input":{"text":"` + answer + `"`:                                     answer,
		`{"tool":"answer","input":{"text":"You "run" [1]."}}`:                                   `You "run" [1].`,
		`{"response":"` + answer + `"}`:                                                         answer,
		`{"tool":"final_answer","input":{"text":"` + answer + `"}}`:                             answer,
		`{"tool":null,"input":"` + answer + `"}`:                                                answer,
		`{"tool":"answer","input":{"text":["You run","three ` +
			`times"]}}`: "You run\nthree times",
		`{"tool":"answer","input":{"text":"{\"tool\":\"answer\",\"text\":\"` + answer + `\"}"}}`: answer,
		`{"tool":"search_notes","input":{"query":"run"}}`:                                        "",
		`Use this body: {"text":"hello"} for the webhook.`:                                       "",
		`{"message":"hi"} is what the server sends.`:                                             "",
		"Use:\n\n```json\n{\"text\":\"hello\"}\n```\n\nPost it.":                                 "",
		`{"editor":"vim"}`:                                          "",
		"Put {\"editor\":\"vim\"} into it.":                         "",
		`{"tool":"answer","input":{"text":"{\"editor\":\"vim\"}"}}`: `{"editor":"vim"}`,
		`{"name":"Ann","city":"Bonn"}`:                              "",
		"The answer is three.":                                      "",
	} {
		if got := AnswerInJSON(whole, knownTool); got != want {
			t.Errorf("%s\n got %q, want %q", whole, got, want)
		}
	}
}

// What looks like a token, a tag of reasoning or a call is text in a sentence about it.
func TestMarkupInASentenceIsText(t *testing.T) {
	for _, whole := range []string{
		"The end token is <|im_end|> in Qwen [1].", "It ends with </s>\nor with <eos> in other models.",
		"Use [INST] to begin.", "In F# list <| filter |> sum folds it.",
		"The <analysis>…</analysis> part of your note is empty.",
		"Email: <callcenter@example.org>", "Ask. <toolshop@example.org> sells it.", "Type: <TFunction>",
		"<transaction>\n5 € for tea\n</transaction>", "<action-items>\n- tea\n</action-items>", "<callout>\nNote.",
		"[RECALL] of the kettle: see [1].",
	} {
		if r := Read(whole, knownTool); r.Text != whole || !r.IsAnswer() {
			t.Errorf("%s\nread as %+v", whole, r)
		}
	}
}

// records are what a model imitates: what the program tells of an earlier turn.
var records = []string{
	"(LifeHub's record of this turn: changed a.md (+1))",
	agent.Exchange{Answer: agent.Answer{Effects: agent.Effects{{
		Kind: agent.ToolCalled,
		Tool: "x",
	}}}}.Record("«0123abcd»"),
}

// A record of deeds that a model writes is in no answer, however it is streamed.
func TestImitatedRecordIsCut(t *testing.T) {
	for _, record := range records {
		for whole, want := range map[string]string{
			record + "\n\nAdded.": "Added.", "Added.\n\n" + record: "Added.",
			"Added. " + record + " And?\n" + record + "\nSo.": "Added.  And?\n\nSo.",
			"```\nAdded.\n" + record + "\n```":                "Added.\n",
			"Added.\n\n" + record + "<|im_end|>":              "Added.",
			"«Added» (L).\n" + record:                         "«Added» (L).",
		} {
			for form, whole := range map[bool]string{
				false: whole,
				true:  `{"tool":"answer","input":{"text":` + quoted(whole) + `}}`,
			} {
				if r := Read(whole, knownTool); r.Text != want || !r.IsAnswer() {
					t.Errorf("%q\nread as %+v", whole, r)
				}
				for size := 1; size < 40; size += 6 {
					hear, said := Hear{Decides: form}, ""
					for rest := whole; rest != ""; rest = rest[min(size, len(rest)):] {
						_, more := hear.Add(rest[:min(size, len(rest))])
						said += more
					}
					if !strings.HasPrefix(want, said) || Answer(hear.answer.String()+hear.held) != want {
						t.Errorf("%q\nsaid %q, then %q", whole, said, Answer(hear.answer.String()+hear.held))
					}
				}
			}
		}
		if r := Read(record, knownTool); r.Problem != ErrEmpty {
			t.Errorf("a record alone is %+v", r)
		}
		if d, err := PlanOrCalls(`{"reasoning": "so", "steps": [], "answer": `+quoted("Added.\n\n"+record)+`}`,
			knownTool); d.Answer != "Added." || err != nil {
			t.Errorf("the answer of a plan is %q, %v", d.Answer, err)
		}
	}
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// Text that only speaks of calls, or JSON of something else, is an answer.
func TestOtherTextIsAnAnswer(t *testing.T) {
	for _, whole := range []string{
		"You run three times a week [1].", "[1] says so.", `{"name": "Ana", "age": 3}`,
		"Use this:\n```json\n{\"theme\": \"dark\"}\n```",
		"Action matters. Input too.", "> quoted\n>> twice", ">>> quoted thrice\nand on",
		"search_notes(query) is a tool.", "[x](y)", "{", "[",
		"A list:\n- [ ] buy shoes", "The tag <b> is bold, 1 < 2.", "<b>bold</b> is bold", "The <s>old</s> new plan",
		"Write `</s>` at the end.", "Use `<think>` and `</think>`.",
		`{"name": "search_notes", "port": 25}`, "```json\n[{\"name\": \"search_notes\"}]\n```",
		`{"tasks": [{"name": "search_notes", "done": true}]}`,
		"Your note says:\n```text\n{\"name\": \"search_notes\", \"arguments\": {}}\n```\nI didn't do it.",
		"Your note says:\n```\n<tool_call>{\"name\": \"search_notes\", \"arguments\": {}}</tool_call>\n```\n" +
			"I didn't do it.",
		"It is called so: search_notes(query=\"x\")", "Action: call the plumber\nThen wait.",
		"- search_notes(query=\"x\")",
		"> <tool_call>{\"name\": \"ls\", \"arguments\": {\"a\": 1}}</tool_call>",
		"Write `<tool_call>{\"name\": \"ls\"}</tool_call>` to it.",
		`{"name": "fly", "arguments": {}}`, "find(q=\"run\") finds it.", "find(q=\"run\")\nThat is how to find it.",
		"fly(to=\"x\")", "Action: think about it", "search_notes", "ls", "Search: done",
		"First:\n```python\nprint(1)\n```\nThen:\n```json\n{\"a\": 1}\n```\nDone.",
		"<details>\nmore\n</details>", "Thought: it is late.",
	} {
		r := Read(whole, knownTool)
		if !r.IsAnswer() || r.Text != whole {
			t.Errorf("%q\nread as %+v", whole, r)
		}
		var hear Hear
		said := ""
		for i := range whole {
			_, more := hear.Add(whole[i : i+1])
			said += more
		}
		if !strings.HasPrefix(whole, said) {
			t.Errorf("%q: said %q", whole, said)
		}
	}
}

// A call that cannot be read has a reason, and is no answer.
func TestUnreadableCallHasAReason(t *testing.T) {
	for _, whole := range []string{
		`{"name": "find", "arguments": {"q":"run"`, `<tool_call>{"name": "find", "arguments": {"q":"run"`,
		`<tool_call>{"q":"run"}</tool_call>`, `<tool_call></tool_call>`,
		"find(q=\"run", "find(q=\"run\", 3)", "find(q=run)", "Action: find\nAction Input: run",
		"<start_function_call>call:find{q:<escape>run<escape>}<end_function_call>",
		"I look:\n```json\n{\"name\": \"find\", \"arguments\": {\"q\": \"run\"}}\n```",
		"I look.\n{\"name\": \"find\", \"arguments\": {\"q\": \"run\"}}",
		"So:\nfind(q=\"run\")", "", "<think>so</think>",
		"<|channel|>commentary to=functions.find<|message|>{\"q\":", "{{1.text}}", "The note: {{2.text}}",
	} {
		if r := Read(whole, knownTool); r.Problem == nil && !(strings.HasPrefix(whole, "<think>") && r.Text == "so") {
			t.Errorf("%q\nread as %+v", whole, r)
		}
	}
}

// Several calls are read in their order.
func TestSeveralCallsAreRead(t *testing.T) {
	for _, whole := range []string{
		"<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": \"a\"}}</tool_call>\n<tool_call>{\"name\": \"ls\", " +
			"\"arguments\": {}}</tool_call>",
		`[find(q="a"), ls()]`, "find(q='a')\nls()", "- tool: find\n  input:\n    q: a\n- tool: ls\n  input: {}\n",
		`{"steps": [{"tool": "find", "input": {"q": "a"}}, {"tool": "ls", "input": {}}]}`,
		"{\"name\": \"find\", \"arguments\": {\"q\": \"a\"}}\n{\"name\": \"ls\", \"arguments\": {}}",
		"<function_calls><invoke name=\"find\"><parameter name=\"q\">a</parameter></invoke><invoke " +
			"name=\"ls\"></invoke></function_calls>",
	} {
		r := Read(whole, knownTool)
		got := ""
		for _, c := range r.Calls {
			got += c.Tool + strings.ReplaceAll(string(c.Input), " ", "") + " "
		}
		if got != `find{"q":"a"} ls{} ` {
			t.Errorf("%s\ngot %s, %v", whole, got, r.Problem)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, notation := range notations {
		f.Add(fmt.Sprintf(notation+"%.0[3]s", "find", `{"q": "a"}`, `"{}"`), 3)
	}
	for _, n := range xmlNotations {
		f.Add(n.begin+n.parameter+n.end, 5)
	}
	f.Add("Text\n```go\nx\n```\n{\"a\": 1}\nmore `code` <b> {{1.text}} <|im_end|>", 2)
	for _, record := range records {
		f.Add("So. "+record+"\nAnd", 1)
	}
	f.Fuzz(func(t *testing.T, whole string, size int) {
		r := Read(whole, knownTool)
		for _, c := range r.Calls {
			if c.Tool == "" || c.Input != nil && !json.Valid(c.Input) && r.Problem == nil {
				t.Errorf("call %+v of %q", c, whole)
			}
		}
		if r.Problem != nil && r.Problem.Error() == "" {
			t.Error("a problem without words")
		}
		var hear Hear
		said, size := "", 1+max(0, size)%64
		for rest := whole; rest != ""; {
			n := min(size, len(rest))
			_, more := hear.Add(rest[:n])
			said, rest = said+more, rest[n:]
		}
		if hear.Said() != said || hear.Whole() != whole || agent.WithoutRecords(said) != said {
			t.Errorf("%q: said %q, passed on %q", whole, hear.Said(), said)
		}
	})
}
