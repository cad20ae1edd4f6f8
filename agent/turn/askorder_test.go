package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// ponders is a tool whose preview takes longer for some inputs.
type ponders struct {
	*fakeTool
	over map[string]time.Duration // by a word of the input
}

func (p ponders) Preview(ctx context.Context, input json.RawMessage) (agent.Preview, error) {
	for word, takes := range p.over {
		if strings.Contains(string(input), word) {
			select {
			case <-time.After(takes):
			case <-ctx.Done():
			}
		}
	}
	return agent.Preview{}, ctx.Err()
}

func TestStepsSideBySideAskInOrder(t *testing.T) {
	step := func(id, tool, query, after string) string {
		return fmt.Sprintf(`{"id":%q,"tool":%q,"input":{"query":%q},"after":[%s]}`, id, tool, query, after)
	}
	plan := func(steps ...string) line { return say(`{"reasoning":"","steps":[` + strings.Join(steps, ",") + `]}`) }
	for name, tc := range map[string]struct {
		plan line
		over map[string]time.Duration
		want string
	}{
		"the first one takes longest to say what it would change": {
			plan(step("1", "write", "one", ""), step("2", "write", "two", ""), step("3", "write", "three", "")),
			map[string]time.Duration{"one": time.Second, "two": time.Second / 2},
			"1 2 3",
		},
		"one that waits for another step holds up none": {
			plan(step("1", "read", "one", ""), step("2", "write", "two", `"1"`), step("3", "write", "three", "")), nil, "3 2",
		},
		"steps that ask nothing hold up none": {
			plan(step("1", "read", "one", ""), step("2", "nobody", "two", ""), step("3", "write", "three", "")), nil, "3",
		},
		"the same call twice asks once": {
			plan(step("1", "write", "same", ""), step("2", "write", "two", ""), step("3", "write", "same", "")), nil, "1 2",
		},
		"one that never gets to its question holds up none for long": {
			plan(step("1", "write", "one", ""), step("2", "write", "two", "")), map[string]time.Duration{"one": time.Hour}, "2 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				writer := ponders{&fakeTool{name: "write", level: agent.Confirm}, tc.over}
				a := New(Options{
					Model: &script{lines: []line{tc.plan, say("Done.")}}, History: &shelf{},
					Tools: tools(writer, &fakeTool{name: "read", takes: time.Minute, reads: true}), Limits: Limits{Parallel: 8},
				})
				var asked []string
				for e := range a.Ask(t.Context(), "c1", "go") {
					if e, ok := e.Body.(agent.PermissionAsked); ok {
						asked = append(asked, e.Step)
						go func() { // the user takes longer than any step
							time.Sleep(2 * time.Hour)
							e.Reply(agent.Reply{Decision: agent.AllowOnce})
						}()
					}
				}
				got := strings.Join(asked, " ")
				if got != tc.want {
					t.Errorf("asked in the order %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// What may change something runs in the order of its reply, whatever else runs next to it.
func TestCallsThatWriteRunInTheirOrder(t *testing.T) {
	step := func(id, tool, query, after string) string {
		return fmt.Sprintf(`{"id":%q,"tool":%q,"input":{"query":%q},"after":[%s]}`, id, tool, query, after)
	}
	for name, tc := range map[string]struct {
		steps []string
		want  string
	}{
		"five":               {[]string{step("1", "write", "a", ""), step("2", "write", "b", ""), step("3", "write", "c", ""), step("4", "write", "d", ""), step("5", "write", "e", "")}, "abcde"},
		"two programs":       {[]string{step("1", "write", "a", ""), step("2", "other", "b", ""), step("3", "write", "c", ""), step("4", "other", "d", "")}, "abcd"},
		"a slow search":      {[]string{step("1", "read", "x", ""), step("2", "write", "a", `"1"`), step("3", "write", "b", "")}, "ab"},
		"one waits for next": {[]string{step("1", "write", "b", `"2"`), step("2", "write", "a", ""), step("3", "write", "c", "")}, "abc"},
		"the same twice":     {[]string{step("1", "write", "a", ""), step("2", "write", "b", ""), step("3", "write", "a", ""), step("4", "write", "c", "")}, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					var ran strings.Builder
					writes := func(name string) agent.Tool {
						type args struct {
							Query string `json:"query"`
						}
						schema := json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)
						return agent.NewTool(llm.ToolSpec{Name: name, Schema: schema}, agent.Confirm, func(_ context.Context, a args) (agent.Result, error) {
							ran.WriteString(a.Query)
							return agent.Result{Text: "done"}, nil
						})
					}
					rules, err := gate.Parse("permissions.yaml", []byte("rules:\n  - {tool: write, level: auto}\n  - {tool: other, level: auto}\n"))
					if err != nil {
						t.Fatal(err)
					}
					a := New(Options{
						Model: &script{lines: []line{say(`{"reasoning":"","steps":[` + strings.Join(tc.steps, ",") + `]}`), say("Done.")}}, History: &shelf{}, Rules: rules,
						Tools: tools(writes("write"), writes("other"), &fakeTool{name: "read", takes: time.Minute, reads: true}), Limits: Limits{Parallel: 8},
					})
					for range a.Ask(t.Context(), "c1", "go") { //nolint:revive // until it ends
					}
					if ran.String() != tc.want {
						t.Errorf("ran %q, want %q", ran.String(), tc.want)
					}
				})
			}
		})
	}
}
