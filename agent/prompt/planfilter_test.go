package prompt

import (
	"strings"
	"testing"
)

func TestPlanIsNotShownAsAnswer(t *testing.T) {
	t.Parallel()
	known := func(tool string) bool { return tool == "search_notes" }
	const plan = `{"reasoning":"look","steps":[{"id":"1","tool":"search_notes","input":{"query":"run"}}]}`
	for name, c := range map[string]struct {
		text, said string
		plan       bool
	}{
		"prose":                      {"Three times a week [1].", "Three times a week [1].", false},
		"a plan":                     {plan, "", true},
		"in a fence":                 {"```json\n" + plan + "\n```", "", true},
		"after prose":                {"Here you are:\n\n" + plan + "\nand more", "Here you are:\n\n", true},
		"with an answer":             {`{"reasoning":"","steps":[],"answer":"Three times."}`, "", true},
		"no steps":                   {`{"reasoning":"nothing to do","steps":[]}`, "", true},
		"only steps":                 {`[{"id":"1","tool":"search_notes","input":{}}]`, "", true},
		"a call":                     {`{"name": "search_notes", "arguments": {"query": "run"}}`, "", true},
		"only an answer":             {`{"answer":"Three times."}`, "", true},
		"unknown tools":              {`{"steps":[{"id":"1","tool":"look","input":{}}]}`, "", true},
		"a step":                     {`{"tool":"look","input":{"query":"run"}}`, "", true},
		"calls of OpenAI":            {`{"tool_calls":[{"type":"function","function":{"name":"look","arguments":"{}"}}]}`, "", true},
		"as Python writes it":        {`{'reasoning': 'look', 'steps': [{'tool': 'search_notes', 'input': {}}]}`, "", true},
		"cut off":                    {plan[:40], "", true},
		"cut off in a key":           {`Say: {"reaso`, `Say: {"reaso`, false},
		"JSON that was asked for":    {`{"name":"Ana","tasks":["run"]}`, `{"name":"Ana","tasks":["run"]}`, false},
		"a recipe":                   {`Do {"steps":[{"description":"boil"}]} now`, `Do {"steps":[{"description":"boil"}]} now`, false},
		"JSON in a fence":            {"So:\n```json\n{\"id\": 7, \"x\": [1]}\n```\nDone.", "So:\n```json\n{\"id\": 7, \"x\": [1]}\n```\nDone.", false},
		"JSON of another tool":       {`{"name":"save","arguments":{}}`, `{"name":"save","arguments":{}}`, false},
		"code":                       {"`a := []int{1}` and ```go\nm := map[string]int{\"a\": 1}\n```", "`a := []int{1}` and ```go\nm := map[string]int{\"a\": 1}\n```", false},
		"JSON first and then a plan": {`{"id":1} ` + plan, `{"id":1} `, true},
		"brackets at the end":        {"see [", "see [", false},
		"nothing":                    {"", "", false},
	} {
		for _, size := range []int{1, 3, 1000} {
			var shown strings.Builder
			f := PlanFilter{Say: func(text string) { shown.WriteString(text) }, Known: known}
			for rest := c.text; rest != ""; {
				n := min(size, len(rest))
				f.Add(rest[:n])
				rest = rest[n:]
			}
			f.End()
			if shown.String() != c.said || f.Found != c.plan {
				t.Errorf("%s, %d at a time: said %q, plan %v; want %q, %v", name, size, shown.String(), f.Found, c.said, c.plan)
			}
		}
	}
}

func FuzzPlanFilter(f *testing.F) {
	f.Add(`So: {"name":"x"} [1] and {"reasoning":"","steps":[]}`, 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(1, size)
		var shown strings.Builder
		filter := PlanFilter{Say: func(text string) { shown.WriteString(text) }, Known: func(string) bool { return false }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			filter.Add(rest[:n])
			rest = rest[n:]
		}
		filter.End()
		if !filter.Found && shown.String() != text || !strings.HasPrefix(text, shown.String()) {
			t.Errorf("%q became %q", text, shown.String())
		}
	})
}
