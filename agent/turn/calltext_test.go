package turn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/testenv"
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
		return joined(c, "\n", func(w wanted) string {
			return "<tool_call>\n" +
				named("name", "arguments")(w) + "\n</tool_call>"
		})
	},
	"Hermes after prose": func(c []wanted) string {
		return "I'll look that up.\n<tool_call>" + joined(c, "</tool_call><tool_call>", named("name", "arguments")) +
			"</tool_call>"
	},
	"Hermes, thoughts": func(c []wanted) string {
		return "<think>a {\"name\": 1}</think><tool_call>" +
			joined(c, "</tool_call><tool_call>", named("name", "arguments")) + "</tool_call>"
	},
	"Hermes, trailing comma": func(c []wanted) string {
		return "<tool_call>" + joined(c, "</tool_call>\n<tool_call>",
			func(w wanted) string {
				return strings.TrimSuffix(named("name", "arguments")(w), "}") + ",}"
			}) + "</tool_call>"
	},
	"Hermes, not closed": func(c []wanted) string {
		return joined(c, "\n", func(w wanted) string { return "<tool_call>" + named("name", "arguments")(w) })
	},
	"Hermes, quotes of Python": func(c []wanted) string {
		return "<tool_call>" + joined(c, "</tool_call>\n<tool_call>", func(w wanted) string {
			return fmt.Sprintf("{'name': '%s', 'arguments': %s}", w.Tool, argsJSON(w))
		}) + "</tool_call>"
	},
	"Mistral": func(c []wanted) string {
		return "[TOOL_CALLS] [" +
			joined(c, ", ", named("name", "arguments")) + "]"
	},
	"bare JSON": func(c []wanted) string { return joined(c, "; ", named("name", "parameters")) },
	"bare list": func(c []wanted) string { return "[" + joined(c, ",\n", named("name", "arguments")) + "]" },
	"fenced JSON": func(c []wanted) string {
		return "```json\n[" + joined(c, ", ", named("tool", "input")) + "]\n```"
	},
	"OpenAI": func(c []wanted) string {
		return `{"tool_calls": [` + joined(c, ", ", func(w wanted) string {
			text, _ := json.Marshal(argsJSON(w))
			return fmt.Sprintf(`{"id": "call_1", "type": "function", "function": {"name": %q, "arguments": %s}}`,
				w.Tool, text)
		}) + `]}`
	},
}

// callsOfText returns the calls that the loop would run for a text.
func (t *turn) callsOfText(text string, l rightList) (calls []wanted, err error) {
	said := prompt.Read(text, l.known)
	if said.Problem != nil {
		return nil, said.Problem
	}
	for _, d := range said.Calls {
		step, _, _, err := t.repairStep(d, l.offered)
		if err != nil {
			return calls, err
		}
		args, err := agent.ReadObject(step.Input)
		if err != nil {
			return calls, err
		}
		calls = append(calls, wanted{step.Tool, args})
	}
	return calls, nil
}

// Every list of right calls is read from printed text unchanged; broken calls are
// refused with a reason.
func TestPrintedCallsAreRead(t *testing.T) {
	testenv.WithoutRace(t)
	total, right := map[string]int{}, map[string]int{}
	worker := emptyTurn()
	refused := 0
	for _, c := range rightCalls(t) {
		for form, write := range callForms {
			form = c.from + ": " + form
			total[form]++
			text := write(c.calls)
			got, err := worker.callsOfText(text, c)
			if err == nil && reflect.DeepEqual(got, c.calls) {
				right[form]++
			} else if refused++; refused <= 12 {
				t.Logf("%s, %s: %v\n%s\ncame out as %v", c.id, form, err, text, got)
			}
		}
		first := c.calls[0]
		broken := map[string]string{
			"refused: unknown tool": "<tool_call>" + named("name", "arguments")(wanted{first.Tool + "_x", first.Args}) +
				"</tool_call>",
			"refused: cut JSON": "<tool_call>" + strings.TrimRight(named("name", "arguments")(first), "}") +
				"</tool_call>",
		}
		if len(agent.ShapeOf(prompt.Find(c.offered, first.Tool).Spec().Schema).Required) > 0 {
			broken["refused: no arguments"] = "<tool_call>{\"name\": \"" + first.Tool + "\"}</tool_call>"
		}
		for form, text := range broken {
			form = c.from + ": " + form
			total[form]++
			if got, err := worker.callsOfText(text, c); err != nil && err.Error() != "" && len(got) == 0 {
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
		t.Logf("| %-44s | %4d of %4d | %5.1f %% |", form, right[form], total[form],
			100*float64(right[form])/float64(total[form]))
		if right[form]*100 < total[form]*98 {
			t.Errorf("%s: %d of %d", form, right[form], total[form])
		}
	}
}

// callCase is a request of the Berkeley function-calling data: tools, and the right
// calls.
type callCase struct {
	ID      string
	Request string
	Tools   []struct {
		Name       string
		Parameters map[string]any
	}
	Expected []struct {
		Name string
		Args map[string][]any // accepted values; "" among them: optional
	}
}

// wanted is an expected call.
type wanted struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"input"`
}

// renders write calls as models do, well or badly.
var renders = map[string]func([]wanted) string{
	"clean":        func(calls []wanted) string { return planJSON(calls, nil) },
	"fenced":       func(calls []wanted) string { return "```json\n" + planJSON(calls, nil) + "\n```" },
	"prose around": func(calls []wanted) string { return "Let me {think}.\n" + planJSON(calls, nil) + "\nDone {ok}." },
	"thoughts":     func(calls []wanted) string { return "<think>{\"steps\":[]}</think>" + planJSON(calls, nil) },
	"bare list": func(calls []wanted) string {
		raw, _ := json.Marshal(calls)
		return string(raw)
	},
	"trailing commas": func(calls []wanted) string {
		return strings.NewReplacer("}]}", "},]}", "}}", "},}").Replace(planJSON(calls, nil))
	},
	"numbers as text": func(calls []wanted) string { return planJSON(calls, quoteNumbers) },
	"ids doubled": func(calls []wanted) string {
		return strings.NewReplacer(`"id":"2"`, `"id":"1"`, `"id":"3"`, `"id":"1"`).Replace(planJSON(calls, nil))
	},
	"in a circle": func(calls []wanted) string {
		return strings.ReplaceAll(planJSON(calls, nil), `"after":[]`, fmt.Sprintf(`"after":["%d"]`, len(calls)))
	},
	"arguments as text": func(calls []wanted) string {
		return planJSON(calls, func(v any) any { return v }, "text")
	},
}

func planJSON(calls []wanted, change func(any) any, form ...string) string {
	steps := []map[string]any{}
	for i, c := range calls {
		args := map[string]any{}
		for name, value := range c.Args {
			if change != nil {
				value = change(value)
			}
			args[name] = value
		}
		var input any = args
		if len(form) > 0 {
			raw, _ := json.Marshal(args)
			input = string(raw)
		}
		steps = append(steps, map[string]any{
			"id": strconv.Itoa(i + 1), "tool": c.Tool,
			"input": input, "after": []string{},
		})
	}
	raw, _ := json.Marshal(map[string]any{"reasoning": "", "steps": steps})
	return string(raw)
}

func quoteNumbers(v any) any {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	return v
}

// brokenPlans are plans that must be refused, with words of the reason.
var brokenPlans = map[string]func(offered []agent.Tool, calls []wanted) (text, why string){
	"refused: unknown tool": func(_ []agent.Tool, calls []wanted) (string, string) {
		name := calls[0].Tool + "_x"
		return planJSON([]wanted{{name, calls[0].Args}}, nil), fmt.Sprintf("unknown tool %.60q", name)
	},
	"refused: missing argument": func(offered []agent.Tool, calls []wanted) (string, string) {
		for _, c := range calls {
			for _, name := range agent.ShapeOf(prompt.Find(offered, c.Tool).Spec().Schema).Required {
				args := maps.Clone(c.Args)
				delete(args, name)
				return planJSON([]wanted{{c.Tool, args}}, nil), name
			}
		}
		return "", ""
	},
	"refused: cut off": func(_ []agent.Tool, calls []wanted) (string, string) {
		text := planJSON(calls, nil)
		return text[:len(text)*2/3], "not valid JSON"
	},
}

// share is n: every nth row of the long tables is tested, and all in `make soak`.
var share = map[bool]int{true: 1, false: 6}[os.Getenv("LIFEHUB_SOAK") != ""]

// Every list of right calls is read from a plan unchanged, however the model wrote it.
// A call of an unknown tool, or without required arguments, is refused with a reason.
func TestBadlyWrittenCallsAreRead(t *testing.T) {
	testenv.WithoutRace(t)
	total, kept := map[string]int{}, map[string]int{}
	worker := emptyTurn()
	for _, c := range rightCalls(t) {
		if len(c.calls) > maxSteps {
			continue
		}
		for form, render := range renders {
			form = c.from + ": " + form
			total[form]++
			if got := worker.callsOf(render(c.calls), c.offered); reflect.DeepEqual(got, c.calls) {
				kept[form]++
			} else if !strings.HasSuffix(form, "numbers as text") {
				t.Errorf("%s, %s:\n%s\ncame out as %v", c.id, form, render(c.calls), got)
			}
		}
		for form, breakIt := range brokenPlans {
			text, why := breakIt(c.offered, c.calls)
			if text == "" {
				continue // it has no required arguments
			}
			form = c.from + ": " + form
			total[form]++
			if reason := worker.refusal(text, c.offered); strings.Contains(reason, why) {
				kept[form]++
			} else {
				t.Errorf("%s, %s: refused with %q, which does not name %q:\n%s", c.id, form, reason, why, text)
			}
		}
	}
	for _, form := range slices.Sorted(maps.Keys(total)) {
		n := total[form]
		t.Logf("| %-40s | %4d of %4d | %5.1f %% |", form, kept[form], n, 100*float64(kept[form])/float64(n))
		if kept[form]*100 < n*99 || n == 0 {
			t.Errorf("%s: %d of %d", form, kept[form], n)
		}
	}
}

// refusal returns why none of a plan's steps can run; "" if some can.
func (t *turn) refusal(text string, offered []agent.Tool) string {
	d, err := prompt.Plan(text)
	if err != nil {
		return err.Error()
	}
	steps, dropped, _ := t.repairSteps(d.Steps, offered, nil)
	if len(steps) > 0 {
		return ""
	}
	return strings.Join(dropped, "; ")
}

// A plan for a request that no tool fits is an answer and stays one.
func TestAnswerWithoutCallsStaysAnAnswer(t *testing.T) {
	worker := emptyTurn()
	n := 0
	for i, c := range readCases(t, testenv.Shared(t, "data/tools/bfcl-irrelevance.jsonl")) {
		if i%share != 0 {
			continue
		}
		offered, _ := c.prepare()
		reply := "No tool here does that: " + c.Request
		raw, err := json.Marshal(map[string]any{"reasoning": "", "steps": []any{}, "answer": reply})
		if err != nil {
			t.Fatal(err)
		}
		d, err := prompt.Plan("```json\n" + string(raw) + "\n```")
		if err != nil || len(d.Steps) > 0 || d.Answer != reply {
			t.Errorf("%s: %+v, %v", c.ID, d, err)
		}
		if calls, err := worker.callsOfText(reply, rightList{offered: offered, names: namesOf(offered)}); err != nil ||
			len(calls) > 0 {
			t.Errorf("%s, printed: %v, %v", c.ID, calls, err)
		}
		n++
	}
	t.Logf("%d requests that no tool fits", n)
}

// rightList is a list of right calls for a request, with the tools that were offered.
type rightList struct {
	from, id string
	offered  []agent.Tool
	calls    []wanted
	names    map[string]bool // of the tools
}

func (l rightList) known(name string) bool { return l.names[name] }

func namesOf(tools []agent.Tool) map[string]bool {
	names := map[string]bool{}
	for _, tool := range tools {
		names[tool.Spec().Name] = true
	}
	return names
}

// rightCalls returns the single-turn and multi-turn lists of the Berkeley data, and
// those of MetaTool.
func rightCalls(t *testing.T) (lists []rightList) {
	files, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data/tools"), "bfcl-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no data: %v", err)
	}
	var cases []callCase
	for _, file := range files {
		cases = append(cases, readCases(t, file)...)
	}
	for i, c := range cases {
		if offered, calls := c.prepare(); i%share == 0 && len(calls) > 0 {
			lists = append(lists, rightList{"BFCL", c.ID, offered, calls, namesOf(offered)})
		}
	}
	lists = append(lists, manyTurns(t)...)
	return append(lists, metaTool(t)...)
}

// manyTurns returns the lists of the Berkeley data that are written as Python and
// belong to conversations of several turns.
func manyTurns(t *testing.T) (lists []rightList) {
	var tools map[string]json.RawMessage
	raw, err := os.ReadFile(testenv.Shared(t, "data/tools/bfcl-multi_turn_tools.json"))
	if err != nil || json.Unmarshal(raw, &tools) != nil {
		t.Fatalf("the tools of many turns: %v", err)
	}
	var all callCase
	for _, class := range slices.Sorted(maps.Keys(tools)) {
		var some callCase
		if err := json.Unmarshal([]byte(`{"tools":`+string(tools[class])+`}`), &some); err != nil {
			t.Fatal(err)
		}
		all.Tools = append(all.Tools, some.Tools...)
	}
	offered, _ := all.prepare()
	names := namesOf(offered)
	file, err := os.ReadFile(testenv.Shared(t, "data/tools/bfcl-multi_turn_base.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	worker := emptyTurn()
	for i, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
		var c struct {
			ID       string
			Expected [][]string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		for n, written := range c.Expected {
			calls := worker.pythonCalls(offered, written)
			if (i+n)%share == 0 && len(calls) > 0 {
				lists = append(lists, rightList{
					"BFCL, many turns",
					fmt.Sprintf("%s.%d", c.ID, n), offered, calls, names,
				})
			}
		}
	}
	return lists
}

var keyword = regexp.MustCompile(`(^|, *)(\w+) *=`)

// pythonCalls returns the calls that match their tools' schemas. Positional arguments
// are named in the order of the schema.
func (t *turn) pythonCalls(offered []agent.Tool, written []string) (calls []wanted) {
	for _, text := range written {
		name, rest, _ := strings.Cut(text, "(")
		tool := prompt.Find(offered, name)
		if tool == nil {
			continue
		}
		var read struct{ Args []any }
		if prompt.Object(`{"args":[`+keyword.ReplaceAllString(strings.TrimSuffix(rest, ")"), `$1"=$2",`)+"]}",
			&read) != nil {
			continue
		}
		list := read.Args
		args, order := map[string]any{}, agent.PropertyOrder(tool.Spec().Schema)
		for len(list) > 0 {
			position := ""
			if named, _ := list[0].(string); strings.HasPrefix(named, "=") {
				position, list = named[1:], list[1:]
			} else if len(order) > 0 {
				position, order = order[0], order[1:]
			}
			args[position], list = list[0], list[1:]
		}
		args, whole := asNumbers(args)
		if whole && t.fits(offered, name, args) {
			calls = append(calls, wanted{name, args})
		}
	}
	return calls
}

// asNumbers converts arguments to the types of decoded JSON.
func asNumbers(given map[string]any) (map[string]any, bool) {
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, false
	}
	read, err := agent.ReadObject(raw)
	return read, err == nil
}

// noName matches characters that servers do not accept in names of tools.
var noName = regexp.MustCompile(`[^\w.\-]`)

// metaTool returns its requests for two of 199 tools. It defines no arguments, so each
// tool takes the request.
func metaTool(t *testing.T) (lists []rightList) {
	var bench struct {
		Tools   map[string]string
		Queries []struct {
			Query string
			Tool  []string
		}
	}
	raw, err := os.ReadFile(testenv.Shared(t, "data/tools/metatool-two-tools.json"))
	if err != nil || json.Unmarshal(raw, &bench) != nil {
		t.Fatalf("MetaTool: %v", err)
	}
	var offered []agent.Tool
	for _, name := range slices.Sorted(maps.Keys(bench.Tools)) {
		offered = append(offered, &doubleTool{name: noName.ReplaceAllString(name, "_")})
	}
	names := namesOf(offered)
	for i, q := range bench.Queries {
		var calls []wanted
		for _, name := range q.Tool {
			if bench.Tools[name] != "" { // it has no description
				calls = append(calls, wanted{noName.ReplaceAllString(name, "_"), map[string]any{"query": q.Query}})
			}
		}
		if i%share == 0 && len(calls) > 0 {
			lists = append(lists, rightList{"MetaTool", fmt.Sprint("query ", i), offered, calls, names})
		}
	}
	return lists
}

// callsOf returns the calls of the plan in a text.
func (t *turn) callsOf(text string, offered []agent.Tool) (calls []wanted) {
	d, err := prompt.Plan(text)
	if err != nil {
		return nil
	}
	steps, _, _ := t.repairSteps(d.Steps, offered, nil)
	for _, s := range steps {
		args, err := agent.ReadObject(s.Input)
		if err != nil {
			return nil
		}
		calls = append(calls, wanted{s.Tool, args})
	}
	return calls
}

func readCases(t *testing.T, file string) (cases []callCase) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		var c callCase
		if dec.Decode(&c) == nil { // multi-turn cases have another form
			cases = append(cases, c)
		}
	}
	return cases
}

// prepare creates the tools of the case, and picks the first accepted values.
func (c callCase) prepare() (offered []agent.Tool, calls []wanted) {
	schemas := map[string]agent.Shape{}
	for _, tool := range c.Tools {
		schema, _ := json.Marshal(jsonTypes(tool.Parameters))
		offered = append(offered, &doubleTool{name: tool.Name, schema: string(schema)})
		schemas[tool.Name] = agent.ShapeOf(schema)
	}
	for _, call := range c.Expected {
		args := map[string]any{}
		for name, accepted := range call.Args {
			for _, value := range accepted {
				if value != "" {
					args[name] = value
					break
				}
			}
		}
		if worker := emptyTurn(); worker.fits(offered, call.Name, args) {
			calls = append(calls, wanted{call.Name, args})
		}
	}
	return offered, calls
}

// fits reports whether the data's values match the data's own schema; some do not.
func (t *turn) fits(offered []agent.Tool, name string, args map[string]any) bool {
	tool := prompt.Find(offered, name)
	raw, err := json.Marshal(args)
	if tool == nil || err != nil {
		return false
	}
	repaired, err := t.gate.Schemas.Repair(tool, raw)
	return err == nil && len(repaired.Changed)+len(repaired.Lost) == 0
}

// jsonTypes replaces Python's type names by JSON Schema's.
func jsonTypes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = jsonTypes(value)
		}
		if name, ok := v["type"].(string); ok {
			switch name {
			case "dict":
				out["type"] = "object"
			case "float":
				out["type"] = "number"
			case "tuple":
				out["type"] = "array"
			case "any":
				delete(out, "type")
			}
		}
		delete(out, "default")
		return out
	case []any:
		for i := range v {
			v[i] = jsonTypes(v[i])
		}
	}
	return v
}
