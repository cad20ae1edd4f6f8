package turn

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// What needs no model is answered by one that would fail, in each mode.
func TestCertainMessagesAskNoModel(t *testing.T) {
	add := &fakeTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},` +
		`"required":["text"]}`, result: agent.Result{Text: "added"}}
	list := &fakeTool{
		name: "list_tasks", schema: `{"type":"object","properties":{"status":{"type":"string"}}}`,
		result: agent.Result{Text: "two tasks"}, reads: true,
	}
	for message, want := range map[string]string{
		"what is due":                   "two tasks",
		"mes tâches":                    "two tasks",
		`@add_task text="buy the cake"`: "added",
	} {
		for _, mode := range []agent.Mode{agent.PlanMode, agent.LoopMode, agent.TeamMode, agent.AutoMode} {
			model := &script{}
			a := New(Options{
				Workers: workers, Model: model, History: &shelf{},
				Tools: tools(add, list, search()), Session: inMode(mode),
			})
			end := ended(t, collect(a.Ask(t.Context(), "c1", message), always(agent.AllowOnce)))
			if !strings.Contains(end.Answer, want) || len(model.requests) > 0 {
				t.Errorf("%s, %s: %d requests, answer %q", mode, message, len(model.requests), end.Answer)
			}
		}
	}
}

// What would write, a list about something, and a call that lacks something are for the model.
func TestUncertainMessagesAskTheModel(t *testing.T) {
	add := &fakeTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},` +
		`"required":["text"]}`, result: agent.Result{Text: "added"}}
	for _, message := range []string{
		"add a task a week before Marta's birthday: bake the cake",
		"remind me to bake the cake a week before Marta's birthday",
		"add task",
		"@add_task",
		"thanks, and what is due?",
		"add task buy running socks",
		"tick off the cake",
		"what is due on the boat?",
		"are you done?",
		"add task buy socks\nand ignore the rest",
	} {
		model := &script{lines: []line{say("Well."), say("Well."), say("Well.")}}
		collect(New(Options{
			Workers: workers, Model: model, History: &shelf{}, Tools: tools(add, search()),
			Session: inMode(agent.LoopMode),
		}).Ask(t.Context(), "c1", message), always(agent.AllowOnce))
		if len(model.requests) == 0 || len(add.ran()) > 0 {
			t.Errorf("%s: %d requests, calls %v", message, len(model.requests), add.ran())
		}
	}
}

// Where each plan is to be approved, a certain call is one as well.
func TestCertainCallIsApproved(t *testing.T) {
	for _, action := range []agent.InputAction{agent.InputAccepted, agent.InputDeclined} {
		add := &fakeTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},` +
			`"required":["text"]}`, result: agent.Result{Text: "added"}}
		o := Options{
			Workers: workers, Model: &script{}, History: &shelf{}, Tools: tools(add),
			Session: agenttest.Session{In: agent.PlanMode, Asks: true},
		}
		asked := 0
		for e := range New(o).Ask(t.Context(), "c1", "@add_task text=socks") {
			switch body := e.Body.(type) {
			case agent.InputAsked:
				asked++
				body.Reply(agent.Input{Action: action, Values: []byte(`{}`)})
			case agent.PermissionAsked:
				body.Reply(agent.Reply{Decision: agent.AllowOnce})
			}
		}
		if ran := len(add.ran()); asked != 1 || (ran == 1) != (action == agent.InputAccepted) {
			t.Errorf("%s: asked %d times, ran %d times", action, asked, ran)
		}
	}
}

func TestUsersOwnCallNeedsNoModel(t *testing.T) {
	type args struct {
		Content string `json:"content"`
	}
	var wrote []string
	pen := agent.NewTool(llm.ToolSpec{Name: "append_note", Schema: json.RawMessage(`{"type":"object"}`)}, agent.Confirm,
		func(_ context.Context, a args) (agent.Result, error) {
			wrote = append(wrote, a.Content)
			return agent.Result{Text: "added to daily/2026-11-21.md"}, nil
		})
	step := agent.Step{Tool: "append_note", Input: json.RawMessage(`{"content":"buy milk"}`)}
	for name, c := range map[string]struct {
		decision agent.Decision
		wrote    string
		answer   string
	}{
		"allowed": {agent.AllowOnce, "buy milk", "added to daily/2026-11-21.md"},
		"refused": {agent.Refuse, "", "You declined `append_note`."},
	} {
		t.Run(name, func(t *testing.T) {
			wrote = nil
			a := New(Options{Model: llmtest.NewScript(), History: nowhere{}, Tools: tools(pen)})
			asked, answer := 0, ""
			for e := range a.Call(t.Context(), "c", "/note buy milk", step) {
				switch b := e.Body.(type) {
				case agent.PermissionAsked:
					asked++
					b.Reply(agent.Reply{Decision: c.decision})
				case agent.Ended:
					answer = b.Answer
				}
			}
			if asked != 1 || strings.Join(wrote, ",") != c.wrote || answer != c.answer {
				t.Errorf("asked %d times, wrote %q, answered %q", asked, wrote, answer)
			}
			if n := len(a.Model.(*llmtest.Script).Requests()); n != 0 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// A rule allows both calls. What the second writes comes from a page, so it asks nevertheless, and a
// no, or a call that fails, ends the turn.
func TestCallsFollowOneAnother(t *testing.T) {
	var called []string
	tool := func(name string, result agent.Result, err error) agent.Tool {
		return agent.NewTool(llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, agent.Confirm,
			func(context.Context, struct{}) (agent.Result, error) {
				called = append(called, name)
				return result, err
			})
	}
	for name, c := range map[string]struct {
		fetched  error
		decision agent.Decision
		asked    int
		called   string
		answer   string
	}{
		"allowed": {nil, agent.AllowOnce, 1, "fetch write", "written: the page"},
		"refused": {nil, agent.Refuse, 1, "fetch", "You declined `write`."},
		"failed":  {errors.New("no such page"), agent.AllowOnce, 0, "fetch", "Not done: no such page."},
	} {
		t.Run(name, func(t *testing.T) {
			called = nil
			tools := []agent.Tool{
				tool("fetch", agent.Result{Text: "the page", Untrusted: true}, c.fetched),
				tool("write", agent.Result{Text: "written: the page"}, nil),
			}
			rules, err := gate.Parse("rules", []byte("rules:\n  - {tool: '*', level: auto}\n"))
			if err != nil {
				t.Fatal(err)
			}
			a := New(Options{
				Model: llmtest.NewScript(), History: nowhere{}, Rules: rules,
				Tools: agenttest.Tools(tools...),
			})
			asked, answer := 0, ""
			for e := range a.Calls(t.Context(), "c", "clip the page", clips{}) {
				switch b := e.Body.(type) {
				case agent.PermissionAsked:
					asked++
					b.Reply(agent.Reply{Decision: c.decision})
				case agent.Ended:
					answer = b.Answer
				}
			}
			if asked != c.asked || strings.Join(called, " ") != c.called || answer != c.answer {
				t.Errorf("asked %d times, called %q, answered %q", asked, called, answer)
			}
		})
	}
}

// clips fetches a page, and then writes it.
type clips struct{}

func (clips) Next(last *agent.Result) *agent.Step {
	switch {
	case last == nil:
		return &agent.Step{Tool: "fetch", Input: json.RawMessage(`{}`)}
	case last.Text == "the page":
		return &agent.Step{Tool: "write", Input: json.RawMessage(`{}`)}
	}
	return nil
}
