package turn

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/toolchoice"
	"lifehub/llm"
)

// findTools is the tool that describes other tools. What it finds is offered
// from the next request on, because model servers drop native calls of tools
// that a request does not offer.
type findTools struct{ turn *turn }

func (f *findTools) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name:        agent.FindTools,
		Description: "Find further tools by what they do. Those found are described, and can be called next.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what the tool has to do, or its name"}},"required":["query"]}`),
	}
}

func (f *findTools) Properties() agent.Properties {
	return agent.Properties{ReadOnly: true, Use: agent.Describes}
}

// Run describes the tools that match.
func (f *findTools) Run(_ context.Context, raw json.RawMessage) (agent.Result, error) {
	found := f.turn.findTools(raw)
	if len(found) == 0 {
		return agent.Result{Nothing: true, Text: "No further tool does that."}, nil
	}
	return agent.Result{Text: toolchoice.Describe(toolchoice.Specs(found), f.turn.toolFence())}, nil
}

// findTools returns the tools that a call of find_tools finds.
func (t *turn) findTools(input json.RawMessage) []agent.Tool {
	args, err := agent.ReadArgs[struct{ Query string }](agent.FindTools, input)
	if err != nil {
		return nil
	}
	return toolchoice.NewBlock(t.tools, t.toolsWindow()).Find(args.Query)
}

// TurnTools returns the tools that a turn adds to those of [Options], and by
// name why one of them is not offered now.
func (a *Agent) TurnTools() (own []agent.Tool, missing map[string]string) {
	t := newTurn(a, "", nil)
	if t.mode == agent.AutoMode {
		t.mode = t.autoMode()
	}
	find := &findTools{t}
	t.tools = append(slices.Clip(a.Tools.Offered()), find)
	missing = map[string]string{}
	if len(toolchoice.NewBlock(t.tools, t.window()).Rest) == 0 {
		missing[agent.FindTools] = "the model's window has room for all tools"
	}
	if t.mode == agent.PlanMode {
		missing[agent.DelegateTool] = "it needs mode loop or team, and the mode is plan"
	}
	return append([]agent.Tool{find}, t.delegation()...), missing
}

// window returns the window of the model that decides about calls; 0 if
// unknown.
func (t *turn) window() int {
	if planner, other := t.agent.Roles["planner"]; other && t.mode == agent.PlanMode {
		return planner.Window()
	}
	return t.agent.Server.Window()
}

// toolsWindow returns the window for which tools are chosen: a small model and a
// planner get those of a small window.
func (t *turn) toolsWindow() int {
	if t.traits.Small || t.mode == agent.PlanMode {
		return toolchoice.SmallWindow
	}
	return t.window()
}

// offered returns the tools that a model is offered: those of the conversation
// and those found by calls of this turn.
func (t *turn) offered(tools []agent.Tool, found []finding) toolchoice.Block {
	b := toolchoice.NewBlock(tools, t.toolsWindow()).With(t.talk.called...)
	for _, f := range found {
		if f.step.Tool != agent.FindTools {
			continue
		}
		for _, tool := range t.findTools(f.step.Input) {
			b = b.With(tool.Spec().Name)
		}
	}
	return b
}

// calledBefore returns the tools that the exchanges in the prompts called, and those
// named in the user's messages. They remain among the offered ones.
func (t *turn) calledBefore() (names []string) {
	for _, e := range t.talk.path {
		for _, l := range e.Answer.Log {
			if name, _, call := strings.Cut(l.Action, "("); call {
				names = append(names, name)
			}
		}
	}
	typed := ""
	for _, m := range t.typedBefore() {
		if m.Role == llm.User {
			typed += m.Text + "\n"
		}
	}
	typed += t.message.question
	for _, tool := range t.tools {
		if name := tool.Spec().Name; strings.Contains(typed, "@"+name) || strings.Contains(name, "_") && strings.Contains(typed, name) {
			names = append(names, name)
		}
	}
	return append(names, t.message.only...)
}

// besides describes the tools that are not offered.
func (t *turn) besides(b toolchoice.Block) (described string) {
	if rest := b.Further(t.toolFence()); rest != "" {
		described = "\n\n" + rest
	}
	return described + toolchoice.Unavailable(t.missing)
}
