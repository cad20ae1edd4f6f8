package turn

import (
	"encoding/json"
	"slices"
	"testing"

	"lifehub/agent/agenttest"

	"lifehub/agent"
	"lifehub/agent/gate"
)

// renamed is a tool with a former name.
type renamed struct {
	*fakeTool
	former string
}

func (r renamed) Properties() agent.Properties {
	of := r.fakeTool.Properties()
	of.FormerNames = []string{r.former}
	return of
}

const webStep = `{"reasoning":"","steps":[{"id":"1","tool":"brave_brave_web","input":{"query":"go"}}]}`

func webTool(name string) *fakeTool {
	return &fakeTool{name: name, level: agent.Confirm, schema: `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`, result: agent.Result{Text: "found"}}
}

func TestFormerNameRulesOnlyTighten(t *testing.T) {
	for rule, want := range map[string]agent.Level{
		"{tool: brave_brave_web, level: deny}":                            agent.Deny,
		"{tool: 'brave_brave_*', level: deny}":                            agent.Deny,
		"{tool: brave_brave_web, args: {query: 'go*'}, level: deny}":      agent.Deny,
		"{tool: brave_brave_web, args: {query: 'other'}, level: deny}":    agent.Confirm,
		"{tool: brave_brave_web, level: auto}":                            agent.Confirm,
		"{tool: brave_web, level: auto}":                                  agent.Auto,
		"{tool: brave_web, level: auto}, {tool: b*e_b*_web, level: deny}": agent.Deny,
	} {
		rules, err := gate.Parse("p.yaml", []byte("rules: ["+rule+"]"))
		if err != nil {
			t.Fatal(err)
		}
		tool := renamed{webTool("brave_web"), "brave_brave_web"}
		a := New(Options{Model: &script{}, History: &shelf{}, Rules: rules, Tools: tools(tool)})
		if level, why := a.Decide(t.Context(), tool, json.RawMessage(`{"query":"go 1.26"}`), agent.Origin{}); level != want {
			t.Errorf("%s: got %s (%s), want %s", rule, level, why, want)
		}
	}
	confirm := gate.Rule{Tool: "brave_brave_web", Level: agent.Confirm}
	if tool := (renamed{&fakeTool{name: "brave_web", level: agent.Auto}, "brave_brave_web"}); !confirm.SpeaksOf(tool) {
		t.Error("a rule to confirm is lost")
	}
}

func TestTurnWithARenamedToolIsResumed(t *testing.T) {
	moments := []agent.Moment{agent.Planned, agent.Intended, agent.CallAsked, agent.Decided, agent.CallStarted, agent.CallEnded}
	for cut := range moments {
		t.Run(string(moments[cut]), func(t *testing.T) {
			before, now := webTool("brave_brave_web"), webTool("brave_web")
			kept := cutAt(t, cut+1, Options{Model: &script{lines: []line{say(webStep), say("Done.")}}, Tools: tools(before)})
			asked := 0
			var waited []string
			events := resume(t, kept, Options{
				Model: &script{lines: []line{say("Done.")}}, Tools: agenttest.Kit{
					List: []agent.Tool{renamed{now, "brave_brave_web"}}, Wait: func(text string, _ func(string)) { waited = append(waited, text) },
				},
			}, func(p agent.PermissionAsked) agent.Reply {
				asked++
				if p.Name != "brave_web" || p.Unknown != (moments[cut] == agent.CallStarted) {
					t.Errorf("asked %+v", p)
				}
				return agent.Reply{Decision: agent.AllowOnce}
			})
			if _, failed := events[len(events)-1].Body.(agent.Failed); failed {
				t.Fatalf("got %+v", events[len(events)-1])
			}
			want := 1
			if moments[cut] == agent.CallEnded {
				want = 0
			}
			if len(now.ran()) != want || asked != want {
				t.Errorf("it ran %d times and was asked about %d times, want %d", len(now.ran()), asked, want)
			}
			if !slices.Equal(waited, []string{errand + "\nbrave_brave_web"}) {
				t.Errorf("waited for the tools of %q", waited)
			}
		})
	}
}
