package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

// callCase is a request of the Berkeley function-calling data: tools, and the
// calls that are right.
type callCase struct {
	ID    string
	Tools []struct {
		Name       string
		Parameters map[string]any
	}
	Expected []struct {
		Name string
		Args map[string][]any // accepted values; "" among them: may be left out
	}
}

// wanted is a call as it has to come out.
type wanted struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"input"`
}

// render writes calls as models do, well or badly.
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
		steps = append(steps, map[string]any{"id": strconv.Itoa(i + 1), "tool": c.Tool, "input": input, "after": []string{}})
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

// Every list of right calls comes out of the plan as it went in, however the
// model wrote it; a call of a tool that is not there, or without what it
// needs, is refused with the reason.
func TestRightCallsSurviveBadWriting(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data/tools"), "bfcl-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no data: %v", err)
	}
	total, kept := map[string]int{}, map[string]int{}
	turn := &turn{Agent: New(Options{})}
	for _, file := range files {
		for i, c := range readCases(t, file) {
			if i%share != 0 {
				continue
			}
			offered, calls := c.prepare()
			if len(calls) == 0 || len(calls) > maxSteps {
				continue
			}
			for form, render := range renders {
				total[form]++
				if got := turn.callsOf(render(calls), offered); reflect.DeepEqual(got, calls) {
					kept[form]++
				} else if form != "numbers as text" {
					t.Errorf("%s, %s:\n%s\ncame out as %v", c.ID, form, render(calls), got)
				}
			}
			total["refused"]++
			broken := []wanted{{Tool: calls[0].Tool + "x", Args: calls[0].Args}}
			if d, err := readPlan(planJSON(broken, nil)); err == nil {
				if steps, dropped := turn.mendSteps(d.Steps, offered, nil); len(steps) == 0 && len(dropped) == 1 {
					kept["refused"]++
				}
			}
		}
	}
	for form, n := range total {
		t.Logf("%-18s %d of %d", form, kept[form], n)
		if kept[form]*100 < n*99 || n == 0 {
			t.Errorf("%s: %d of %d", form, kept[form], n)
		}
	}
}

// callsOf is the calls of the plan that a text holds.
func (t *turn) callsOf(text string, offered []Tool) (calls []wanted) {
	d, err := readPlan(text)
	if err != nil {
		return nil
	}
	steps, _ := t.mendSteps(d.Steps, offered, nil)
	for _, s := range steps {
		args, err := readObject(s.Input)
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
		if dec.Decode(&c) == nil { // the cases of many turns have another shape
			cases = append(cases, c)
		}
	}
	return cases
}

// prepare makes tools of the case's and picks the first accepted values.
func (c callCase) prepare() (offered []Tool, calls []wanted) {
	schemas := map[string]shape{}
	for _, tool := range c.Tools {
		schema, _ := json.Marshal(jsonTypes(tool.Parameters))
		offered = append(offered, &fakeTool{name: tool.Name, schema: string(schema)})
		schemas[tool.Name] = shapeOf(schema)
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
		if turn := (&turn{Agent: New(Options{})}); turn.fits(offered, call.Name, args) {
			calls = append(calls, wanted{call.Name, args})
		}
	}
	return offered, calls
}

// fits tells whether the data's own values fit the data's own schema; some do not.
func (t *turn) fits(offered []Tool, name string, args map[string]any) bool {
	tool := findTool(offered, name)
	raw, err := json.Marshal(args)
	if tool == nil || err != nil {
		return false
	}
	_, notes, err := t.schemas.mend(tool.Spec(), raw)
	return err == nil && len(notes) == 0
}

// jsonTypes replaces the type names of Python by those of JSON Schema.
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
