package turn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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
		return "```json\n[" + joined(c, ", ", named("tool", "input")) + "]\n```"
	},
	"OpenAI": func(c []wanted) string {
		return `{"tool_calls": [` + joined(c, ", ", func(w wanted) string {
			text, _ := json.Marshal(argsJSON(w))
			return fmt.Sprintf(`{"id": "call_1", "type": "function", "function": {"name": %q, "arguments": %s}}`, w.Tool, text)
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
			"refused: unknown tool": "<tool_call>" + named("name", "arguments")(wanted{first.Tool + "_x", first.Args}) + "</tool_call>",
			"refused: cut JSON":     "<tool_call>" + strings.TrimRight(named("name", "arguments")(first), "}") + "</tool_call>",
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
		t.Logf("| %-44s | %4d of %4d | %5.1f %% |", form, right[form], total[form], 100*float64(right[form])/float64(total[form]))
		if right[form]*100 < total[form]*98 {
			t.Errorf("%s: %d of %d", form, right[form], total[form])
		}
	}
}
