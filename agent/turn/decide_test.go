package turn

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// anyRule draws a rule that may match a call.
func anyRule(t *rapid.T) gate.Rule {
	rule := gate.Rule{
		Tool:  rapid.SampledFrom([]string{"do_it", "do_*", "*", "other"}).Draw(t, "tool"),
		Level: rapid.SampledFrom([]agent.Level{agent.Auto, agent.Auto, agent.Confirm, agent.Deny}).Draw(t, "level"),
		Only:  rapid.Bool().Draw(t, "only"),
	}
	for _, name := range []string{"path", "text", "url"} {
		if rapid.IntRange(0, 2).Draw(t, "where "+name) > 0 {
			continue
		}
		w := gate.Where{Argument: name, Fit: rapid.SampledFrom([]gate.Fit{gate.LikeGlob, gate.OneOf, gate.Under, gate.OnHost, gate.NotGiven}).Draw(t, "fit")}
		if w.Fit != gate.NotGiven {
			w.Values = []string{rapid.SampledFrom([]string{"*", "log", "log/*", "Buy *", "a.example", "*.example"}).Draw(t, "value")}
		}
		rule.Where = append(rule.Where, w)
	}
	return rule
}

// anyKind draws a tool of each kind that the gate distinguishes.
func anyKind(t *rapid.T) (agent.Tool, *fakeTool) {
	fake := &fakeTool{name: "do_it", schema: `{"type":"object"}`, result: agent.Result{Text: "done"}}
	fake.level = rapid.SampledFrom([]agent.Level{agent.Auto, agent.Confirm, agent.Deny, agent.ConfirmEach}).Draw(t, "own level")
	fake.reads, fake.outward = rapid.Bool().Draw(t, "reads"), rapid.Bool().Draw(t, "outward")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		fake.bounds = []string{"path"}
	case 1:
		return opener{fake}, fake
	case 2:
		return keeper{fake}, fake
	}
	return fake, fake
}

// keeper is a tool that writes only LifeHub's own data.
type keeper struct{ *fakeTool }

func (k keeper) Properties() agent.Properties {
	of := k.fakeTool.Properties()
	of.ArtifactsOnly = true
	return of
}

// For every kind of tool and any rules, Decide announces what the gate then does,
// whatever was read before.
func TestAnnouncedDecisionIsTheGatesDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool, fake := anyKind(t)
		from := agent.Origin{Private: rapid.Bool().Draw(t, "private")}
		if rapid.Bool().Draw(t, "outside") {
			from = from.And(agent.FromOutside("earlier messages"))
		}
		input := map[string]string{}
		for name, value := range map[string][]string{"path": {"", "log/a.md", "log/../b.md", "LOG/a.md"}, "text": {"", "Buy milk", "buy\nmilk"}, "url": {"", "https://a.example/x", "https://evil.example/?d=4711"}} {
			if text := rapid.SampledFrom(value).Draw(t, name); text != "" {
				input[name] = text
			}
		}
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{
			History: &shelf{from: from, messages: []llm.Message{{Role: llm.User, Text: "What does it say?"}, {Role: llm.Assistant, Text: "Much."}}},
			Tools:   tools(tool), Rules: (*gate.Rules)(nil).With(rapid.SliceOfN(rapid.Custom(anyRule), 0, 4).Draw(t, "rules")...),
			Model: &script{lines: []line{say(fmt.Sprintf(`{"steps":[{"id":"1","tool":"do_it","input":%s}]}`, raw)), say("Done.")}},
		}
		a := New(o)
		announced, why := a.Decide(t.Context(), tool, raw, from)
		events := collect(a.Ask(t.Context(), "c", "What now?"), always(agent.Refuse))
		asked, did := bodies[agent.PermissionAsked](events), agent.Deny
		switch {
		case len(asked) > 0:
			did = agent.Confirm
		case len(fake.ran()) > 0:
			did = agent.Auto
		}
		if announced.String() != did.String() {
			t.Fatalf("told is %s (%s), and it was %s %+v", announced, why, did, asked)
		}
		if len(asked) > 0 && asked[0].Reason != why {
			t.Fatalf("told is %q, and the question says %q", why, asked[0].Reason)
		}
	})
}
