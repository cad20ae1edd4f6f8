package turn

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/parse"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

//go:embed prompts/planner.md
var plannerPrompt string

//go:embed prompts/repair.md
var repairPrompt string

const (
	// maxSteps bounds a plan.
	maxSteps = 8
	// planTries is how often the model is asked for a plan: once, and once to repair it.
	planTries = 2
	// maxPlanTokens bounds the planner's answer, so that a model that never stops is stopped.
	maxPlanTokens = 4096
	// searchTool is what a turn falls back on when the model gives no plan.
	searchTool = "search_notes"
)

// plan is what the planner decided: steps, or an answer that was streamed already.
type plan struct {
	steps    []agent.Step
	answered bool
}

// plan asks the model what to do. A plan that cannot be used is asked for once
// more; then the turn falls back on searching the notes for the question.
func (t *turn) plan(ctx context.Context) (plan, error) {
	if kept, err := t.savedPlan("", 0); err != nil {
		return plan{}, err
	} else if kept != nil {
		return plan{steps: kept.made.Steps}, nil
	}
	defer t.phase("planner")()
	offered := chooseTools(t.tools, t.question, t.MaxTools)
	if t.question == agent.NothingTyped { // no tool was asked for
		return t.planned(ctx, t.fallback(offered, nil))
	}
	p := t.withAttached(t.plannerPrompt(specs(offered)))
	var problem error
	for range planTries {
		text, err := t.draft(ctx, p)
		if err != nil && !errors.Is(err, errUnusable) {
			return plan{}, err
		}
		made, answered, err := t.read(text, err)
		if answered {
			return plan{answered: true}, nil
		}
		t.leaveOut(made.Dropped)
		if err == nil {
			made.Dropped = t.dropped
			return t.planned(ctx, made)
		}
		problem = err
		p.After = repair(text, problem)
	}
	return t.planned(ctx, t.fallback(offered, problem))
}

// leaveOut notes what of a plan was left out or changed, each once, for the
// explainer and the end of the turn.
func (t *turn) leaveOut(dropped []string) {
	t.counting.Lock()
	defer t.counting.Unlock()
	for _, d := range dropped {
		if !slices.Contains(t.dropped, d) {
			t.dropped = append(t.dropped, d)
		}
	}
}

// planned keeps a plan before any of it is done.
func (t *turn) planned(ctx context.Context, made agent.PlanMade) (plan, error) {
	made.Steps = made.Steps[:t.takeSteps(len(made.Steps))]
	from := t.provenance.now()
	t.provenance.planned(made.Steps, from)
	if !made.Fallback {
		t.leaveOut(made.Dropped)
	}
	if err := t.journal(ctx, agent.Entry{Moment: agent.Planned, Plan: &made, Said: t.answer.String(), Untrusted: from.untrusted}); err != nil {
		return plan{}, err
	}
	t.emit(made)
	return plan{steps: made.Steps}, nil
}

func (t *turn) plannerPrompt(offered []llm.ToolSpec) prompt.Prompt {
	fill := strings.NewReplacer(
		"{today}", date(t.Now()), "{steps}", strconv.Itoa(maxSteps), "{tools}", describe(offered, t.fence()))
	return prompt.Prompt{
		Agent:   "planner",
		System:  t.withPersona(fill.Replace(plannerPrompt)),
		History: t.history,
		Summary: t.summary.Text, Fence: t.fence(),
		Material: append(t.factPart(0), t.pastParts()...),
		Question: t.question,
		Request: llm.Request{
			Schema:    planSchema(offered),
			MaxTokens: maxPlanTokens,
			Task: &llm.Task{
				Kind: llm.PlanTask, Question: t.question, History: t.typedBefore(), Past: t.pastTask(),
				Tools: offered,
			},
		},
	}
}

// errUnusable marks a draft that has to be asked for again.
var errUnusable = errors.New("the plan cannot be used")

// draft asks for a plan and returns its text. An answer without steps is
// streamed to the user while it arrives. The error is errUnusable where a
// second try may help.
func (t *turn) draft(ctx context.Context, p prompt.Prompt) (string, error) {
	var text strings.Builder
	answer := parse.AnswerStream{Say: t.say}
	usage, err := t.ask(ctx, p, func(piece string) {
		text.WriteString(piece)
		answer.Add(piece)
	})
	switch {
	case errors.Is(err, llm.ErrCut) && t.answer.Len() == 0:
		return text.String(), fmt.Errorf("%w: %w", errUnusable, err)
	case err != nil:
		t.cut = t.answer.Len() > 0
		return text.String(), err
	case usage.Stopped == llm.StopLength:
		if t.answer.Len() > 0 {
			t.reachedLimit()
		}
		return text.String(), fmt.Errorf("%w: it was longer than the model may write", errUnusable)
	}
	return text.String(), nil
}

// read makes a plan of a draft, or tells that the draft answered the user.
func (t *turn) read(text string, unusable error) (made agent.PlanMade, answered bool, err error) {
	if unusable != nil {
		return agent.PlanMade{}, t.answer.Len() > 0, unusable
	}
	draft, err := parse.Plan(text)
	if err != nil {
		return agent.PlanMade{}, t.answer.Len() > 0, err
	}
	made.Reasoning = draft.Reasoning
	made.Steps, made.Dropped = t.repairSteps(draft.Steps, t.tools, nil)
	switch {
	case len(made.Steps) > 0:
		if t.answer.Len() > 0 {
			t.say("\n\n") // what it said before it named steps stays
		}
		return made, false, nil
	case len(made.Dropped) > 0 && t.answer.Len() == 0: // an answer that it wrote may say that they were done
		return made, false, errors.New(strings.Join(made.Dropped, "; "))
	case strings.TrimSpace(draft.Answer) != "" || t.answer.Len() > 0:
		if t.answer.Len() == 0 {
			t.say(strings.TrimSpace(draft.Answer))
		}
		return made, true, nil
	}
	return agent.PlanMade{}, false, errors.New("it has neither steps nor an answer")
}

// fallback is the plan when the model gave none, for a problem, or was not
// asked for one: search the notes.
func (t *turn) fallback(offered []agent.Tool, problem error) agent.PlanMade {
	made := agent.PlanMade{Steps: []agent.Step{}}
	if problem != nil {
		made.Fallback, made.Dropped = true, []string{problem.Error()}
	}
	for _, tool := range offered {
		spec := tool.Spec()
		if spec.Name != searchTool {
			continue
		}
		input := map[string]any{"query": t.topic()}
		if _, limited := args.ShapeOf(spec.Schema).Properties["limit"]; limited {
			input["limit"] = t.Passages
		}
		raw, err := json.Marshal(input)
		if err != nil {
			continue
		}
		made.Steps = []agent.Step{{ID: "1", Tool: searchTool, Input: raw, Description: "Search the notes for the question"}}
	}
	return made
}

// repair is what is said after a draft that cannot be used.
func repair(draft string, problem error) []llm.Message {
	said := strings.NewReplacer("{problem}", text.Clip(problem.Error(), 1000))
	return []llm.Message{
		{Role: llm.Assistant, Text: text.Clip(draft, 4000)},
		{Role: llm.User, Text: said.Replace(repairPrompt)},
	}
}

// planSchema is the shape of a plan: flat, because small models and the
// grammars made from it do best with that. steps come before answer, so that
// an answer can be streamed knowing that there are none.
func planSchema(offered []llm.ToolSpec) json.RawMessage {
	tool := `{"type":"string"}`
	if len(offered) > 0 {
		names := make([]string, 0, len(offered))
		for _, spec := range offered {
			names = append(names, spec.Name)
		}
		if list, err := json.Marshal(names); err == nil {
			tool = fmt.Sprintf(`{"type":"string","enum":%s}`, list)
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
		`"reasoning":{"type":"string"},`+
		`"steps":{"type":"array","maxItems":%d,"items":{"type":"object","properties":{`+
		`"id":{"type":"string"},"tool":%s,"input":{"type":"object"},"description":{"type":"string"},`+
		`"after":{"type":"array","items":{"type":"string"}}},"required":["id","tool","input"]}},`+
		`"answer":{"type":"string"}},"required":["reasoning","steps"]}`, maxSteps, tool))
}

// withPersona puts the user's own instructions before a prompt.
func (t *turn) withPersona(prompt string) string {
	if strings.TrimSpace(t.Instructions) == "" {
		return prompt
	}
	return strings.TrimSpace(t.Instructions) + "\n\n" + prompt
}

// date writes a day as prompts name it.
func date(t time.Time) string { return t.Format("Monday, 2 January 2006") }
