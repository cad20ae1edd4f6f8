package turn

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

func TestUsersOwnCallNeedsNoModel(t *testing.T) {
	type args struct {
		Content string `json:"content"`
	}
	var wrote []string
	pen := agent.NewTool(llm.ToolSpec{Name: "append_note", Schema: json.RawMessage(`{"type":"object"}`)}, agent.Confirm, func(_ context.Context, a args) (agent.Result, error) {
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
			a := New(Options{Model: llmtest.NewScript(), History: nowhere{}, Tools: func() []agent.Tool { return []agent.Tool{pen} }})
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
