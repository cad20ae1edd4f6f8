package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lifehub/llm"
)

//go:embed prompts/frontline.md
var frontlinePrompt string

//go:embed prompts/lead.md
var leadPrompt string

// team answers small talk at once, or lets a lead hand tasks to workers, whose
// results are then explained. false: there is no model that could, and
// nothing was done.
func (t *turn) team(ctx context.Context) (able bool, err error) {
	if t.kept.plans == nil {
		route, err := t.frontline(ctx)
		var unsupported *llm.UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			return false, nil
		case err != nil || !route:
			return true, err
		}
	}
	t.tools = append(slices.Clip(t.tools), t.delegation()...)
	steps, err := t.lead(ctx)
	if err != nil {
		return true, err
	}
	if err := t.work(ctx, steps); err != nil {
		return true, err
	}
	return true, t.explain(ctx)
}

// routing is the front line's decision.
var routingSchema = json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"route":{"type":"boolean"},"answer":{"type":"string"}},"required":["reason","route"]}`)

// frontline answers what needs no work, and tells whether the message is for
// the lead. What cannot be read is.
func (t *turn) frontline(ctx context.Context) (route bool, err error) {
	defer t.phase("frontline")()
	p := prompt{
		agent:   "frontline",
		system:  t.withPersona(strings.ReplaceAll(frontlinePrompt, "{today}", date(t.Now()))),
		summary: t.summary.Text, fence: t.fence(),
		history:  t.history,
		material: append(t.factPart(0), t.pastParts()...),
		question: t.question,
		request:  llm.Request{Schema: routingSchema, MaxTokens: maxPlanTokens},
	}
	p = t.withAttached(p)
	var text strings.Builder
	answer := answerStream{say: t.say}
	_, err = t.ask(ctx, p, func(piece string) {
		text.WriteString(piece)
		answer.add(piece)
	})
	if err != nil {
		t.cut = t.answer.Len() > 0
		return false, err
	}
	var decided struct {
		Reason, Answer string
		Route          bool
	}
	if readObjectIn(text.String(), &decided) != nil {
		return t.answer.Len() == 0, nil
	}
	if decided.Route || strings.TrimSpace(decided.Answer) == "" {
		t.routed = clip(oneLine(decided.Reason), 300)
		return true, nil
	}
	if t.answer.Len() == 0 {
		t.say(strings.TrimSpace(decided.Answer))
	}
	return false, nil
}

// readObjectIn reads the first JSON object of a model's text.
func readObjectIn(text string, into any) error {
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		text = text[i+len("</think>"):]
	}
	at := strings.IndexByte(text, '{')
	if at < 0 || len(text) > maxDraft {
		return errors.New("it holds no JSON object")
	}
	raw, _, err := readJSON(text[at:])
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// lead asks which worker does what. A decision that cannot be used is asked
// for once more; then one worker searches the notes.
func (t *turn) lead(ctx context.Context) ([]Step, error) {
	if kept, err := t.keptPlan("", 0); err != nil {
		return nil, err
	} else if kept != nil {
		return kept.made.Steps, nil
	}
	t.emit(PhaseStarted{Agent: "lead", Reason: t.routed})
	start := t.Now()
	defer func() { t.emit(PhaseEnded{Agent: "lead", Took: t.since(start)}) }()
	tool := t.tool(DelegateTool)
	kinds := workersFor(t.tools)
	p := prompt{
		agent:   "lead",
		system:  t.withPersona(strings.NewReplacer("{today}", date(t.Now()), "{workers}", describeWorkers(kinds)).Replace(leadPrompt)),
		summary: t.summary.Text, fence: t.fence(),
		history:  t.history,
		material: append(t.factPart(0), t.pastParts()...),
		question: t.question,
		request:  llm.Request{Schema: leadSchema(kinds), MaxTokens: maxPlanTokens},
	}
	p = t.withAttached(p)
	made := PlanMade{Mode: TeamMode, Fallback: true, Steps: []Step{}}
	for range planTries {
		var text strings.Builder
		if _, err := t.ask(ctx, p, func(piece string) { text.WriteString(piece) }); err != nil {
			return nil, err
		}
		drafts, reasoning, err := readDelegations(text.String())
		if err == nil {
			steps, dropped := t.mendSteps(drafts, []Tool{tool}, nil)
			if len(steps) > 0 {
				made = PlanMade{Mode: TeamMode, Reasoning: reasoning, Steps: steps, Dropped: dropped}
				break
			}
			err = errors.New("it hands out no task: " + strings.Join(dropped, "; "))
		}
		made.Dropped = []string{err.Error()}
		p.after = repair(text.String(), err)
	}
	if made.Fallback {
		input, err := json.Marshal(delegation{Worker: kinds[0].name, Task: t.question, Criteria: "It answers the message from what was found, or says that nothing was."})
		if err != nil {
			return nil, err
		}
		made.Steps = []Step{{ID: "1", Tool: DelegateTool, Input: input}}
	}
	planned, err := t.planned(ctx, made)
	return planned.steps, err
}

// readDelegations reads the lead's decision: one, or several.
func readDelegations(text string) (drafts []draftStep, reasoning string, err error) {
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		text = text[i+len("</think>"):]
	}
	at := strings.IndexAny(text, "{[")
	if at < 0 || len(text) > maxDraft {
		return nil, "", errors.New("it holds no JSON object")
	}
	raw, _, err := readJSON(text[at:])
	if err != nil {
		return nil, "", fmt.Errorf("it is no valid JSON: %w", err)
	}
	list := []json.RawMessage{raw}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &fields) == nil {
		reasoning = asText(first(fields, "reasoning", "thought"))
		if tasks := first(fields, "tasks", "steps", "decisions", "workers"); tasks != nil && json.Unmarshal(tasks, &list) != nil {
			return nil, "", errors.New(`"tasks" is no list`)
		}
	}
	for i, item := range list {
		var fields map[string]json.RawMessage
		if json.Unmarshal(item, &fields) != nil {
			return nil, "", fmt.Errorf("task %d is no object", i+1)
		}
		if inner := first(fields, "input", "arguments"); inner != nil && fields["worker_type"] == nil { // a plan of delegate steps
			item = inner
		}
		id := asText(fields["id"])
		if id == "" {
			id = fmt.Sprint(i + 1)
		}
		drafts = append(drafts, draftStep{ID: id, Tool: DelegateTool, Input: item, After: asTexts(fields["after"])})
	}
	return drafts, reasoning, nil
}

func leadSchema(kinds []worker) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"reasoning":{"type":"string"},"tasks":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object",`+
		`"properties":{"id":{"type":"string"},"worker_type":{"type":"string","enum":%s},"task_description":{"type":"string"},"parameters":{"type":"object"},`+
		`"success_criteria":{"type":"string"},"after":{"type":"array","items":{"type":"string"}}},"required":["id","worker_type","task_description","success_criteria"]}}},"required":["reasoning","tasks"]}`,
		maxDelegations, workerNames(kinds)))
}

// maxDelegations bounds the tasks of one decision.
const maxDelegations = 5
