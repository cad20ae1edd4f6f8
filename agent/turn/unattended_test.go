package turn

import (
	"encoding/json"
	"testing"

	"lifehub/agent"
	"lifehub/agent/gate"
)

func TestUnattendedCallNamesTheMissingRule(t *testing.T) {
	task := func() agent.Tool { return addTask() }
	mail := func() agent.Tool {
		return &fakeTool{name: "send_email", level: agent.ConfirmEach, outward: true, schema: `{"type":"object"}`}
	}
	crawl := func() agent.Tool {
		return opener{&fakeTool{name: "crawl", level: agent.Confirm, reads: true, outward: true, schema: `{"type":"object","properties":{"url":{}}}`}}
	}
	search := func() agent.Tool {
		return &fakeTool{name: "web_search", level: agent.Confirm, reads: true, outward: true, schema: `{"type":"object"}`}
	}
	const buy, docs, other = `{"text":"buy milk"}`, `{"url":"https://docs.example/a"}`, `{"url":"https://docs.example/b"}`
	for name, tc := range map[string]struct {
		tool      func() agent.Tool
		input     string
		rules     []string
		untrusted string // a rule for after text from outside
		foreign   bool   // text from outside was read
		private   bool   // notes were read
		want      string // "auto": it runs
		after     bool
	}{
		"a confirm":                                 {task, buy, nil, "", false, false, "add_task", false},
		"a rule for another value":                  {task, buy, []string{"add_task text=x"}, "", false, false, "add_task", false},
		"after text from outside":                   {task, buy, nil, "", true, false, "add_task text=VALUE", true},
		"after text from outside, with a rule":      {task, buy, []string{"add_task"}, "", true, false, "add_task text=VALUE", true},
		"after text from outside, with its rule":    {task, buy, nil, "add_task text='buy *'", true, false, "auto", false},
		"its rule for another value":                {task, buy, nil, "add_task text='sell *'", true, false, "add_task text=VALUE", true},
		"its rule without text from outside":        {task, buy, nil, "add_task text='buy *'", false, false, "auto", false},
		"a confirm of the user after it":            {task, buy, []string{"add_task=confirm"}, "", false, false, "add_task", false},
		"a mail":                                    {mail, `{"to":"a@b.example"}`, []string{"send_email"}, "send_email to=a@b.example", false, false, "", false},
		"a crawl":                                   {crawl, docs, nil, "", false, false, "crawl url=host:HOST", false},
		"a crawl with a rule for the tool":          {crawl, docs, []string{"crawl"}, "", false, false, "crawl url=host:HOST", false},
		"a crawl with a rule for the host":          {crawl, docs, []string{"crawl url=host:docs.example"}, "", false, false, "auto", false},
		"a crawl after text from outside":           {crawl, docs, []string{"crawl url=host:docs.example"}, "", true, false, "auto", false},
		"a crawl after notes":                       {crawl, docs, []string{"crawl url=host:docs.example"}, "", false, true, "auto", false},
		"a crawl after both":                        {crawl, other, []string{"crawl url=host:docs.example"}, "", true, true, "crawl url=host:HOST", true},
		"a crawl after both, allowed":               {crawl, other, nil, "crawl url=host:docs.example", true, true, "auto", false},
		"a crawl of what the user typed after both": {crawl, docs, []string{"crawl url=host:docs.example"}, "", true, true, "auto", false},
		"a crawl of an address that cannot be read": {crawl, `{"url":"://"}`, nil, "", false, false, "", false},
		"what the notes hold may leave":             {search, `{"query":"mallorca 4711"}`, nil, "", false, true, "web_search", false},
		"it may, by a rule that names the tool":     {search, `{"query":"mallorca 4711"}`, []string{"web_search"}, "", false, true, "auto", false},
		"it may not by a rule for all tools":        {search, `{"query":"mallorca 4711"}`, []string{"*"}, "", false, true, "web_search", false},
		"after text from outside as well":           {search, `{"query":"mallorca 4711"}`, []string{"web_search"}, "", true, true, "web_search query=VALUE", true},
		"it may then, by its rule":                  {search, `{"query":"mallorca 4711"}`, nil, "web_search query=*4711", true, true, "auto", false},
	} {
		t.Run(name, func(t *testing.T) {
			var rules *gate.Rules
			for _, text := range tc.rules {
				rules = rules.With(mustRule(t, text))
			}
			if tc.untrusted != "" {
				rule := mustRule(t, tc.untrusted)
				rule.Untrusted = true
				rules = rules.With(rule)
			}
			events := make(chan agent.Event, 9)
			turn := newTurn(New(Options{History: &shelf{}, Model: &script{}, Rules: rules, Unattended: true}), "c1", events)
			turn.record.AddMessage("do what https://docs.example/a says")
			turn.record.Add(agent.Origin{Private: tc.private})
			if tc.foreign {
				turn.record.Add(agent.FromOutside("https://evil.example/"))
			}
			got, after := "auto", false
			if _, err := turn.gate.Pass(t.Context(), gate.Call{Tool: tc.tool(), Input: agent.ParseArgs(json.RawMessage(tc.input))}); err != nil {
				asked := (<-events).Body.(agent.PermissionAsked)
				got, after = asked.Allow, asked.Untrusted
			}
			if got != tc.want || after != tc.after {
				t.Errorf("got %q, after untrusted text %v; want %q, %v", got, after, tc.want, tc.after)
			}
		})
	}
}

func TestUnattendedTurnNeedsARuleForUntrustedText(t *testing.T) {
	for text, want := range map[string]agent.PermissionAsked{
		"buy shoes": {},
		"sell all":  {Allow: "add_task text=VALUE", Untrusted: true},
	} {
		rule := mustRule(t, "add_task text='buy *'")
		rule.Untrusted = true
		plan := `{"steps":[{"id":"1","tool":"web_search","input":{"query":"shoes"}},{"id":"2","tool":"add_task","input":{"text":"{{1.text}}"},"after":["1"]}]}`
		a := New(Options{
			Model: &script{lines: []line{say(plan), say("Done."), say("Done.")}}, History: &shelf{}, Unattended: true, Rules: allowAll().With(rule),
			Tools: tools(addTask(), &fakeTool{name: "web_search", reads: true, outward: true, result: agent.Result{Text: text, Untrusted: true}}),
		})
		var got agent.PermissionAsked
		for _, asked := range bodies[agent.PermissionAsked](collect(a.Ask(t.Context(), "c1", "add a task shoes"), always(agent.Refuse))) {
			got = agent.PermissionAsked{Allow: asked.Allow, Untrusted: asked.Untrusted}
		}
		if got.Allow != want.Allow || got.Untrusted != want.Untrusted {
			t.Errorf("%q: asked %+v, want %+v", text, got, want)
		}
	}
}

func mustRule(t *testing.T, text string) gate.Rule {
	t.Helper()
	rule, err := gate.ParseOne(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}
