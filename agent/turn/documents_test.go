package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

// leftTool is a tool that works on documents of earlier turns.
type leftTool struct {
	*fakeTool
	kept []string
	from agent.Origin
}

func (k leftTool) Properties() agent.Properties {
	of := k.fakeTool.Properties()
	of.LoopOnly = true
	return of
}

func (k leftTool) Carried(context.Context) ([]string, agent.Origin, error) {
	return k.kept, k.from, nil
}

// The loop knows the documents of the conversation, and is always offered the tools
// that change them.
func TestLoopKnowsTheConversationsDocuments(t *testing.T) {
	kit := []agent.Tool{search()}
	for i := range 30 {
		kit = append(kit, &fakeTool{name: fmt.Sprintf("shorter_%d", i)})
	}
	for name, tc := range map[string]struct {
		kept      []string
		untrusted bool
	}{"none": {}, "one": {kept: []string{"week of rest, version 2"}}, "of untrusted text": {kept: []string{"week of rest, version 2"}, untrusted: true}} {
		t.Run(name, func(t *testing.T) {
			model, shelf := &script{lines: []line{say("It is shorter now.")}}, &shelf{}
			o := Options{Workers: workers, Model: model, History: shelf, Session: inMode(agent.LoopMode)}
			var from agent.Origin
			if tc.untrusted {
				from = agent.FromOutside("a page")
			}
			all := append(slices.Clone(kit), leftTool{&fakeTool{name: "read_artifact"}, tc.kept, from})
			o.Tools = tools(all...)
			a := New(o)
			ended(t, collect(a.Ask(t.Context(), "c1", "make it shorter"), nil))
			asked := model.requests[0]
			has := func(name string) bool {
				return slices.ContainsFunc(asked.Tools, func(s llm.ToolSpec) bool { return s.Name == name })
			}
			if !has(agent.DelegateTool) || !has("read_artifact") || len(asked.Tools) != len(all)+1 {
				t.Errorf("offered %d tools, delegate %v, read_artifact %v", len(asked.Tools), has(agent.DelegateTool), has("read_artifact"))
			}
			if last := asked.Messages[len(asked.Messages)-1].Text; strings.Contains(last, "week of rest, version 2") != (tc.kept != nil) {
				t.Errorf("the loop is asked\n%s", last)
			}
			if got := shelf.last().Origin.IsOutside(); got != tc.untrusted {
				t.Errorf("the answer is untrusted: %v", got)
			}
		})
	}
}

// A model may know a tool from an earlier turn that is not offered in this one.
func TestToolThatWasNotOfferedCanBeCalled(t *testing.T) {
	kit := []agent.Tool{search(), &fakeTool{name: "zebra", by: "the MCP server zoo", result: agent.Result{Text: "stripes"}}}
	for i := range 99 {
		kit = append(kit, &fakeTool{name: fmt.Sprintf("task_%d", i), by: "the MCP server zoo"})
	}
	for mode, lines := range map[agent.Mode][]line{
		agent.LoopMode: {calling("zebra", `{"query":"x"}`), say("Done.")},
		agent.PlanMode: {say(`{"steps":[{"id":"1","tool":"zebra","input":{"query":"x"}}]}`), say("Done.")},
	} {
		end := ended(t, collect(New(Options{Workers: workers, Model: &script{lines: lines}, History: &shelf{}, Tools: tools(kit...), Session: inMode(mode)}).Ask(t.Context(), "c1", "my task"), nil))
		if end.ToolCalls != 1 || end.Answer != "Done." {
			t.Errorf("%s: the end is %+v", mode, end)
		}
	}
}
