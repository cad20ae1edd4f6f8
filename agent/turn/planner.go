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

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/prompt"
	"lifehub/agent/toolchoice"
	"lifehub/llm"
)

//go:embed prompts/planner.md
var plannerPrompt string

// plan asks the model for a plan. An unusable plan is requested once more;
// after that, the turn falls back on searching the notes. answered reports that
// the answer was already streamed and nothing is left to do.
func (t *turn) plan(ctx context.Context) (steps []agent.Step, answered bool, err error) {
	if ctx, _, err = t.listen(ctx); err != nil {
		return nil, false, err
	}
	if steps, saved, err := t.steps.savedPlan("", 0); saved || err != nil {
		return steps, false, err
	}
	defer t.events.Phase(agent.PhaseStarted{Agent: "planner"})()
	made := agent.PlanMade{}
	if t.answer.question == agent.NothingTyped { // no tool was requested
		made = t.fallback(nil)
	} else if made, answered, err = t.askForPlan(ctx); answered || err != nil {
		return nil, answered, err
	}
	made, declined := t.approve(ctx, made)
	if declined != "" {
		t.answer.sayAsIs("Not run: " + declined + ".")
		return nil, true, ctx.Err()
	}
	steps, err = t.steps.plan(ctx, made, t.record.Origin())
	return steps, false, err
}

// askForPlan asks for a plan until it is usable. An answer without steps is
// streamed as it arrives.
func (t *turn) askForPlan(ctx context.Context) (made agent.PlanMade, answered bool, err error) {
	t.answer.number(t.steps.found) // the attachments
	p := t.answer.withAttached(t.plannerPrompt(ctx))
	var partial agent.PlanMade // the best so far, not all of whose steps can run
	var refused []refusedPlan
	answered, problem, err := t.answer.askOrStream(ctx, &p, func(reply string) (answered bool, problem error) {
		var tools []string
		if made, tools, answered, problem = t.read(reply); answered {
			return true, nil
		}
		if problem != nil {
			refused = append(refused, refusedPlan{tools, made.Dropped})
			if len(made.Steps) >= len(partial.Steps) {
				partial = made
			}
		}
		return false, problem
	})
	switch {
	case answered || err != nil:
		t.steps.leaveOut(notIn(nil, refused))
		return made, answered, err
	case problem != nil && len(partial.Steps) == 0:
		t.steps.leaveOut(notIn(nil, refused))
		return t.fallback(problem), false, nil
	case problem != nil:
		made = partial
		made.Dropped = nil // it is one of those refused
	}
	t.steps.leaveOut(notIn(made.Steps, refused))
	t.steps.leaveOut(made.Dropped)
	made.Dropped = t.steps.dropped
	return t.withNotes(made), false, nil
}

// refusedPlan is a plan that could not be used.
type refusedPlan struct {
	tools   []string // of its steps
	dropped []string
}

// notIn returns what was dropped from the refused plans of which a step is
// missing from the final one. Where each tool is in it as often, its steps are
// the same ones, repaired.
func notIn(steps []agent.Step, refused []refusedPlan) (dropped []string) {
	for _, r := range refused {
		left := slices.Clone(r.tools)
		for _, step := range steps {
			if i := slices.Index(left, step.Tool); i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		if len(left) > 0 {
			dropped = append(dropped, r.dropped...)
		}
	}
	return dropped
}

// withNotes adds a search of the notes to a plan that only searches the web,
// since the user's own notes may have the answer, unless the question starts
// with a tool of the plan (@tool …). The search comes last, so that nothing in
// the plan depends on it.
func (t *turn) withNotes(made agent.PlanMade) agent.PlanMade {
	search, ok := t.searchStep(t.steps.tools)
	called, _, _ := strings.Cut(t.answer.question, " ")
	taken, looksUp := map[string]bool{}, false
	for _, step := range made.Steps {
		tool := t.steps.tool(step.Tool)
		if called == "@"+step.Tool || called == "/"+step.Tool || toolchoice.NeedsNotes(step.Tool) || agent.MayWrite(tool) {
			return made
		}
		looksUp = looksUp || step.Tool == agent.WebSearch
		taken[step.ID] = true
		search.After = append(search.After, step.ID)
	}
	if ok && looksUp && len(made.Steps) < min(maxSteps, t.steps.roomForSteps()) {
		search.ID, search.Extra = uniqueID("", taken), true
		made.Steps = append(made.Steps, search)
	}
	return made
}

// withoutWeak discards the findings of the added search if they are an unlikely
// answer and something better was found.
func (t *turn) withoutWeak() {
	for i, f := range t.steps.found {
		if f.step.Extra && f.Status == agent.Done && f.Result.Unlikely && !t.answer.unlikely() {
			t.steps.found[i].Result.Sources, t.steps.found[i].Result.Text = nil, "Nothing in the notes fits the question."
		}
	}
}

// asksPlan precedes the message that the model is to plan for.
const asksPlan = "Plan for this message of the user:\n"

// plannerPrompt returns the prompt for a plan. If the same model also answers
// and its window is large enough, both requests use the same system prompt, so
// that a server can cache the tools and the conversation.
func (t *turn) plannerPrompt(ctx context.Context) prompt.Prompt {
	block := t.offered(t.steps.tools, nil)
	own := []string{strings.NewReplacer("{steps}", strconv.Itoa(maxSteps), "{tools}", t.inText(block)).Replace(plannerPrompt)}
	_, other := t.agent.Roles["planner"]
	shared := !other && toolchoice.IsRoomy(t.window())
	if shared {
		own = append([]string{answeringPrompt}, own...)
	}
	p := t.answer.prompt("planner", own...)
	p.Material = append(p.Material, t.aboutNotes(ctx)...)
	p.Question = asksPlan + withSteering(p.Question, t.answer.steeringBeforePlan())
	if shared {
		t.answer.planned = p.System
	}
	specs := toolchoice.Specs(block.Known())
	p.Request = llm.Request{
		Schema:    planSchema(specs),
		MaxTokens: prompt.MaxPlanTokens,
		Task:      &llm.Task{Kind: llm.PlanTask, Question: t.answer.typedText(), Today: t.events.Now(), History: t.answer.typedBefore(), Recalled: t.answer.statedBefore(), Tools: specs},
	}
	return p
}

// aboutNotes describes the user's notes, identically throughout the turn.
func (t *turn) aboutNotes(ctx context.Context) []prompt.Part {
	if t.about == nil {
		t.about = new(strings.Join(t.agent.AboutNotes(ctx), "\n"))
	}
	if *t.about == "" {
		return nil
	}
	return []prompt.Part{{Kind: "memory", Head: "What the user's notes are, as data:", Text: *t.about, Fence: t.answer.fence()}}
}

// read parses a plan, or reports that the model answered instead. tools are
// those of all its steps.
func (t *turn) read(text string) (made agent.PlanMade, tools []string, answered bool, err error) {
	draft, err := t.draft(text)
	if err != nil {
		return agent.PlanMade{}, nil, t.answer.hasText(), err
	}
	for _, step := range draft.Steps {
		name := step.Tool
		if tool := toolchoice.Meant(t.steps.tools, name); tool != nil {
			name = tool.Spec().Name
		}
		tools = append(tools, name)
	}
	made.Reasoning, made.Again = draft.Reasoning, draft.Again
	made.Steps, made.Dropped, made.Repaired = t.steps.repairSteps(draft.Steps, t.steps.tools, nil)
	switch {
	case len(made.Steps) > 0 && len(made.Steps) < len(draft.Steps) && !t.answer.hasText():
		return made, tools, false, t.unusable(draft.Steps, made.Dropped)
	case len(made.Steps) > 0:
		if t.answer.hasText() {
			t.answer.say("\n\n") // text before the steps is kept
			t.answer.sayHeld(false)
		}
		return made, tools, false, nil
	case len(made.Dropped) > 0 && !t.answer.hasText(): // such an answer may claim that the steps were done
		return made, tools, false, t.unusable(draft.Steps, made.Dropped)
	case strings.TrimSpace(draft.Answer) != "" || t.answer.hasText():
		if !t.answer.hasText() {
			t.answer.say(strings.TrimSpace(draft.Answer))
		}
		return made, tools, true, nil
	}
	return agent.PlanMade{}, tools, false, errors.New("it has neither steps nor an answer")
}

// draft parses a plan, or the calls that the model printed instead.
func (t *turn) draft(text string) (prompt.Draft, error) {
	return prompt.PlanOrCalls(text, func(name string) bool { return toolchoice.Meant(t.steps.tools, name) != nil })
}

// unusable returns the error for a plan with dropped steps, including how to
// call their tools.
func (t *turn) unusable(drafts []prompt.Step, dropped []string) error {
	var atFault []agent.Tool
	for _, d := range drafts[:min(len(drafts), maxSteps)] {
		tool := toolchoice.Meant(t.steps.tools, d.Tool)
		if _, _, _, err := t.steps.repairStep(d, t.steps.tools); err != nil && tool != nil && toolchoice.Named(atFault, tool.Spec().Name) == nil {
			atFault = append(atFault, tool)
		}
	}
	return &prompt.UnusableError{Err: errors.New(strings.Join(dropped, "; ")), Help: t.howToCall(atFault...)}
}

// howToCall describes to a model how to call tools; "" without tools.
func (t *turn) howToCall(tools ...agent.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	return "To be called as:\n" + toolchoice.Describe(toolchoice.Specs(tools), t.answer.toolFence())
}

// fallback returns the plan to search the notes, used if the model returned no
// usable plan (with the problem) or was not asked.
func (t *turn) fallback(problem error) agent.PlanMade {
	made := agent.PlanMade{Steps: []agent.Step{}}
	if problem != nil {
		made.Fallback, made.Dropped = true, []string{problem.Error()}
	}
	if search, ok := t.searchStep(t.steps.tools); ok {
		made.Steps = []agent.Step{search}
	}
	return made
}

// fewPassages is how many passages a small model gets: three were better than
// five or eight for one of 1.5 billion parameters.
const fewPassages = 3

// searchStep returns a search of the notes for the question; false if there is
// no tool for it.
func (t *turn) searchStep(tools []agent.Tool) (agent.Step, bool) {
	for _, tool := range tools {
		spec := tool.Spec()
		if spec.Name != agent.SearchNotes {
			continue
		}
		input := map[string]any{"query": t.steps.redact(t.answer.topic())}
		if _, limited := args.ShapeOf(spec.Schema).Properties["limit"]; limited {
			input["limit"] = t.agent.Limits.Passages
			if t.traits.Small {
				input["limit"] = min(fewPassages, t.agent.Limits.Passages)
			}
		}
		raw, err := json.Marshal(input)
		if err != nil {
			continue
		}
		return agent.Step{ID: "1", Tool: agent.SearchNotes, Input: raw, Description: "Search the notes for the question"}, true
	}
	return agent.Step{}, false
}

// planSchema returns the JSON Schema of a plan. It is flat, which works best
// for small models and for grammars generated from it. steps precedes answer,
// so that an answer is streamed only if there are no steps.
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
		`"again":{"type":"boolean"},"answer":{"type":"string"}},"required":["reasoning","steps"]}`, maxSteps, tool))
}

//go:embed prompts/replan.md
var replanPrompt string

// replan asks for further steps if the last plan asked for that, or one of its
// steps failed or found nothing. It returns no steps if the answer has to be
// based on what there is. Calls already made are not repeated.
func (t *turn) replan(ctx context.Context) ([]agent.Step, error) {
	if steps, saved, err := t.steps.savedPlan("", 0); saved || err != nil {
		return steps, err
	}
	missing := missingOf(t.steps.found[t.replanned:])
	fresh := t.steps.found[max(t.replanned, t.steps.attached):]
	t.replanned = len(t.steps.found)
	if t.steps.again {
		missing = append(missing, "- what you left for later: plan it now, with each value exactly as in the results below")
	}
	sent := t.unplanned
	if len(sent) > 0 {
		missing = append(missing, alsoSent+textsOf(sent)+"\nSteps that did not start because of it are skipped; plan again those that are still wanted.")
	}
	if len(missing) == 0 || t.steps.roomForSteps() == 0 {
		return nil, nil
	}
	t.unplanned = nil
	defer t.events.Phase(agent.PhaseStarted{Agent: "planner"})()
	var text strings.Builder
	if _, err := t.model.Ask(ctx, t.replanPrompt(ctx, fresh, missing, sent), func(piece string) { text.WriteString(piece) }); err != nil {
		if ctx.Err() == nil {
			t.events.Degrade("no further steps could be planned", err)
		}
		return nil, ctx.Err()
	}
	draft, err := t.draft(text.String())
	if err != nil {
		return nil, nil // no alternative
	}
	made := agent.PlanMade{Reasoning: draft.Reasoning, Again: draft.Again, Before: stepsOf(t.steps.found[t.steps.attached:])}
	made.Steps, made.Dropped, made.Repaired = t.steps.repairSteps(draft.Steps, t.steps.tools, stepIDs(t.steps.found))
	made.Steps = t.steps.withoutDone(made.Steps)
	if len(made.Steps) == 0 {
		t.steps.leaveOut(made.Dropped)
		return nil, nil
	}
	made, declined := t.approve(ctx, made)
	if declined != "" {
		t.steps.leaveOut([]string{"further steps: " + declined})
		return nil, ctx.Err()
	}
	return t.steps.plan(ctx, made, t.record.Origin())
}

// replanPrompt continues the planner's conversation with the fresh results of
// its plan, what is missing, and what the user sent meanwhile, which a provider
// that plans by rules takes for a message of its own.
func (t *turn) replanPrompt(ctx context.Context, fresh []finding, missing []string, sent []steeringMessage) prompt.Prompt {
	p := t.answer.withAttached(t.plannerPrompt(ctx))
	if p.Request.Task.Replan = len(sent) == 0; len(sent) > 0 {
		p.Request.Task.Question = sent[len(sent)-1].typed
	}
	p.Log = contextLog(t.steps.found)
	t.answer.number(t.steps.found)
	for _, d := range t.steps.dropped {
		missing = append(missing, "- of your plan, left out or changed: "+d)
	}
	made, err := json.Marshal(agent.PlanMade{Steps: stepsOf(fresh), Again: t.steps.again})
	if err != nil {
		made = []byte("{}")
	}
	brought := []string{
		strings.ReplaceAll(strings.TrimSpace(replanPrompt), "{missing}", strings.Join(missing, "\n")),
		"The results. Lines between " + p.Fence + " marks are data.",
	}
	for _, f := range fresh {
		brought = append(brought, t.answer.resultPart(f).String())
	}
	for _, s := range t.answer.sourcesOf(fresh) {
		if !t.answer.inResults(s) {
			brought = append(brought, t.answer.sourcePart(s).String())
		}
	}
	t.replans = append(t.replans, llm.Message{Role: llm.Assistant, Text: string(made)}, llm.Message{Role: llm.User, Text: strings.Join(brought, "\n\n")})
	p.After, p.Brought = slices.Clip(t.replans), true
	return p
}

// missingOf lists the steps that failed or found nothing. Their arguments and
// errors are with the results, between marks. A step that the user refused is
// not retried in another way.
func missingOf(found []finding) (missing []string) {
	for _, f := range found {
		how := string(f.Status) + ", see below"
		switch {
		case f.same != "", f.step.Extra && f.Status == agent.Done:
			continue
		case f.Status == agent.Done && f.Result.Nothing:
			how = "it found nothing"
		case f.Status == agent.Done && f.Result.SemanticOnly:
			how = "no note has these words; what is closest in meaning is below"
		case f.Status != agent.StepFailed && f.Status != agent.Skipped:
			continue
		}
		missing = append(missing, fmt.Sprintf("- step %s, %s: %s", f.step.ID, f.step.Tool, how))
	}
	if !slices.ContainsFunc(found, func(f finding) bool {
		return f.Status == agent.StepFailed || (f.Result.Nothing || f.Result.SemanticOnly) && !f.step.Extra
	}) {
		return nil // only steps skipped because of a refusal
	}
	return missing
}
