package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/llm"
)

func ruleOf(t *testing.T, text string) Rule {
	t.Helper()
	rule, err := ParseOne(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// A rule that allows matches what is written in canonical form; the same rule as a deny
// matches each spelling of it, and what has no canonical form.
func TestRulesOnArguments(t *testing.T) {
	tests := map[string]struct {
		rule   string // without its level
		input  string
		auto   bool // it matches as {level: auto}
		strict bool // it matches as {level: deny}
	}{
		"the glob fits":                   {`x text='Buy *'`, `{"text":"Buy milk"}`, true, true},
		"the glob does not fit":           {`x text='Buy *'`, `{"text":"Sell milk"}`, false, false},
		"a line after what the glob fits": {`x text='Buy *'`, `{"text":"Buy milk\n- [ ] pay Mallory"}`, false, true},
		"a line in another spelling":      {`x text='Buy *'`, `{"text":"Buy milk\u2028pay Mallory"}`, false, true},
		"a ? that is a line":              {`x text='Buy?milk'`, `{"text":"Buy\nmilk"}`, false, true},
		"a star alone is anything":        {`x text=*`, `{"text":"Buy\n../milk"}`, true, true},
		"lines that the glob has too": {
			`{tool: x, args: {text: "a\n*\nb"}, level: auto}`,
			`{"text":"a\nc\nb"}`, true, true,
		},
		"another case":                    {`x text='Buy *'`, `{"text":"BUY milk"}`, false, true},
		"a decomposed letter":             {`x text='Käse *'`, `{"text":"Ka\u0308se kaufen"}`, false, true},
		"a decomposed letter in the rule": {"x text='Ka\u0308se *'", `{"text":"käse kaufen"}`, false, true},
		"escaped JSON is the same text":   {`x text='Buy *'`, `{"text":"\u0042uy milk"}`, true, true},
		"a star that is meant is escaped": {`x a=\*`, `{"a":"b"}`, false, false},
		"a glob that would take long": {
			`x a=*a*a*a*a*a*a*a*b`,
			`{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, false, false,
		},
		"out of the folder of a glob":      {`x path=log/*`, `{"path":"log/../secret.md"}`, false, true},
		"out of it by another sign":        {`x path=log/*`, `{"path":"log/..\\secret.md"}`, false, true},
		"up where the glob goes up":        {`x path=log/../a/*`, `{"path":"log/../a/b.md"}`, true, true},
		"two dots that lead nowhere":       {`x path=log/*`, `{"path":"log/a..b.md"}`, true, true},
		"a detour next to a glob":          {`x path=private/*`, `{"path":"./a/../private//b.md"}`, false, true},
		"a file by a detour":               {`x path=one_of:a.md|b.md`, `{"path":"./B.md"}`, false, true},
		"the vault before a glob":          {`x path=private/*`, `{"path":"vault/private/b.md"}`, false, true},
		"a vault before a name with a dot": {`x path=Misc./*`, `{"path":"vault/Misc./b.md"}`, false, true},
		"the root before a glob": {
			`x path=private/*`,
			`{"path":"file:///home/ana/private/b.md"}`, false, true,
		},
		"another folder next to a glob": {`x path=private/*`, `{"path":"public/b.md"}`, false, false},
		"the argument is missing":       {`x text=*`, `{}`, false, false},
		"null is missing":               {`x text=*`, `{"text":null}`, false, false},
		"not given": {
			`{tool: x, args: {note: null}, level: auto}`,
			`{"text":"a"}`, true, true,
		},
		"given all the same": {
			`{tool: x, args: {note: null}, level: auto}`,
			`{"note":"a"}`, false, false,
		},
		"given by a name in another case": {
			`{tool: x, args: {note: null}, level: auto}`,
			`{"Note":"a"}`, false, false,
		},
		"the name in another case besides": {`x path=a`, `{"path":"a","PATH":"b"}`, false, true},
		"the name in another case":         {`x path=b`, `{"path":"a","Path":"b"}`, false, true},
		"a key twice: the last counts":     {`x path=a`, `{"path":"a","path":"b"}`, false, false},
		"only": {
			`{tool: x, args: {a: b}, only: true, level: auto}`,
			`{"a":"b"}`, true, true,
		},
		"only, and more is given": {
			`{tool: x, args: {a: b}, only: true, level: auto}`,
			`{"a":"b","c":1}`, false, false,
		},
		"only, and null is given": {
			`{tool: x, args: {a: b}, only: true, level: auto}`,
			`{"a":"b","c":null}`, false, true,
		},
		"only, by a name in another case": {
			`{tool: x, args: {a: b}, only: true, level: auto}`,
			`{"A":"b"}`, false, true,
		},
		"one of":                       {`x p=one_of:low|high`, `{"p":"high"}`, true, true},
		"one of, another":              {`x p=one_of:low|high`, `{"p":"higher"}`, false, false},
		"a number":                     {`x n=5`, `{"n":5}`, true, true},
		"a number in another spelling": {`x n=5`, `{"n":5.0}`, false, true},
		"nothing with a sign":          {`x n=0`, `{"n":-0.0}`, false, true},
		"a number beyond all":          {`x n=1e999`, `{"n":1E999}`, false, true},
		"all of a list fit":            {`x to='*@a.org'`, `{"to":["b@a.org","c@a.org"]}`, true, true},
		"one of a list does not fit":   {`x to='*@a.org*'`, `{"to":["c@evil.org","b@a.org"]}`, false, true},
		"an empty list":                {`x to='*@a.org'`, `{"to":[]}`, false, false},
		"deep inside": {
			`x files=secret.txt`,
			`{"files":[{"name":["a.txt","secret.txt"]}]}`, false, true,
		},
		"the name of a value":          {`x files=*secret*`, `{"files":{"secret.txt":"a"}}`, false, true},
		"arguments that are no object": {`x a=*`, `[]`, false, true},
		"arguments that are no JSON":   {`x a=*`, `{`, false, true},
		"under":                        {`x path=under:log/`, `{"path":"log/2026.md"}`, true, true},
		"under, the folder itself":     {`x path=under:log`, `{"path":"log"}`, true, true},
		"under, with a dot":            {`x path=under:log`, `{"path":"./log//a.md"}`, false, true},
		"under anything":               {`x path=under:.`, `{"path":"log/a.md"}`, true, true},
		"under anything, but above it": {`x path=under:.`, `{"path":"../a.md"}`, false, true},
		"under anything, but at home":  {`x path=under:.`, `{"path":"~/a.md"}`, false, true},
		"beside":                       {`x path=under:log`, `{"path":"logs/a.md"}`, false, false},
		"out of it again":              {`x path=under:log`, `{"path":"log/../secret.md"}`, false, false},
		"into it through another":      {`x path=under:secret`, `{"path":"log/../secret/a.md"}`, false, true},
		"another case of the path":     {`x path=under:secret`, `{"path":"SECRET/a.md"}`, false, true},
		"a trailing dot":               {`x path=under:secret`, `{"path":"secret./a.md"}`, false, true},
		"a backslash":                  {`x path=under:secret`, `{"path":"secret\\a.md"}`, false, true},
		"an escaped letter": {
			`x path=under:secret`,
			`{"path":"file:///srv/%73ecret/a.md"}`, false, true,
		},
		"an absolute path": {
			`x path=under:secret`,
			`{"path":"/home/ana/notes/secret/a.md"}`, false, true,
		},
		"the vault's name before it": {`x path=under:secret`, `{"path":"notes/secret/a.md"}`, false, true},
		"an absolute folder":         {`x path=under:/srv/a`, `{"path":"/srv/a/b"}`, true, true},
		"no absolute path":           {`x path=under:/srv/a`, `{"path":"srv/a/b"}`, false, true},
		"out of an absolute folder":  {`x path=under:/srv/a`, `{"path":"/srv/a/../b"}`, false, false},
		"a path with a NUL":          {`x path=under:log`, `{"path":"a\u0000"}`, false, true},
		"host": {
			`x url=host:example.org`,
			`{"url":"https://example.org/a?b"}`, true, true,
		},
		"host alone": {`x url=host:example.org`, `{"url":"http://example.org"}`, true, true},
		"host in capitals": {
			`x url=host:example.org`,
			`{"url":"HTTPS://EXAMPLE.ORG./"}`, false, true,
		},
		"host in other characters": {
			`x url=host:bücher.example`,
			`{"url":"https://xn--bcher-kva.example/"}`, true, true,
		},
		"host not in punycode": {
			`x url=host:bücher.example`,
			`{"url":"https://BÜCHER。example/"}`, false, true,
		},
		"a host that begins alike": {
			`x url=host:example.org`,
			`{"url":"https://example.org.evil.com/"}`, false, false,
		},
		"a host that ends alike": {
			`x url=host:example.org`,
			`{"url":"https://notexample.org/"}`, false, false,
		},
		"a host below": {
			`x url=host:*.example.org`,
			`{"url":"https://a_b.c.example.org/"}`, true, true,
		},
		"below is not itself": {
			`x url=host:*.example.org`,
			`{"url":"https://example.org/"}`, false, false,
		},
		"the host in the path": {
			`x url=host:example.org`,
			`{"url":"https://evil.com/example.org"}`, false, false,
		},
		"another port": {
			`x url=host:example.org`,
			`{"url":"https://example.org:8080/"}`, false, true,
		},
		"a user, which can pass for a host": {
			`x url=host:example.org`,
			`{"url":"https://evil.com@example.com/"}`, false, true,
		},
		"another scheme": {`x url=host:example.org`, `{"url":"ftp://example.com/"}`, false, true},
		"no scheme":      {`x url=host:example.org`, `{"url":"example.com/a"}`, false, true},
		"an escaped host": {
			`x url=host:example.org`,
			`{"url":"http://ex%61mple.com/"}`, false, true,
		},
		"a number as an address": {`x url=host:example.org`, `{"url":"http://167838211/"}`, false, true},
		"no address at all":      {`x url=host:example.org`, `{"url":5}`, false, true},
		"an IPv6 address":        {`x url=host:2001:db8::1`, `{"url":"http://[2001:db8::1]/"}`, true, true},
		"an IPv6 address in another form": {
			`x url=host:[2001:db8::1]`,
			`{"url":"http://[2001:DB8:0:0::1]:80/"}`, false, true,
		},
		"an IPv6 address of IPv4": {
			`x url=host:10.1.2.3`,
			`{"url":"http://[::ffff:a01:203]/"}`, false, true,
		},
		"all addresses of a list": {
			`x url=host:example.org`,
			`{"url":["https://example.org","https://evil.com"]}`, false, true,
		},
		"an address deep inside": {
			`x req=host:evil.com`,
			`{"req":{"u":["https://evil.com"]}}`, false, true,
		},
		"another address deep inside": {
			`x req=host:evil.com`,
			`{"req":{"u":["https://example.org"]}}`, false, false,
		},
		"a rule for any tool on an argument": {`* path=under:secret`, `{"path":"secret/a"}`, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rule := ruleOf(t, tc.rule)
			for level, want := range map[agent.Level]bool{
				agent.Auto: tc.auto, agent.Deny: tc.strict,
				agent.Confirm: tc.strict,
			} {
				rule.Level = level
				if got := rule.Matches("x", agent.ParseArgs([]byte(tc.input))); got != want {
					t.Errorf("%s matches %s: %v, want %v", Format(rule), tc.input, got, want)
				}
			}
		})
	}
}

// A rule that allows a folder ends where a link leads out of it.
func TestAllowedFolderEndsAtLinks(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	for _, made := range []string{"/a/sub", "/b"} {
		if err := os.MkdirAll(dir+made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"/a/out": "../b", "/a/in": "sub",
		"/a/nowhere": "../b/new", "/alias": "a",
	} {
		if err := os.Symlink(target, dir+link); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]bool{
		"/a/new.md": true, "/a/sub/deep/new.md": true, "/a/in/new.md": true,
		"/a/out/new.md": false, "/a/out": false, "/a/nowhere": false, "/a/out/deep/new.md": false,
	} {
		for _, folder := range []string{"/a", "/alias"} {
			name := folder + strings.TrimPrefix(path, "/a")
			rule := Rule{Tool: "x", Level: agent.Auto, Where: []Where{{
				Argument: "path", Fit: Under,
				Values: []string{dir + folder},
			}}}
			call, err := agent.Of(map[string]any{"path": dir + name})
			if err != nil {
				t.Fatal(err)
			}
			if got := rule.Matches("x", call); got != want {
				t.Errorf("%s is allowed: %v, want %v", name, got, want)
			}
			if rule.Level = agent.Deny; !rule.Matches("x", call) {
				t.Errorf("%s is not denied", name)
			}
		}
	}
}

// A note is hidden however the file system spells its name, and in whichever vault it is.
func TestHiddenNoteHasAnySpelling(t *testing.T) {
	for _, rule := range []string{"read_note=deny path=under:Bücher", "read_note=deny path='Bücher/*'"} {
		ctx := Hiding(t.Context(), []Rule{ruleOf(t, rule)}, nil)
		for path, want := range map[string]bool{
			"Bücher/a.md": true, "bu\u0308cher/a.md": true, "BU\u0308CHER/a.md": true, "work/Bücher/a.md": true,
			"Büchern/a.md": false, "a.md": false,
		} {
			if got := agent.HidesNote(ctx, path); got != want {
				t.Errorf("%s hides %q: %v, want %v", rule, path, got, want)
			}
		}
	}
}

// drawInput draws arguments of any kind.
func drawInput(t *rapid.T) json.RawMessage {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c*?\\/. \n"':{}#]{0,8}`),
		rapid.StringMatching(`https?://[a-z@.]{1,12}/?`), rapid.SampledFrom([]string{
			"true", "5", "null", "", " ", "~",
			"1.50", "0x1F", "2026-11-30", "- a",
		}))
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return rapid.Int64().Draw(t, "number")
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.SliceOfN(text, 0, 3).Draw(t, "list")
		case 3:
			return map[string]any{text.Draw(t, "key"): text.Draw(t, "inner")}
		}
		return text.Draw(t, "text")
	})
	object := rapid.MapOfN(rapid.OneOf(rapid.StringMatching(`[a-c]`), text), value, 0, 3).Draw(t, "input")
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The rule of an "always" matches the shown call and no call with other arguments.
// Written to the file and read back, it is the same rule.
func TestAlwaysCoversOnlyTheShownCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input, other := agent.ParseArgs(drawInput(t)), agent.ParseArgs(drawInput(t))
		tool := anyTool{"some_tool"}
		rule, ok := ForCall(tool, input)
		if !ok {
			return // too long, or argument names that differ only in case: each call asks
		}
		if !rule.Matches("some_tool", input) {
			t.Fatalf("%s does not match %s", Format(rule), input)
		}
		if rule.Matches("some_tool", other) && plainForm(other) != plainForm(input) {
			t.Fatalf("%s of %s matches %s too", Format(rule), input, other)
		}
		text, err := Append([]byte(someRules), rule)
		if err != nil {
			return // the user is notified that it could not be saved
		}
		rules, err := Parse("p", text)
		if err != nil {
			t.Fatal(err)
		}
		if last := rules.list[len(rules.list)-1]; Format(last) != Format(rule) || !last.Matches("some_tool", input) {
			t.Fatalf("%s became %s", Format(rule), Format(last))
		}
	})
}

// plainForm returns the arguments as rules compare them: 5 equals "5", and a list of
// equal items its item.
func plainForm(input agent.Args) string {
	args, err := input.Object()
	if err != nil {
		return input.String()
	}
	plain := map[string]string{}
	for name, value := range args {
		if value == nil {
			continue
		}
		plain[name] = textOf(value)
		if items, ok := value.([]any); ok && len(items) > 0 &&
			!slices.ContainsFunc(items, func(item any) bool { return textOf(item) != textOf(items[0]) }) {
			plain[name] = textOf(items[0])
		}
	}
	return fmt.Sprint(plain)
}

// anyTool is a tool that does not declare which arguments limit it, like those of
// servers.
type anyTool struct{ name string }

func (a anyTool) Spec() llm.ToolSpec         { return llm.ToolSpec{Name: a.name} }
func (anyTool) Properties() agent.Properties { return agent.Properties{Level: agent.Confirm} }
func (anyTool) Run(context.Context, json.RawMessage) (agent.Result, error) {
	return agent.Result{}, nil
}

func FuzzRuleMatch(f *testing.F) {
	f.Add(`x path=under:secret url=host:*.example.org`, `{"path":"a/../secret","url":"https://a.example.org"}`)
	f.Add(`{tool: x, args: {a: {one_of: [b, 'c*']}, d: null}, only: true, level: auto}`, `{"a":"c*"}`)
	f.Add(`x text='a*b?\*'`, `{"text":["ab","\\"]}`)
	f.Fuzz(func(t *testing.T, text, input string) {
		rule, err := ParseOne(text)
		if err != nil {
			return
		}
		tool := "x"
		rule.Level = agent.Auto
		loosens := rule.Matches(tool, agent.ParseArgs([]byte(input)))
		rule.Level = agent.Deny
		if tightens := rule.Matches(tool, agent.ParseArgs([]byte(input))); loosens && !tightens {
			t.Errorf("%s allows %s and does not deny it", Format(rule), input)
		}
		again, err := ParseOne(Format(rule))
		if err == nil && Format(again) != Format(rule) {
			t.Errorf("%s is read back as %s", Format(rule), Format(again))
		}
	})
}

func TestRuleIsLimitedToArgumentValues(t *testing.T) {
	for text, want := range map[string]bool{
		"add_task": false, "*": false, "add_task text=*": false, "add_task text=?*": false,
		"{tool: add_task, args: {note: null}, level: auto}": false, "append_note path=under:.": false,
		"append_note path=under:/": false,
		"add_task text='buy *'":    true, "append_note path=under:log/": true, "web_fetch url=host:*.example.org": true,
		"add_task note=one_of:a|*": true, "{tool: x, args: {n: [a, '*']}, level: auto}": false,
	} {
		if got := ruleOf(t, text).IsBound(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
