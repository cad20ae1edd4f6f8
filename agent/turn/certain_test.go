package turn

import (
	"strings"
	"testing"

	"lifehub/agent/agenttest"

	"lifehub/agent"
)

// What needs no model is answered by one that would fail, in each mode.
func TestCertainMessagesAskNoModel(t *testing.T) {
	add := &fakeTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, result: agent.Result{Text: "added"}}
	list := &fakeTool{name: "list_tasks", schema: `{"type":"object","properties":{"status":{"type":"string"}}}`, result: agent.Result{Text: "two tasks"}, reads: true}
	for message, want := range map[string]string{
		"what is due":                   "two tasks",
		"mes tâches":                    "two tasks",
		`@add_task text="buy the cake"`: "added",
	} {
		for _, mode := range []agent.Mode{agent.PlanMode, agent.LoopMode, agent.TeamMode, agent.AutoMode} {
			model := &script{}
			a := New(Options{Workers: workers, Model: model, History: &shelf{}, Tools: tools(add, list, search()), Session: inMode(mode)})
			end := ended(t, collect(a.Ask(t.Context(), "c1", message), always(agent.AllowOnce)))
			if !strings.Contains(end.Answer, want) || len(model.requests) > 0 {
				t.Errorf("%s, %s: %d requests, answer %q", mode, message, len(model.requests), end.Answer)
			}
		}
	}
}

// What would write, a list about something, and a call that lacks something are for the model.
func TestUncertainMessagesAskTheModel(t *testing.T) {
	add := &fakeTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, result: agent.Result{Text: "added"}}
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
		collect(New(Options{Workers: workers, Model: model, History: &shelf{}, Tools: tools(add, search()), Session: inMode(agent.LoopMode)}).Ask(t.Context(), "c1", message), always(agent.AllowOnce))
		if len(model.requests) == 0 || len(add.ran()) > 0 {
			t.Errorf("%s: %d requests, calls %v", message, len(model.requests), add.ran())
		}
	}
}

// Where each plan is to be approved, a certain call is one as well.
func TestCertainCallIsApproved(t *testing.T) {
	for _, action := range []agent.InputAction{agent.InputAccepted, agent.InputDeclined} {
		add := &fakeTool{name: "add_task", schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, result: agent.Result{Text: "added"}}
		o := Options{Workers: workers, Model: &script{}, History: &shelf{}, Tools: tools(add), Session: agenttest.Session{In: agent.PlanMode, Asks: true}}
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
