package gate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"lifehub/agent"
)

const someRules = `# mine
rules:
  - tool: "*"
    level: confirm
  - tool: add_*
    level: auto
  - {tool: send_email, level: deny}
  - tool: send_*
    level: auto
`

func TestLastRuleWinsAndDenyBeatsAll(t *testing.T) {
	rules, err := Parse("permissions.yaml", []byte(someRules))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		tool   string
		own    agent.Level
		want   agent.Level
		reason string
	}{
		"the last match": {
			"add_task", agent.Confirm, agent.Auto,
			"rule {tool: 'add_*', level: auto} (permissions.yaml:5)",
		},
		"a wide rule tightens": {
			"today", agent.Auto, agent.Confirm,
			"rule {tool: '*', level: confirm} (permissions.yaml:3)",
		},
		"deny before an allow": {
			"send_email", agent.Confirm, agent.Deny,
			"rule {tool: send_email, level: deny} (permissions.yaml:7)",
		},
		"a tool that is denied": {"add_note", agent.Deny, agent.Deny, "add_note is denied"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := rules.Decide(tc.tool, tc.own, Reading{})
			if v.Level != tc.want || !strings.HasPrefix(v.Reason, tc.reason) {
				t.Errorf("decide(%s) = %s, %q; want %s, %q", tc.tool, v.Level, v.Reason, tc.want, tc.reason)
			}
		})
	}
	var none *Rules
	if v := none.Decide("today", agent.Auto, Reading{}); v.Level != agent.Auto || v.Reason == "" {
		t.Errorf("without rules: %s, %q", v.Level, v.Reason)
	}
}

func TestRuleErrorsNameFileAndLine(t *testing.T) {
	for name, text := range map[string]string{
		"empty":            "",
		"only a comment":   "# nothing yet\n",
		"rules but none":   "rules:\n",
		"an empty list":    "rules: []\n",
		"a number as tool": "rules:\n  - tool: 7\n    level: auto\n",
	} {
		if _, err := Parse("p.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{ // the rest is the words of the YAML library
		"rules:\n  - tool: a\n    tool: b\n    level: auto\n": "p.yaml:3: ",
		"rules:\n  - tool: \"a\n":                             "p.yaml:2: ",
		"rules:\n\t- tool: a\n":                               "p.yaml:2: ",
	} {
		if _, err := Parse("p.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	mistakes := map[string]string{
		"unknown key":     "rules: []\nrule: x\n",
		"unknown field":   "rules:\n  - tool: a\n    levle: auto\n",
		"unknown level":   "rules:\n  - tool: a\n    level: maybe\n",
		"no level":        "rules:\n  - tool: a\n",
		"no tool":         "rules:\n  - level: auto\n",
		"bad pattern":     "rules:\n  - tool: 'a['\n    level: auto\n",
		"a list of words": "rules:\n  - add_task\n",
		"no list":         "rules: auto\n",
		"a nested value":  "rules:\n  - tool: [a]\n    level: auto\n",
		"a list at top":   "- tool: a\n",
		"an empty tool":   "rules:\n  - tool: ''\n    level: auto\n",
	}
	var errs strings.Builder
	for _, name := range slices.Sorted(maps.Keys(mistakes)) {
		_, err := Parse("p.yaml", []byte(mistakes[name]))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		fmt.Fprintf(&errs, "%s: %v\n", name, err)
	}
	golden.RequireEqual(t, errs.String())
}

func TestAllowAcceptsToolAndLevel(t *testing.T) {
	tests := map[string]struct {
		text string
		want Rule
		err  bool
	}{
		"a tool":      {"add_task", Rule{Tool: "add_task", Level: agent.Auto}, false},
		"a pattern":   {" add_* ", Rule{Tool: "add_*", Level: agent.Auto}, false},
		"a level":     {"add_task=confirm", Rule{Tool: "add_task", Level: agent.Confirm}, false},
		"a bad level": {"add_task=maybe", Rule{}, true},
		"nothing":     {"", Rule{}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseOne(tc.text)
			if !reflect.DeepEqual(got, tc.want) || (err != nil) != tc.err {
				t.Errorf("ParseOne(%q) = %+v, %v", tc.text, got, err)
			}
		})
	}
}

func TestRuleIsAppendedAsShown(t *testing.T) {
	for name, text := range map[string]string{
		"no file":       "",
		"a list":        someRules,
		"no rules yet":  "# mine\nrules:\n",
		"no indent":     "rules:\n- tool: a\n  level: auto\n",
		"wide indent":   "rules:\n    - tool: a\n      level: auto",
		"just comments": "# mine\n",
	} {
		t.Run(name, func(t *testing.T) {
			rule := For("add_task", agent.Auto)
			got, err := Append([]byte(text), rule)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(got), strings.TrimRight(text, "\n")) ||
				!strings.Contains(string(got), Format(rule)) {
				t.Errorf("got\n%s", got)
			}
			before, _ := Parse("p", []byte(text))
			after, err := Parse("p", got)
			if err != nil || len(after.List()) != len(before.List())+1 {
				t.Errorf("%v, %d rules after %d:\n%s", err, len(after.List()), len(before.List()), got)
			}
		})
	}
	if got, err := Append([]byte("rules: []\n"), For("a", agent.Auto)); err == nil {
		t.Errorf("a list that cannot be extended became\n%s", got)
	}
}

// A rule for one tool matches only that tool, whatever the names.
func TestRuleMatchesOnlyItsTool(t *testing.T) {
	name := rapid.StringMatching(`[A-Za-z_.\-*?\[\]\\0-9]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		tool, other := name.Draw(t, "tool"), name.Draw(t, "other")
		text, err := Append(nil, For(tool, agent.Auto))
		if err != nil {
			t.Fatalf("append: %v", err)
		}
		rules, err := Parse("p", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if v := rules.Decide(tool, agent.Confirm, Reading{}); v.Level != agent.Auto {
			t.Fatalf("%s does not match %q", text, tool)
		}
		if v := rules.Decide(other, agent.Confirm, Reading{}); v.Level != agent.Confirm && other != tool {
			t.Fatalf("%s matches %q too", text, other)
		}
	})
}

func FuzzParseRules(f *testing.F) {
	f.Add(someRules)
	f.Add("rules:\n  - {tool: a, level: auto}\n")
	f.Add("rules: &a\n  - *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Parse("p", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p:") {
				t.Errorf("no file:line in %q", err)
			}
			return
		}
		rules.Decide("add_task", agent.Confirm, Reading{})
		if longer, err := Append([]byte(text), For("add_task", agent.Auto)); err == nil {
			if after, err := Parse("p", longer); err != nil || len(after.List()) != len(rules.List())+1 {
				t.Errorf("appending to %q gave %q", text, longer)
			}
		}
	})
}

// A deny rule that matches nothing would silently forbid nothing.
func TestRuleThatMatchesNothingIsRejected(t *testing.T) {
	for _, rule := range []string{
		`{tool: 'add_{task,note}', level: deny}`,
		`{tool: 'add_task|add_note', level: deny}`,
		`{tool: '[!a]*', level: deny}`,
		`{tool: !!str add_task, level: deny}`,
		`{tool: 'add task', level: deny}`,
		`{tool: 'аdd_task', level: deny}`, // the first letter is Cyrillic
		`{tool: web_fetch, args: {url: {host: 'https://example.org'}}, level: deny}`,
		`{tool: web_fetch, args: {url: {host: 'example.org:80'}}, level: deny}`,
		`{tool: web_fetch, args: {url: {host: [example.org, '*']}}, level: deny}`,
		`{tool: web_fetch, args: {url: {host: '*.*.org'}}, level: deny}`,
	} {
		if _, err := Parse("p", []byte("rules:\n- {tool: x, level: auto}\n- "+rule+"\n")); err == nil ||
			!strings.HasPrefix(err.Error(), "p:3: ") {
			t.Errorf("%s: got %v", rule, err)
		}
	}
	if rules, err := Parse("p", []byte("\ufeff\"rules\":\r\n- {\"tool\": \"fs_*\", \"level\": \"deny\"}\r\n")); err != nil || len(rules.List()) != 1 {
		t.Errorf("with a byte order mark and quotes: %v", err)
	}
}
