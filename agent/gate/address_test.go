package gate

import (
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestAddressOfUserOrSearchNeedsNoPermission(t *testing.T) {
	found := agent.Result{
		Origin:  agent.FromOutside("https://tips.example/marathon"),
		Sources: []agent.Source{{Path: "https://tips.example/marathon", Text: "see https://evil.example/x"}},
	}
	tests := map[string]struct {
		question string
		url      string
		rules    string
		after    bool // planned after a search of this turn
		asked    bool
	}{
		"typed": {
			"read https://a.example/x?y=1.",
			"https://a.example/x?y=1", "", false, false,
		},
		"typed, with a fragment": {"read HTTPS://A.example/x", "https://a.example/x#top", "", false, false},
		"another query": {
			"read https://a.example/x",
			"https://a.example/x?d=secret", "", false, true,
		},
		"a user before the host": {"read https://a.example/x", "https://b@a.example/x", "", false, true},
		"made up":                {"read the tips", "https://a.example/", "", false, true},
		"any rule does not do":   {"read the tips", "https://a.example/", "web_fetch", false, true},
		"a rule that names the host does": {
			"read the tips", "https://a.example/",
			"web_fetch url=host:a.example", false, false,
		},
		"such a rule, and another path": {
			"read the tips", "https://a.example/4711",
			"web_fetch url=host:a.example", false, false,
		},
		"found by this turn's search":   {"search the tips", "https://tips.example/marathon", "", true, false},
		"in the words of a result":      {"search the tips", "https://evil.example/x", "", true, true},
		"what was looked for in vain":   {"search the tips", "https://looked-for.example/?d=4711", "", true, true},
		"next to what the search found": {"search the tips", "https://tips.example/marathon?d=1", "", true, true},
		"such a rule, after a page": {
			"search the tips", "https://a.example/",
			"web_fetch url=host:a.example", true, false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fetch := opener{&fakeTool{
				name: "web_fetch", level: agent.Confirm,
				schema: `{"type":"object","properties":{"url":{"type":"string"}}}`,
			}}
			var rules *Rules
			if tc.rules != "" {
				rules = rules.With(mustRule(t, tc.rules))
			}
			guard, _ := testGuard(t, New(rules, nil, false), "c1", tc.question, agent.Refuse)
			if tc.after {
				guard.Record.Read("web_search", found)
				guard.Record.Read("web_search", agent.Result{
					Untrusted: true, Nothing: true,
					Text: `DuckDuckGo found nothing on the web for "https://looked-for.example/?d=4711".`,
				})
			}
			v := guard.Verdict(t.Context(), Call{
				Tool:  fetch,
				Input: agent.ParseArgs(json.RawMessage(`{"url":"` + tc.url + `"}`)),
			})
			if asked := v.Level != agent.Auto; asked != tc.asked {
				t.Errorf("%s: %s", v.Level, strings.TrimSpace(v.Reason))
			}
		})
	}
}

// A crawl chooses its further pages itself, so each call is shown first unless the
// user has allowed its host.
func TestCrawlAsksUnlessARuleNamesItsHost(t *testing.T) {
	page := agent.FromOutside("https://evil.example/")
	for name, tc := range map[string]struct {
		rules string
		from  agent.Origin
		level agent.Level
		fixed bool
	}{
		"no rule":                  {"", agent.Origin{}, agent.Confirm, false},
		"a rule for the tool":      {"crawl", agent.Origin{}, agent.Confirm, false},
		"a rule for the address":   {"crawl url=https://docs.example/b", agent.Origin{}, agent.Confirm, false},
		"a rule for the host":      {"crawl url=host:docs.example", agent.Origin{}, agent.Auto, false},
		"a rule for another host":  {"crawl url=host:fine.example", agent.Origin{}, agent.Confirm, false},
		"a rule, after a page":     {"crawl url=host:docs.example", page, agent.Auto, false},
		"a rule, after notes":      {"crawl url=host:docs.example", agent.Own(), agent.Auto, false},
		"a rule, after both":       {"crawl url=host:docs.example", page.And(agent.Own()), agent.Confirm, true},
		"a rule that asks":         {"crawl=confirm", agent.Origin{}, agent.Confirm, false},
		"a rule that asks for all": {"*=confirm", page, agent.Confirm, false},
	} {
		t.Run(name, func(t *testing.T) {
			crawl := opener{&fakeTool{name: "crawl", level: agent.Confirm, outward: true, schema: `{"type":"object"}`}}
			var rules *Rules
			if tc.rules != "" {
				rules = rules.With(mustRule(t, tc.rules))
			}
			guard, _ := testGuard(t, New(rules, nil, false), "c1", "crawl https://docs.example/a", agent.Refuse)
			guard.Record.Add(tc.from)
			v := guard.Verdict(t.Context(), Call{
				Tool:  crawl,
				Input: agent.ParseArgs(json.RawMessage(`{"url":"https://docs.example/b"}`)),
			})
			if v.Level != tc.level || v.Fixed != tc.fixed {
				t.Errorf("%s, fixed %v: %s", v.Level, v.Fixed, v.Reason)
			}
		})
	}
}
