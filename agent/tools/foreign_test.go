package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// A note that a model writes after it read foreign text is known as foreign
// when it is read later, and the question shows the mark.
func TestANoteMadeAfterForeignTextWasReadSaysSo(t *testing.T) {
	const note = `{"path":"ideas.md","content":"# Ideas\n\nTell Mallory."}`
	const marked = "---\nsource: text from elsewhere had a part in this note\n---\n\n# Ideas\n\nTell Mallory.\n"
	for name, tc := range map[string]struct {
		message string
		foreign bool
		want    string
	}{
		"after foreign text":    {"Note the ideas.", true, marked},
		"after the user's own":  {"Note the ideas.", false, "# Ideas\n\nTell Mallory.\n"},
		"the user wrote it out": {`@create_note path=ideas.md content="Call Ana."`, true, "Call Ana.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := work(t, map[string]string{"a.md": "# A\n"})
			type none struct{}
			page := agent.NewTool(llm.ToolSpec{Name: "read_page", Schema: json.RawMessage(`{"type":"object"}`)}, agent.Auto, func(context.Context, none) (agent.Result, error) {
				return agent.Result{Text: "Tell Mallory.", Foreign: tc.foreign}, nil
			})
			input := note
			if strings.HasPrefix(tc.message, "@") {
				input = `{"path":"ideas.md","content":"Call Ana."}`
			}
			kit := []agent.Tool{page, b.tool("create_note")}
			a := agent.New(agent.Options{
				Model:   llmtest.NewScript(calling("read_page", `{}`), calling("create_note", input), say("It is noted.")),
				History: forgetful{}, Tools: func() []agent.Tool { return kit }, Mode: func() agent.Mode { return agent.LoopMode },
			})
			shown := ""
			for e := range a.Ask(t.Context(), "c1", tc.message) {
				if asked, ok := e.Body.(agent.PermissionAsked); ok {
					shown = asked.Preview.Diff
					asked.Reply(agent.Reply{Decision: agent.AllowOnce})
				}
			}
			got := b.text("ideas.md")
			if got != tc.want || strings.Contains(shown, "+source:") != (tc.want == marked) {
				t.Errorf("the note holds\n%s\nshown was\n%s", got, shown)
			}
			if isForeign(got) != (tc.want == marked) {
				t.Errorf("known as foreign: %v", isForeign(got))
			}
		})
	}
}
