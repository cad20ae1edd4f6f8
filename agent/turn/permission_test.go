package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/gate"
)

// askTwice requests the same tool in two turns, the second possibly in another
// conversation, and returns how often the user was asked.
func askTwice(t *testing.T, o Options, second string, reply agent.Decision) (asked int, events []agent.Event) {
	t.Helper()
	o.Model = &script{lines: []line{say(taskStep), say("Done."), say(strings.ReplaceAll(taskStep, "shoes", "socks")), say("Done.")}}
	o.History, o.Tools = &shelf{}, tools(addTask())
	a := New(o)
	for _, conversation := range []string{"c1", second} {
		events = append(events, collect(a.Ask(t.Context(), conversation, "add a task"), always(reply))...)
	}
	return len(bodies[agent.PermissionAsked](events)), events
}

func TestPermissionsLastAsChosen(t *testing.T) {
	tests := map[string]struct {
		reply  agent.Decision
		second string
		asked  int
	}{
		"once":                                {agent.AllowOnce, "c1", 2},
		"for the conversation":                {agent.AllowConversation, "c1", 1},
		"for the conversation, not the other": {agent.AllowConversation, "c2", 2},
		"always":                              {agent.AllowAlways, "c2", 1},
		"refused":                             {agent.Refuse, "c1", 2},
		"nonsense":                            {agent.Decision("yes"), "c1", 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if asked, _ := askTwice(t, Options{}, tc.second, tc.reply); asked != tc.asked {
				t.Errorf("asked %d times, want %d", asked, tc.asked)
			}
		})
	}
}

func TestAlwaysSavesTheShownRule(t *testing.T) {
	var kept []gate.Rule
	_, events := askTwice(t, Options{Save: saving(func(r gate.Rule) error { kept = append(kept, r); return nil })}, "c2", agent.AllowAlways)
	if len(kept) != 1 || gate.Format(kept[0]) != bodies[agent.PermissionAsked](events)[0].Rule {
		t.Errorf("kept %v, shown %s", kept, bodies[agent.PermissionAsked](events)[0].Rule)
	}
}

func TestUnsavableAlwaysIsReported(t *testing.T) {
	asked, events := askTwice(t, Options{Save: saving(func(gate.Rule) error { return errors.New("disk full") })}, "c2", agent.AllowAlways)
	notices := bodies[agent.Noticed](events)
	if asked != 1 || len(notices) != 1 || !strings.Contains(notices[0].Text, "disk full") {
		t.Errorf("asked %d times, notices %v", asked, notices)
	}
}

func TestRuleDecidesWithoutAsking(t *testing.T) {
	for name, tc := range map[string]struct {
		rule gate.Rule
		want agent.Status
	}{
		"auto": {gate.Rule{Tool: "add_*", Level: agent.Auto}, agent.Done},
		"deny": {gate.Rule{Tool: "*", Level: agent.Deny, From: "permissions.yaml:2"}, agent.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			asked, events := askTwice(t, Options{Rules: (*gate.Rules)(nil).With(tc.rule), Unattended: true}, "c1", agent.Refuse)
			var last agent.StepChanged
			for _, s := range bodies[agent.StepChanged](events) {
				last = s
			}
			if asked != 0 || last.Status != tc.want {
				t.Errorf("asked %d times, the step is %+v", asked, last)
			}
			if unasked := ended(t, events).Unasked; unasked != nil {
				t.Errorf("unasked %v", unasked)
			}
		})
	}
}

// The call that runs is byte for byte the shown one, whatever the reader of the event
// does with its copy.
func TestShownCallIsTheCallThatRuns(t *testing.T) {
	tool := addTask()
	tool.schema = `{"type":"object"}`
	a := New(Options{
		Model:   &script{lines: []line{say(`{"steps":[{"id":"1","tool":"add_task","input":{"text" : "ä\u00e4 <b>", "z":1, "a":2.50}}]}`), say("Done.")}},
		History: &shelf{}, Tools: tools(tool),
	})
	var shown, sum string
	for e := range a.Ask(t.Context(), "c1", "go") {
		if asked, ok := e.Body.(agent.PermissionAsked); ok {
			shown, sum = string(asked.Input), asked.Hash
			copy(asked.Input, `{"text":"rm -rf"`)
			asked.Reply(agent.Reply{Decision: agent.AllowOnce})
		}
	}
	digest := sha256.Sum256([]byte(shown))
	if ran := tool.ran(); len(ran) != 1 || ran[0] != shown || sum != hex.EncodeToString(digest[:]) {
		t.Errorf("shown %s with hash %s, ran %v", shown, sum, ran)
	}
}

func TestModelIsToldOfARefusal(t *testing.T) {
	model := &script{lines: []line{say(taskStep), say("Not added.")}}
	a := New(Options{Model: model, History: &shelf{}, Tools: tools(addTask())})
	collect(a.Ask(t.Context(), "c1", "add a task"), func(agent.PermissionAsked) agent.Reply { return agent.Reply{Decision: agent.Refuse, Reason: "later"} })
	if reply := model.requests[1].Messages[1].Text; !strings.Contains(reply, ": denied\n") || !strings.Contains(reply, "the user said no: later") {
		t.Errorf("the model is told\n%s", reply)
	}
}

func TestPreviewIsShown(t *testing.T) {
	_, events := askTwice(t, Options{}, "c1", agent.AllowOnce)
	if p := bodies[agent.PermissionAsked](events)[0].Preview; p.Path != "tasks.md" || p.Diff == "" {
		t.Errorf("preview %+v", p)
	}
}
