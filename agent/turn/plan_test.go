package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/agenttest"
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
	find := &doubleTool{name: "find", schema: `{"type":"object","properties":{"q":{"type":"string"},` +
		`"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"deep":{"type":"boolean"},` +
		`"sort":{"enum":["Date","name"]},"k":{"type":"integer","default":5}},"required":["q","k"],` +
		`"additionalProperties":false}`}
	add := &doubleTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},` +
		`"required":["text"]}`}
	const one = `{"steps":[{"id":"1","tool":"find","input":{"q":"run","k":5}}]}`
	const oneStep = `1 find {"q":"run","k":5}`
	tests := map[string]struct{ text, want string }{
		"bare":                 {one, oneStep},
		"fenced":               {"```json\n" + one + "\n```", oneStep},
		"prose around":         {"Here is {the plan}:\n" + one + "\nHope that helps {smile}", oneStep},
		"after thoughts":       {"<think>maybe {\"steps\":1}</think>" + one, oneStep},
		"a wrong object first": {`{"goal":"g"} ` + one, oneStep},
		"a comma too many":     {`{"steps":[{"id":"1","tool":"find","input":{"q":"run","k":5,},},],}`, oneStep},
		"only the list":        {`[{"tool":"find","input":{"q":"run","k":5}}]`, oneStep},
		"only one step":        {`{"tool":"find","input":{"q":"run","k":5}}`, oneStep},
		"calls as OpenAI has": {`{"tool_calls":[{"type":"function","function":{"name":"find",` +
			`"arguments":"{\"q\":\"run\",\"k\":5}"}}]}`, `1 find {"k":5,"q":"run"}`},
		"ids as numbers": {`{"steps":[{"id":1,"tool":"find","input":{"q":"a","k":1}},{"id":2,` +
			`"tool":"add_task","input":{"text":"b"},` +
			`"after":[1]}]}`, "1 find {\"q\":\"a\",\"k\":1}\n2 add_task {\"text\":\"b\"} after 1"},
		"input as text": {
			`{"steps":[{"id":"1","tool":"find","input":"{\"q\":\"run\",\"k\":5}"}]}`,
			`1 find {"k":5,"q":"run"}`,
		},
		"answer and no step":     {`{"answer":"Hi!","steps":[]}`, `answer "Hi!"`},
		"answer with null steps": {`{"answer":"Hi!","steps":null}`, `answer "Hi!"`},

		"plan and tool_input": {`{"plan":[{"step":1,"tool":"find","tool_input":{"q":"run","k":5}},{"step":2,` +
			`"tool":null,"description":"Synthesize"}]}`, oneStep},
		"a plan in words": {`{"plan":"look it up","tool":"find","input":{"q":"run","k":5}}`, oneStep},
		"tasks and arguments": {`{"reasoning":"r","tasks":[{"task_number":1,"tool_name":"find",` +
			`"tool_arguments":{"q":"run","k":5},"description":"d"}]}`, oneStep},
		"after a step of thought": {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","k":1}},{"id":"2",` +
			`"tool":null,"after":["1"]},{"id":"3","tool":"add_task","input":{"text":"b"},` +
			`"after":["2"]}]}`, "1 find {\"q\":\"a\",\"k\":1}\n3 add_task {\"text\":\"b\"} after 1"},

		"as Python prints it": {`{'steps': [{'id': '1', 'tool': 'find', 'input': {'q': 'run', 'k': 5, 'deep': ` +
			`None}, 'after': []}]}`, `1 find {"k":5,"q":"run"}` + "\n~ step 1: deep was null"},
		"a line break in a text": {"{\"reasoning\":\"a\n" +
			"b\",\"steps\":[{\"id\":\"1\",\"tool\":\"find\",\"input\":{\"q\":\"run\",\"k\":5}}]}", oneStep},
		"an unknown escape": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":"\(x\)","k":5}}]}`,
			`1 find {"q":"\\(x\\)","k":5}`,
		},
		"input by another name": {`{"steps":[{"id":"1","tool":"find","args":{"q":"run","k":5}}]}`, oneStep},
		"two that may be input": {`{"steps":[{"id":"1","tool":"find","args":{"q":"run","k":5},` +
			`"kwargs":{"q":"swim"}}]}`, "- step 1: invalid arguments for find: missing property 'q'"},
		"input beside the tool": {
			`{"steps":[{"id":"1","tool":"find","q":"run","k":5}]}`,
			"- step 1: invalid arguments for find: missing property 'q'",
		},

		"a number as text": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":"a","n":"3","k":1}}]}`,
			"1 find {\"k\":1,\"n\":3,\"q\":\"a\"}\n~ step 1: n was a text",
		},
		"a text as number": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":7,"k":1}}]}`,
			"1 find {\"k\":1,\"q\":\"7\"}\n~ step 1: q was a number",
		},
		"true as text": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":"a","deep":"True","k":1}}]}`,
			"1 find {\"deep\":true,\"k\":1,\"q\":\"a\"}\n~ step 1: deep was a text",
		},
		"null": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":"a","n":null,"k":1}}]}`,
			"1 find {\"k\":1,\"q\":\"a\"}\n~ step 1: n was null",
		},
		"a whole fraction": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":"a","n":3.0,"k":1}}]}`,
			"1 find {\"k\":1,\"n\":3,\"q\":\"a\"}\n~ step 1: n was a fraction",
		},
		"letter case": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":"a","sort":"date","k":1}}]}`,
			"1 find {\"k\":1,\"q\":\"a\",\"sort\":\"Date\"}\n~ step 1: sort was written otherwise",
		},
		"the tool's case": {
			`{"steps":[{"id":"1","tool":"Add-Task","input":{"text":"b"}}]}`,
			`1 add_task {"text":"b"}`,
		},

		"a text for the only argument": {
			`{"steps":[{"id":"1","tool":"add_task","input":"buy shoes"}]}`,
			`1 add_task {"text":"buy shoes"}`,
		},
		"something missing": {
			`{"steps":[{"id":"1","tool":"find","input":{}}]}`,
			"- step 1: invalid arguments for find: missing property 'q'",
		},
		"of the wrong kind": {
			`{"steps":[{"id":"1","tool":"find","input":{"q":{"a":1}}}]}`,
			"- step 1: invalid arguments for find: q: got object, want string",
		},
		"an unknown tool": {
			`{"steps":[{"id":"1","tool":"rm","input":{}}]}`,
			`- step 1: unknown tool "rm"`,
		},
		"an id twice": {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"1",` +
			`"tool":"add_task",` +
			`"input":{"text":"b"}}]}`, "1 add_task {\"text\":\"a\"}\n2 add_task {\"text\":\"b\"}\n" +
			"~ step 1 is now step 2"},
		"a step unknown": {
			`{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"},"after":["9"]}]}`,
			"1 add_task {\"text\":\"a\"}\n- step 1 cannot wait for \"9\"",
		},
		"a result": {`{"steps":[{"id":"1","tool":"find","input":{"q":"a","k":1}},{"id":"2",` +
			`"tool":"add_task",` +
			`"input":{"text":"{{1.text}}"}}]}`, "1 find {\"q\":\"a\",\"k\":1}\n" +
			"2 add_task {\"text\":\"{{1.text}}\"} after 1"},
		"braces of its own": {`{"steps":[{"id":"1","tool":"add_task","input":{"text":"{{title}} and ` +
			`{{5.name}}"}}]}`, `1 add_task {"text":"{{title}} and {{5.name}}"}`},
		"nine steps": {`{"steps":[` + strings.TrimSuffix(strings.Repeat(`{"tool":"add_task",`+
			`"input":{"text":"a"}},`, 9), ",") + `]}`, strings.TrimSpace(nine()) + "\n- 1 steps beyond the 8 of a plan"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := repaired(tc.text, find, add); got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.text, got, tc.want)
			}
		})
	}
	changed := map[string]string{
		"a plan in a plan": `{"plan":` + one + `}`,
		"a text as list":   `{"steps":[{"id":"1","tool":"find","input":{"q":"a","tags":"x","k":1}}]}`,
		"a list as text":   `{"steps":[{"id":"1","tool":"find","input":{"q":["a"],"k":1}}]}`,
		"an unknown one":   `{"steps":[{"id":"1","tool":"find","input":{"q":"a","x":1,"k":1}}]}`,
		"a default":        `{"steps":[{"id":"1","tool":"find","input":{"q":"a"}}]}`,
		"no tool":          `{"steps":[{"id":"3","tool":null,"description":"put it together"}]}`,
		"a circle": `{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"},"after":["2"]},{"id":"2",` +
			`"tool":"add_task","input":{"text":"b"},"after":["1"]}]}`,
		"itself": `{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"},"after":["1"]}]}`,
		"a result for later": `{"steps":[{"id":"1","tool":"find","input":{"q":"a","k":1}},{"id":"2","tool":"find",` +
			`"input":{"q":"a","k":"{{1.text}}"}}]}`,
		"a result lost": `{"steps":[{"id":"1","tool":"rm","input":{}},{"id":"2","tool":"add_task",` +
			`"input":{"text":"{{1.text}}"}},{"id":"3","tool":"add_task","input":{"text":"{{2.text}}"}},{"id":"4",` +
			`"tool":"add_task","input":{"text":"d"},"after":["3"]}]}`,
		"a result of no step": `{"steps":[{"id":"1","tool":"add_task","input":{"text":"{{5.text}}"}}]}`,
		"nothing":             "",
		"prose":               "I would search.",
		"cut in a step":       `{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"2","tool":"add_ta`,
		"broken in a step":    `{"steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"2" "tool":"find"}]}`,
		"a broken list":       `[{"tool":"add_task","input":{"text":"a"}},{]`,
		"not closed":          `{"steps":[{"id":"1",`,
		"steps no list":       `{"steps":"find"}`,
		"another object":      `{"goal":"g"}`,
	}
	var told strings.Builder // of what was changed or left out, and why
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintf(&told, "%s\n%s\n\n", name, repaired(changed[name], find, add))
	}
	golden.RequireEqual(t, told.String())
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
		"10,000 steps": `{"steps":[` + strings.TrimSuffix(strings.Repeat(`{"tool":"find",`+
			`"input":{"query":"a"}},`, 5000), ",") + `]}`,
		"10,000 bad steps":   `{"steps":[` + strings.TrimSuffix(strings.Repeat(`{"tool":"x"},`, 10000), ",") + `]}`,
		"open braces":        strings.Repeat("{", 200_000),
		"open objects":       strings.Repeat(`{"a":`, 50_000),
		"deep lists":         `{"steps":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
		"a huge argument":    `{"steps":[{"tool":"find","input":{"query":"` + strings.Repeat("x", 250_000) + `"}}]}`,
		"more than is read":  strings.Repeat(" ", 1<<20),
		"a chain of waiting": chain(),
		"long ids and names": `{"steps":[{"id":"` + strings.Repeat("i", 50_000) + `","tool":"` +
			strings.Repeat("t", 50_000) + `"}]}`,
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
		steps = append(steps, fmt.Sprintf(`{"id":"%d","tool":"find","input":{"query":"{{%d.text}}"},"after":["%d"]}`, i,
			i+1, i+1))
	}
	return `{"steps":[` + strings.Join(steps, ",") + "]}"
}

func FuzzReadPlan(f *testing.F) {
	f.Add(`{"steps":[{"id":"1","tool":"find","input":{"query":"{{2.text}}"},"after":["2"]},{"id":"2","tool":"find",` +
		`"input":{"query":7}}]}`)
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
	return llm.ToolSpec{Name: f.name, Schema: json.RawMessage(cmp.Or(f.schema,
		`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`))}
}

// A plan in place of the answer is requested again once, and never shown.
// saidIn returns the answer in the events, without what was taken back.
func saidIn(events []agent.Event) (text string) {
	for _, piece := range bodies[agent.Said](events) {
		text = text[:len(text)-piece.Takes] + piece.Content
	}
	return text
}

func TestPlanIsNeverShownAsAnswer(t *testing.T) {
	t.Parallel()
	const planned = `{"reasoning":"look again","steps":[{"id":"1","tool":"search_notes","input":{"query":"run"}}]}`
	for name, c := range map[string]struct {
		answers []string
		said    string
		fails   bool
	}{
		"once":        {[]string{planned, "Three times a week."}, "Three times a week.", false},
		"twice":       {[]string{planned, "```json\n" + planned + "\n```"}, "", true},
		"after prose": {[]string{"Let me see.\n" + planned, "Three times a week."}, "Three times a week.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []line{searchLine()}
			for _, answer := range c.answers {
				lines = append(lines, say(answer))
			}
			events := collect(New(Options{
				Model: &script{lines: lines}, History: &shelf{},
				Tools: tools(search()),
			}).Ask(t.Context(), "c1", "How often do I run?"), nil)
			if shown := saidIn(events); strings.Contains(shown, "reasoning") || !strings.HasPrefix(shown, c.said) {
				t.Errorf("said %q, want %q", shown, c.said)
			}
			failed := bodies[agent.Failed](events)
			if (len(failed) == 1) != c.fails || c.fails && !errors.Is(failed[0].Err, agent.ErrPlanned) {
				t.Errorf("failed: %+v", failed)
			}
		})
	}
}

// A model that repeats a step is stopped: its plan is what comes before.
func TestRepeatedStepEndsThePlan(t *testing.T) {
	notes := search()
	const step = `{"tool": "search_notes", "input": {"query": "running"}}`
	loops := line{text: `{"steps": [` + step + `, {"tool": "search_notes", "input": {"query": "shoes"}}, ` + step +
		`, ` + step, hangs: true}
	model := &script{lines: []line{loops, say(goodAnswer)}}
	end := ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(notes)}).Ask(t.Context(), "c1",
		errand), nil))
	if got := notes.ran(); len(got) != 2 || end.Answer != goodAnswer || end.ModelCalls != 2 {
		t.Errorf("searched for %q, answered %q after %d calls", got, end.Answer, end.ModelCalls)
	}
}

// A plan made of an example is asked for once more.
func TestPlanOfAnExampleIsNoPlan(t *testing.T) {
	task := addTask()
	model := &script{lines: []line{
		say(`{"steps":[{"tool":"add_task","input":{"text":"paint the fence"}}]}`),
		say(taskStep), say("Done."),
	}}
	collect(New(Options{Model: model, History: &shelf{}, Tools: tools(task), Guide: fences}).Ask(t.Context(), "c1",
		errand), always(agent.AllowOnce))
	if got := task.ran(); len(got) != 1 || got[0] != `{"text":"buy shoes"}` {
		t.Errorf("ran %q", got)
	}
}

// byTask is a model with one reply for each kind of request: to plan, to replan, and to
// answer.
type byTask struct{ plan, again, answer string }

func (m byTask) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	text := m.answer
	if req.Task.Kind == llm.PlanTask {
		text = m.plan
		if req.Task.Replan {
			text = m.again
		}
	}
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{Text: text, Usage: &llm.Usage{
			Prompt: 1, Answer: 1, Generating: time.Second,
			Stopped: llm.StopEnd,
		}}, nil)
	}
}

const (
	lookFirst = `{"reasoning":"the date is in the notes","steps":[{"id":"1","tool":"search_notes",` +
		`"input":{"query":"running"}}],"again":true}`
	thenTask = `{"reasoning":"now","steps":[{"id":"2","tool":"add_task","input":{"text":"buy shoes"}}]}`
)

// A plan that asks for it is continued with its results. Each call runs once, wherever
// the turn is killed.
func TestPlanContinuesWithItsResults(t *testing.T) {
	options := func() (Options, *fakeTool, *fakeTool) {
		notes, task := search(), addTask()
		return Options{Model: byTask{lookFirst, thenTask, goodAnswer}, Tools: tools(notes, task)}, notes, task
	}
	kept := cutAt(t, 0, first(options()))
	entries := len(kept.entries)
	if moments := kept.moments(); strings.Count(moments, "planned") != 2 || !kept.entries[0].Plan.Again {
		t.Fatalf("the turn is %s", moments)
	}
	for at := 1; at <= entries; at++ {
		o, notes, task := options()
		o.Journal, o.History, o.Now = cutAt(t, at, o), &shelf{}, fixedNow
		events := collect(New(o).Resume(t.Context(), "c1", "t1"), func(asked agent.PermissionAsked) agent.Reply {
			if asked.Unknown {
				return agent.Reply{Decision: agent.AlreadyDone}
			}
			return agent.Reply{Decision: agent.AllowOnce}
		})
		plans := []string{}
		for _, e := range events {
			if made, ok := e.Body.(agent.PlanMade); ok {
				plans = append(plans, fmt.Sprint(len(made.Before), " ", made.Steps[0].Tool, " ", made.Again))
			}
		}
		if got := strings.Join(plans, ", "); got != "0 search_notes true, 1 add_task false" {
			t.Errorf("cut after %d entries: the plans are %s", at, got)
		}
		if len(notes.ran()) > 2 || len(task.ran()) > 1 || ended(t, events).Answer != goodAnswer {
			t.Errorf("cut after %d entries: %d searches, %d tasks", at, len(notes.ran()), len(task.ran()))
		}
	}
}

func first(o Options, _, _ *fakeTool) Options { return o }

// A model that always wants to replan does so only as often as allowed.
func TestReplanningIsBounded(t *testing.T) {
	model := &script{lines: []line{say(lookFirst), say(goodAnswer)}}
	for i := range 5 {
		model.replans = append(model.replans, say(fmt.Sprintf(`{"steps":[{"id":"1","tool":"search_notes",`+
			`"input":{"query":"running %d"}}],"again":true}`, i)))
	}
	notes := search()
	ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(notes)}).Ask(t.Context(), "c1", errand),
		nil))
	if len(notes.ran()) != 3 {
		t.Errorf("the notes were searched for %q", notes.ran())
	}
	var last string
	for _, req := range model.requests {
		if req.Task.Kind == llm.PlanTask {
			last = req.Messages[len(req.Messages)-1].Text
		}
	}
	for _, want := range []string{"left for later", fitness.Text} {
		if !strings.Contains(last, want) {
			t.Errorf("the planner is asked without %q:\n%s", want, last)
		}
	}
}

// A plan also searches for the message as typed, last, unless all it does is to change
// something or to read a note that was named, or the message calls a tool or needs no
// notes. Notes that hardly answer are left out.
func TestPlanSearchesForTheMessageAsTyped(t *testing.T) {
	clock := &fakeTool{name: "today", schema: `{"type":"object"}`, reads: true, result: agent.Result{Text: "Saturday"}}
	pages := &fakeTool{
		name: "web_search", schema: `{"type":"object"}`, reads: true,
		result: agent.Result{Text: "Saturday"},
	}
	note := &fakeTool{
		name: "read_note", schema: `{"type":"object"}`, reads: true,
		result: agent.Result{Text: "Saturday"},
	}
	weak := search()
	weak.result.Unlikely = true
	typed := fmt.Sprintf(`{"limit":5,"query":%q}`, howOften)
	const clockStep, webStep, noteStep, taskStep = `{"id":"1","tool":"today","input":{}}`,
		`{"id":"1","tool":"web_search","input":{}}`, `{"id":"1","tool":"read_note","input":{}}`,
		`{"id":"2","tool":"add_task","input":{"text":"buy shoes"}}`
	for name, tc := range map[string]struct {
		notes *fakeTool
		steps string
		want  string // the searches
		cites bool
		asked string // replaces the question
	}{
		"its tool is named":    {search(), webStep, `[]`, false, "@web_search shoes for the race"},
		"small talk":           {search(), webStep, `[]`, false, "Nice day today!"},
		"only a change":        {search(), taskStep, `[]`, false, ""},
		"only a named note":    {search(), noteStep, `[]`, false, ""},
		"only the day":         {search(), clockStep, "[" + typed + "]", true, ""},
		"only the web":         {search(), webStep, "[" + typed + "]", true, ""},
		"nothing at all":       {search(), "", "[" + typed + "]", true, ""},
		"nothing in the notes": {weak, webStep, "[" + typed + "]", false, ""},
		"the notes as well": {
			search(), `{"id":"1","tool":"search_notes","input":{"query":"running"}}`,
			`[{"query":"running"} ` + typed + `]`, true, "",
		},
		"a change and a page": {search(), webStep + "," + taskStep, "[" + typed + "]", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.notes.schema = `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},` +
				`"required":["query"]}`
			o := Options{
				Model:   byTask{plan: `{"steps":[` + tc.steps + `]}`, answer: "It is Saturday."},
				History: &shelf{}, Tools: tools(tc.notes, clock, pages, note, addTask()),
			}
			events := collect(New(o).Ask(t.Context(), "c1", cmp.Or(tc.asked, howOften)), always(agent.AllowOnce))
			end := ended(t, events)
			cites := false
			for _, s := range end.Sources {
				cites = cites || s.Path == fitness.Path
			}
			if got := fmt.Sprint(tc.notes.ran()); got != tc.want || cites != tc.cites || end.Unanswered ||
				end.Answer != "It is Saturday." {
				t.Errorf("searched for %s, sources %+v, answer %q", got, end.Sources, end.Answer)
			}
		})
	}
}

const threeSteps = `{"reasoning":"","steps":[{"id":"1","tool":"search_notes","input":{"query":"shoes\nand socks"}},` +
	`{"id":"2","tool":"add_task","input":{"text":"buy shoes"}},{"id":"3","tool":"brave_web_search",` +
	`"input":{"query":"{{1.text}}"},"after":["1"]}]}`

// approving runs a turn whose plans are answered with given; the last answer is
// repeated. It also returns the forms that were shown.
func approving(t *testing.T, o Options, given ...agent.Input) (events []agent.Event, shown []agent.InputAsked) {
	t.Helper()
	if o.Limits.Parallel, o.Now = 1, fixedNow; o.Session == nil {
		o.Session = agenttest.Session{In: agent.PlanMode, Asks: true}
	}
	if o.History == nil {
		o.History = &shelf{}
	}
	for e := range New(o).Ask(t.Context(), "c1", errand) {
		events = append(events, e)
		switch asked := e.Body.(type) {
		case agent.PermissionAsked:
			asked.Reply(agent.Reply{Decision: agent.AllowOnce})
		case agent.InputAsked:
			asked.Reply(given[min(len(shown), len(given)-1)])
			shown = append(shown, asked)
		}
	}
	return events, shown
}

func approved(values string) agent.Input {
	return agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(values)}
}

// toldOf counts the permission requests, and returns the answer and what was dropped.
func toldOf(events []agent.Event) (gate int, answer string, dropped []string) {
	for _, e := range events {
		switch body := e.Body.(type) {
		case agent.PermissionAsked:
			gate++
		case agent.Ended:
			answer, dropped = body.Answer, body.Dropped
		}
	}
	return gate, answer, dropped
}

func TestApprovePlan(t *testing.T) {
	for name, tc := range map[string]struct {
		given         agent.Input
		searched, web string
		added         string
		gate          int
		answered      string
		dropped       []string // part of each
	}{
		"as it is": {
			given: approved(`{}`), searched: `{"query":"shoes\nand socks"}`, web: fitness.Text,
			added: `{"text":"buy shoes"}`, gate: 2, answered: goodAnswer,
		},
		"a step is dropped, and what needs its result": {
			given: approved(`{"1":"drop"}`), added: `{"text":"buy shoes"}`, gate: 1, answered: goodAnswer,
			dropped: []string{
				"step 1: the user dropped search_notes", "step 3 cannot wait for",
				"step 3 uses the result",
			},
		},
		"an argument is changed": {
			given:    approved(`{"1":"run","1.query":"shoes\nand socks","2":"run","2.text":"buy sandals","3":"drop"}`),
			searched: `{"query":"shoes\nand socks"}`, added: `{"text":"buy sandals"}`, gate: 1, answered: goodAnswer,
			dropped: []string{"dropped brave_web_search"},
		},
		"every step is dropped": {
			given:    approved(`{"1":"drop","2":"drop","3":"drop"}`),
			answered: "Not run: you dropped",
		},
		"declined": {given: agent.Input{Action: agent.InputDeclined}, answered: "Not run: you declined"},
		"esc":      {given: agent.Input{Action: agent.InputCancelled}, answered: "Not run: you declined"},
	} {
		t.Run(name, func(t *testing.T) {
			notes, tasks, web := search(), addTask(), web()
			web.level = agent.Confirm
			model := &script{lines: []line{say(threeSteps), say(goodAnswer)}}
			events, shown := approving(t, Options{Model: model, Tools: tools(notes, tasks, web)}, tc.given)
			if len(shown) != 1 {
				t.Fatalf("%d plans were shown", len(shown))
			}
			ran := func(f *fakeTool) string { return strings.Join(f.ran(), " ") }
			if ran(notes) != tc.searched || ran(tasks) != tc.added || (tc.web == "") != (ran(web) == "") {
				t.Errorf("ran %s, %s, %s", ran(notes), ran(tasks), ran(web))
			}
			gate, answer, dropped := toldOf(events)
			if gate != tc.gate || !strings.HasPrefix(answer, tc.answered) {
				t.Errorf("the gate asked %d times, the answer is %q", gate, answer)
			}
			if !slices.EqualFunc(dropped, tc.dropped, strings.Contains) {
				t.Errorf("dropped: %q", dropped)
			}
			for i, e := range events { // the reported plan is the approved one
				if _, isPlan := e.Body.(agent.PlanMade); isPlan {
					if _, answered := events[i-1].Body.(agent.InputGiven); !answered {
						t.Errorf("a plan was told before it was approved")
					}
				}
			}
		})
	}
}

func TestApprovePlanChecksArguments(t *testing.T) {
	task := addTask()
	_, shown := approving(t, Options{Model: &script{lines: []line{say(taskStep)}}, Tools: tools(task)},
		approved(`{"1.text":""}`))
	if err := shown[0].Check(json.RawMessage(`{"1.text":""}`)); err == nil || !strings.Contains(err.Error(), "text") {
		t.Errorf("a task without a text fits: %v", err)
	}
	if err := shown[0].Check(json.RawMessage(`{"1.text":"buy tea"}`)); err != nil {
		t.Error(err)
	}
	if len(task.ran()) > 0 {
		t.Errorf("it ran with %s", task.ran())
	}
}

func TestApprovePlanOfFurtherSteps(t *testing.T) {
	list := &fakeTool{name: "list_notes", reads: true, result: agent.Result{Text: "fitness.md"}}
	nothing := &fakeTool{name: "search_notes", reads: true, result: agent.Result{
		Text:    "no passages",
		Nothing: true, Searched: true,
	}}
	model := &script{
		lines:   []line{say(searchStep), say("Nothing is written of running.")},
		replans: []line{say(`{"steps":[{"id":"3","tool":"list_notes","input":{"query":"run"}}]}`)},
	}
	events, shown := approving(t, Options{Model: model, Tools: tools(nothing, list)}, approved(`{}`),
		agent.Input{Action: agent.InputDeclined})
	_, answer, dropped := toldOf(events)
	if len(shown) != 2 || len(nothing.ran()) != 1 || len(list.ran()) != 0 || len(dropped) != 1 ||
		!strings.Contains(dropped[0], "you declined") || answer != "Nothing is written of running." {
		t.Errorf("%d plans shown, %q, %q", len(shown), dropped, answer)
	}
}

func TestApprovePlanWithoutAUser(t *testing.T) {
	notes := search()
	task := &fakeTool{name: "add_task", level: agent.Confirm}
	plan := `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"shoes"}},{"id":"2","tool":"add_task",` +
		`"input":{"query":"buy shoes"}}]}`
	events, shown := approving(t, Options{
		Unattended: true, Model: &script{lines: []line{say(plan), say(goodAnswer)}},
		Tools: tools(notes, task),
	}, approved(`{}`))
	if gate, _, _ := toldOf(events); len(shown) > 0 || len(notes.ran()) != 1 || len(task.ran()) > 0 || gate != 1 {
		t.Errorf("%d plans shown, %d calls asked about, ran %s and %s", len(shown), gate, notes.ran(), task.ran())
	}
}

func TestApprovePlanIsAskedAgainAfterAKill(t *testing.T) {
	notes, kept := search(), &ledger{question: errand}
	o := Options{
		Model: &script{lines: []line{say(searchStep), say(searchStep), say(goodAnswer)}}, Tools: tools(notes),
		History: &shelf{}, Journal: kept, Now: fixedNow, Session: agenttest.Session{In: agent.PlanMode, Asks: true},
	}
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	for e := range New(o).Ask(ctx, "c1", errand) {
		if _, waits := e.Body.(agent.InputAsked); waits {
			kill(agent.ErrShutdown)
		}
	}
	if moments := kept.moments(); moments != "" || len(notes.ran()) > 0 {
		t.Fatalf("before the plan was approved: %s, ran %s", moments, notes.ran())
	}
	asked := 0
	for e := range New(o).Resume(t.Context(), "c1", "t1") {
		if form, waits := e.Body.(agent.InputAsked); waits {
			asked++
			form.Reply(approved(`{}`))
		}
	}
	if asked != 1 || len(notes.ran()) != 1 {
		t.Errorf("asked %d times, ran %s", asked, notes.ran())
	}
}

func TestApprovePlanIsForPlanMode(t *testing.T) {
	events, shown := approving(t, Options{
		Session: agenttest.Session{In: agent.LoopMode, Asks: true},
		Model:   &script{lines: []line{say("Hello!")}}, Tools: tools(search()),
	}, approved(`{}`))
	got := story(t, events)
	if len(shown) > 0 || !strings.Contains(got, "In loop mode calls run or ask") {
		t.Errorf("%d plans shown:\n%s", len(shown), got)
	}
}
