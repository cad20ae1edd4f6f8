package turn

import (
	"context"
	"encoding/json"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
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
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what ` +
			`the tool has to do, or its name"}},"required":["query"]}`),
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
	return agent.Result{Text: prompt.Describe(prompt.Specs(found), f.turn.toolFence())}, nil
}

// findTools returns the tools that a call of find_tools finds.
func (t *turn) findTools(input json.RawMessage) []agent.Tool {
	args, err := agent.ReadArgs[struct{ Query string }](agent.FindTools, input)
	if err != nil {
		return nil
	}
	return t.block(t.tools).Find(args.Query)
}

// block returns the tools that the window of the turn has, and the rest.
func (t *turn) block(tools []agent.Tool) prompt.Block {
	return prompt.NewBlock(tools, t.agent.Guide.Names(), t.toolsWindow())
}

// offered returns the tools that a model is offered: those of the conversation
// and those found by calls of this turn.
func (t *turn) offered(tools []agent.Tool, found []finding) prompt.Block {
	b := t.block(tools).With(t.talk.called...)
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
		if name := tool.Spec().Name; strings.Contains(typed, "@"+name) ||
			strings.Contains(name, "_") && strings.Contains(typed, name) {
			names = append(names, name)
		}
	}
	return append(names, t.message.only...)
}

// besides describes the tools that are not offered.
func (t *turn) besides(b prompt.Block) (described string) {
	if rest := b.Further(t.toolFence()); rest != "" {
		described = "\n\n" + rest
	}
	return described + prompt.Unavailable(t.missing)
}
