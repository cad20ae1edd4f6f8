package turn

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

// small returns options for a small model in auto mode.
func small(model llm.Model, kit ...agent.Tool) Options {
	return Options{
		Model: model, History: &shelf{}, Tools: tools(kit...), Mode: inMode(agent.AutoMode), ModelName: func() string { return "tiny" },
		Traits: func() Traits { return Traits{Small: true, Native: true} },
	}
}

// An ordinary question takes one request, whose fixed part is short and which has the
// passages found for the question as typed; until something else is read, the model can
// answer or act, not read on.
func TestSmallModelAnswersInOneRequest(t *testing.T) {
	model := &script{lines: []line{say(`{"tool":"answer","input":{"text":"Three times a week."}}`)}}
	end := ended(t, collect(New(small(model, search(), addTask())).Ask(t.Context(), "c1", howOften), nil))
	asked := model.requests[0]
	if end.Answer != "Three times a week." || end.ModelCalls != 1 || len(end.Sources) != 1 || len(asked.Tools) > 0 {
		t.Errorf("%q after %d calls, sources %+v, %d tools", end.Answer, end.ModelCalls, end.Sources, len(asked.Tools))
	}
	if schema := string(asked.Schema); strings.Contains(schema, "search_notes") || !strings.Contains(schema, "add_task") || !strings.Contains(schema, `"answer"`) {
		t.Errorf("the schema is %s", schema)
	}
	if last := asked.Messages[len(asked.Messages)-1].Text; !strings.Contains(last, fitness.Text) || !strings.HasSuffix(last, howOften) {
		t.Errorf("the last message is %s", last)
	}
	if n := prompt.Tokens(asked.Messages[0].Text); n > 250 {
		t.Errorf("the system prompt has about %d tokens", n)
	}
}

// What a small model changed is reported by the program, and a reply made of an example
// is asked for once more.
func TestSmallModelActsOnceAndInvolvesNoExample(t *testing.T) {
	task := noteTool{addTask()}
	model := &script{lines: []line{say(`{"tool":"add_task","input":{"text":"paint the fence"}}`), say(`{"tool":"add_task","input":{"text":"buy shoes"}}`)}}
	end := ended(t, collect(New(small(model, search(), task)).Ask(t.Context(), "c1", "new task: buy shoes"), always(agent.AllowOnce)))
	if ran := task.ran(); len(ran) != 1 || end.ModelCalls != 2 || strings.Contains(end.Answer, "fence") || end.Answer == "" {
		t.Errorf("ran %q, answered %q after %d calls", ran, end.Answer, end.ModelCalls)
	}
}
