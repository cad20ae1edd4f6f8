package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

func TestACallOfTheUsersIsATurnWithoutAModel(t *testing.T) {
	type args struct {
		Content string `json:"content"`
	}
	var wrote []string
	pen := NewTool(llm.ToolSpec{Name: "append_note", Schema: json.RawMessage(`{"type":"object"}`)}, Confirm, func(_ context.Context, a args) (Result, error) {
		wrote = append(wrote, a.Content)
		return Result{Text: "added to daily/2026-11-21.md"}, nil
	})
	step := Step{Tool: "append_note", Input: json.RawMessage(`{"content":"buy milk"}`)}
	for name, c := range map[string]struct {
		decision Decision
		wrote    string
		answer   string
	}{
		"allowed": {AllowOnce, "buy milk", "added to daily/2026-11-21.md"},
		"refused": {Refuse, "", "Not done: the user said no."},
	} {
		t.Run(name, func(t *testing.T) {
			wrote = nil
			a := New(Options{Model: llmtest.NewScript(), History: nowhere{}, Tools: func() []Tool { return []Tool{pen} }})
			asked, answer := 0, ""
			for e := range a.Call(t.Context(), "c", "/note buy milk", step) {
				switch b := e.Body.(type) {
				case PermissionAsked:
					asked++
					b.Reply(Reply{Decision: c.decision})
				case Ended:
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
