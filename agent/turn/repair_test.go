package turn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/testenv"
	"lifehub/llm"
)

// repaired formats the steps of a planner's text, and what was dropped.
func repaired(text string, offered ...agent.Tool) string {
	d, err := prompt.Plan(text)
	if err != nil {
		return "error: " + err.Error()
	}
	steps, dropped, repaired := emptyTurn().repairSteps(d.Steps, offered, nil)
	said := ""
	if d.Answer != "" {
		said = fmt.Sprintf("answer %q\n", d.Answer)
	}
	return strings.TrimSpace(said + writtenPlan(steps, dropped, repaired))
}

// writtenPlan formats steps, dropped steps and repairs, one per line.
func writtenPlan(steps []agent.Step, dropped, repaired []string) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%s %s %s", s.ID, s.Tool, s.Input)
		if len(s.After) > 0 {
			fmt.Fprintf(&b, " after %s", strings.Join(s.After, ","))
		}
		b.WriteByte('\n')
	}
	for _, d := range dropped {
		fmt.Fprintf(&b, "- %s\n", d)
	}
	for _, r := range repaired {
		fmt.Fprintf(&b, "~ %s\n", r)
	}
	return strings.TrimSpace(b.String())
}

func TestPlansAreReadAndRepaired(t *testing.T) {
	find := &doubleTool{name: "find", schema: `{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"deep":{"type":"boolean"},"sort":{"enum":["Date","name"]},"k":{"type":"integer","default":5}},"required":["q","k"],"additionalProperties":false}`}
	add := &doubleTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`}
	const one = `{"steps":[{"id":"1","tool":"find","input":{"q":"run","k":5}}]}`
	const oneStep = `1 find {"q":"run","k":5}`
	tests := map[string]struct{ text, want string }{
		"bare":                   {one, oneStep},
		"fenced":                 {"```json\n" + one + "\n```", oneStep},
		"prose around":           {"Here is {the plan}:\n" + one + "\nHope that helps {smile}", oneStep},
		"after thoughts":         {"<think>maybe {\"steps\":1}</think>" + one, oneStep},
		"a wrong object first":   {`{"goal":"g"} ` + one, oneStep},
		"a comma too many":       {`{"steps":[{"id":"1","tool":"find","input":{"q":"run","k":5,},},],}`, oneStep},
		"only the list":          {`[{"tool":"find","input":{"q":"run","k":5}}]`, oneStep},
		"only one step":          {`{"tool":"find","input":{"q":"run","k":5}}`, oneStep},
		"calls as OpenAI has":    {`{"tool_calls":[{"type":"function","function":{"name":"find","arguments":"{\"q\":\"run\",\"k\":5}"}}]}`, `1 find {"k":5,"q":"run"}`},
		"ids as numbers":         {`{"steps":[{"id":1,"tool":"find","input":{"q":"a","k":1}},{"id":2,"tool":"add_task","input":{"text":"b"},"after":[1]}]}`, "1 find {\"q\":\"a\",\"k\":1}\n2 add_task {\"text\":\"b\"} after 1"},
		"input as text":          {`{"steps":[{"id":"1","tool":"find","input":"{\"q\":\"run\",\"k\":5}"}]}`, `1 find {"k":5,"q":"run"}`},
		"answer and no step":     {`{"answer":"Hi!","steps":[]}`, `answer "Hi!"`},
		"answer with null steps": {`{"answer":"Hi!","steps":null}`, `answer "Hi!"`},

		"plan and tool_input":     {`{"plan":[{"step":1,"tool":"find","tool_input":{"q":"run","k":5}},{"step":2,"tool":null,"description":"Synthesize"}]}`, oneStep},
		"a plan in words":         {`{"plan":"look it up","tool":"find","input":{"q":"run","k":5}}`, oneStep},
		"tasks and arguments":     {`{"reasoning":"r","tasks":[{"task_number":1,"tool_name":"find","tool_arguments":{"q":"run","k":5},"description":"d"}]}`, oneStep},
		"after a step of thought": {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","k":1}},{"id":"2","tool":null,"after":["1"]},{"id":"3","tool":"add_task","input":{"text":"b"},"after":["2"]}]}`, "1 find {\"q\":\"a\",\"k\":1}\n3 add_task {\"text\":\"b\"} after 1"},

		"as Python prints it":    {`{'steps': [{'id': '1', 'tool': 'find', 'input': {'q': 'run', 'k': 5, 'deep': None}, 'after': []}]}`, `1 find {"k":5,"q":"run"}` + "\n~ step 1: deep was null"},
		"a line break in a text": {"{\"reasoning\":\"a\nb\",\"steps\":[{\"id\":\"1\",\"tool\":\"find\",\"input\":{\"q\":\"run\",\"k\":5}}]}", oneStep},
		"an unknown escape":      {`{"steps":[{"id":"1","tool":"find","input":{"q":"\(x\)","k":5}}]}`, `1 find {"q":"\\(x\\)","k":5}`},
		"a plan in a plan":       {`{"plan":` + one + `}`, `error: the object has no "steps"`},
		"input by another name":  {`{"steps":[{"id":"1","tool":"find","args":{"q":"run","k":5}}]}`, oneStep},
		"two that may be input":  {`{"steps":[{"id":"1","tool":"find","args":{"q":"run","k":5},"kwargs":{"q":"swim"}}]}`, "- step 1: invalid arguments for find: missing property 'q'"},
		"input beside the tool":  {`{"steps":[{"id":"1","tool":"find","q":"run","k":5}]}`, "- step 1: invalid arguments for find: missing property 'q'"},

		"a number as text": {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","n":"3","k":1}}]}`, "1 find {\"k\":1,\"n\":3,\"q\":\"a\"}\n~ step 1: n was a text"},
		"a text as number": {`{"steps":[{"id":"1","tool":"find","input":{"q":7,"k":1}}]}`, "1 find {\"k\":1,\"q\":\"7\"}\n~ step 1: q was a number"},
		"a text as list":   {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","tags":"x","k":1}}]}`, "1 find {\"k\":1,\"q\":\"a\",\"tags\":[\"x\"]}\n~ step 1: tags was not a list"},
		"a list as text":   {`{"steps":[{"id":"1","tool":"find","input":{"q":["a"],"k":1}}]}`, "1 find {\"k\":1,\"q\":\"a\"}\n~ step 1: q was a list of one"},
		"true as text":     {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","deep":"True","k":1}}]}`, "1 find {\"deep\":true,\"k\":1,\"q\":\"a\"}\n~ step 1: deep was a text"},
		"null":             {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","n":null,"k":1}}]}`, "1 find {\"k\":1,\"q\":\"a\"}\n~ step 1: n was null"},
		"a whole fraction": {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","n":3.0,"k":1}}]}`, "1 find {\"k\":1,\"n\":3,\"q\":\"a\"}\n~ step 1: n was a fraction"},
		"an unknown one":   {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","x":1,"k":1}}]}`, "1 find {\"k\":1,\"q\":\"a\"}\n- step 1: x is not an argument"},
		"a default":        {`{"steps":[{"id":"1","tool":"find","input":{"q":"a"}}]}`, "1 find {\"k\":5,\"q\":\"a\"}\n~ step 1: k was missing and has its default"},
		"letter case":      {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","sort":"date","k":1}}]}`, "1 find {\"k\":1,\"q\":\"a\",\"sort\":\"Date\"}\n~ step 1: sort was written otherwise"},
		"the tool's case":  {`{"steps":[{"id":"1","tool":"Add-Task","input":{"text":"b"}}]}`, `1 add_task {"text":"b"}`},

		"a text for the only argument": {`{"steps":[{"id":"1","tool":"add_task","input":"buy shoes"}]}`, `1 add_task {"text":"buy shoes"}`},
		"something missing":            {`{"steps":[{"id":"1","tool":"find","input":{}}]}`, "- step 1: invalid arguments for find: missing property 'q'"},
		"of the wrong kind":            {`{"steps":[{"id":"1","tool":"find","input":{"q":{"a":1}}}]}`, "- step 1: invalid arguments for find: q: got object, want string"},
		"an unknown tool":              {`{"steps":[{"id":"1","tool":"rm","input":{}}]}`, `- step 1: unknown tool "rm"`},
		"no tool":                      {`{"steps":[{"id":"3","tool":null,"description":"put it together"}]}`, "- step 3: it names no tool"},
		"an id twice":                  {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"1","tool":"add_task","input":{"text":"b"}}]}`, "1 add_task {\"text\":\"a\"}\n2 add_task {\"text\":\"b\"}\n~ step 1 is now step 2"},
		"a circle":                     {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"},"after":["2"]},{"id":"2","tool":"add_task","input":{"text":"b"},"after":["1"]}]}`, "1 add_task {\"text\":\"a\"}\n2 add_task {\"text\":\"b\"} after 1\n- step 1 cannot wait for 2, which waits for it"},
		"itself":                       {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"},"after":["1"]}]}`, "1 add_task {\"text\":\"a\"}\n- step 1 cannot wait for 1, which waits for it"},
		"a step unknown":               {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"},"after":["9"]}]}`, "1 add_task {\"text\":\"a\"}\n- step 1 cannot wait for \"9\""},
		"a result":                     {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","k":1}},{"id":"2","tool":"add_task","input":{"text":"{{1.text}}"}}]}`, "1 find {\"q\":\"a\",\"k\":1}\n2 add_task {\"text\":\"{{1.text}}\"} after 1"},
		"a result for later":           {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","k":1}},{"id":"2","tool":"find","input":{"q":"a","k":"{{1.text}}"}}]}`, "1 find {\"q\":\"a\",\"k\":1}\n- step 2: k of find takes no {{…}}, which stands for a whole text: leave the step out, plan with \"again\": true, and write the value once you see it"},
		"a result lost":                {`{"steps":[{"id":"1","tool":"rm","input":{}},{"id":"2","tool":"add_task","input":{"text":"{{1.text}}"}},{"id":"3","tool":"add_task","input":{"text":"{{2.text}}"}},{"id":"4","tool":"add_task","input":{"text":"d"},"after":["3"]}]}`, "4 add_task {\"text\":\"d\"}\n- step 1: unknown tool \"rm\"\n- step 2 cannot wait for \"1\"\n- step 2 uses the result of step 1, which will not be there\n- step 3 uses the result of step 2, which will not be there"},
		"braces of its own":            {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"{{title}} and {{5.name}}"}}]}`, `1 add_task {"text":"{{title}} and {{5.name}}"}`},
		"a result of no step":          {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"{{5.text}}"}}]}`, "- step 1 uses the result of step 5, which will not be there"},
		"nine steps":                   {`{"steps":[` + strings.TrimSuffix(strings.Repeat(`{"tool":"add_task","input":{"text":"a"}},`, 9), ",") + `]}`, strings.TrimSpace(nine()) + "\n- 1 steps beyond the 8 of a plan"},

		"nothing": {"", "error: not a JSON object"},
		"prose":   {"I would search.", "error: not a JSON object"},
		"cut in a step": {
			`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"2","tool":"add_ta`, "error: not valid JSON: unexpected EOF",
		},
		"broken in a step": {
			`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"2" "tool":"find"}]}`,
			"error: not valid JSON: invalid character '\"' after object key:value pair",
		},
		"a broken list":  {`[{"tool":"add_task","input":{"text":"a"}},{]`, "error: not valid JSON: invalid character ']' looking for beginning of object key string"},
		"not closed":     {`{"steps":[{"id":"1",`, "error: not valid JSON: unexpected EOF"},
		"steps no list":  {`{"steps":"find"}`, `error: "steps" is not a list`},
		"another object": {`{"goal":"g"}`, `error: the object has no "steps"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := repaired(tc.text, find, add); got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.text, got, tc.want)
			}
		})
	}
}

func nine() string {
	var b strings.Builder
	for i := range maxSteps {
		fmt.Fprintf(&b, "%d add_task {\"text\":\"a\"}\n", i+1)
	}
	return b.String()
}

// Hostile plans are bounded and not read to the end, so they cost little.
func TestHostilePlansAreBounded(t *testing.T) {
	testenv.WithoutRace(t)
	tool := &doubleTool{name: "find"}
	for name, text := range map[string]string{
		"10,000 steps":        `{"steps":[` + strings.TrimSuffix(strings.Repeat(`{"tool":"find","input":{"query":"a"}},`, 5000), ",") + `]}`,
		"10,000 bad steps":    `{"steps":[` + strings.TrimSuffix(strings.Repeat(`{"tool":"x"},`, 10000), ",") + `]}`,
		"open braces":         strings.Repeat("{", 200_000),
		"open objects":        strings.Repeat(`{"a":`, 50_000),
		"deep lists":          `{"steps":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
		"a huge argument":     `{"steps":[{"tool":"find","input":{"query":"` + strings.Repeat("x", 250_000) + `"}}]}`,
		"more than is read":   strings.Repeat(" ", 1<<20),
		"a chain of waiting":  chain(),
		"long ids and names":  `{"steps":[{"id":"` + strings.Repeat("i", 50_000) + `","tool":"` + strings.Repeat("t", 50_000) + `"}]}`,
		"commas":              "{" + strings.Repeat(",", 200_000),
		"many small objects":  strings.Repeat(`{"a":1} `, 30_000),
		"comma then blanks":   `{"a":1` + strings.Repeat(", ", 100_000) + "}",
		"commas and newlines": `{"a":1` + strings.Repeat(",\n \n", 50_000) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := repaired(text, tool)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if lines := strings.Count(got, "\n"); lines > maxSteps+20+1 {
				t.Errorf("it is explained in %d lines", lines)
			}
		})
	}
}

func chain() string {
	var steps []string
	for i := range 3000 {
		steps = append(steps, fmt.Sprintf(`{"id":"%d","tool":"find","input":{"query":"{{%d.text}}"},"after":["%d"]}`, i, i+1, i+1))
	}
	return `{"steps":[` + strings.Join(steps, ",") + "]}"
}

func FuzzReadPlan(f *testing.F) {
	f.Add(`{"steps":[{"id":"1","tool":"find","input":{"query":"{{2.text}}"},"after":["2"]},{"id":"2","tool":"find","input":{"query":7}}]}`)
	f.Add("```json\n{\"answer\":\"Hi \\ud83d\\ude00\",\"steps\":[],}\n```")
	f.Add(`[{"function":{"name":"find","arguments":"{}"}}]`)
	tool := &doubleTool{name: "find"}
	f.Fuzz(func(t *testing.T, text string) {
		hear := prompt.Hear{Decides: true}
		hear.Add(text)
		d, err := prompt.Plan(text)
		if err != nil {
			return
		}
		steps, _, _ := emptyTurn().repairSteps(d.Steps, []agent.Tool{tool}, nil)
		if len(steps) > maxSteps {
			t.Fatalf("%d steps", len(steps))
		}
		done := map[string]bool{}
		for range steps { // each round finds a step that waits for none
			for _, s := range steps {
				ready := !done[s.ID]
				for _, id := range s.After {
					ready = ready && done[id]
				}
				if ready {
					done[s.ID] = true
					break
				}
			}
		}
		if len(done) != len(steps) {
			t.Fatalf("steps wait for each other: %+v", steps)
		}
		for _, s := range steps {
			if !json.Valid(s.Input) {
				t.Fatalf("input %q", s.Input)
			}
		}
	})
}

// doubleTool is a tool with a name and nothing else.
type doubleTool struct {
	agent.Tool
	name, schema string
	writes       bool
}

func (f *doubleTool) Properties() agent.Properties { return agent.Properties{ReadOnly: !f.writes} }

func (f *doubleTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: f.name, Schema: json.RawMessage(cmp.Or(f.schema, `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`))}
}
