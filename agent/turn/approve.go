package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/prompt"
)

// approve shows a plan to the user before it is journalled and any of it runs, and
// returns what they left of it. A turn that is resumed thus knows approved plans only,
// and asks about any other. declined says why nothing of it is to run; "": it is.
// No permission comes of it: the gate asks about each call as ever.
func (t *turn) approve(ctx context.Context, made agent.PlanMade) (_ agent.PlanMade, declined string) {
	if !t.agent.Limits.Approve() || len(made.Steps) == 0 {
		return made, ""
	}
	if t.gate.Unattended() {
		return made, "the plan needs your approval, and nobody can be asked here; --approve=false runs plans without"
	}
	host := agent.HostOptions{
		Call: "plan", Emit: t.events.Emit, Redact: t.agent.Redact, Asks: func() func() { return t.events.WaitForUser(0) },
	}.Open()
	defer host.Close()
	given := host.Ask(ctx, agent.Question{
		From: "LifeHub", Kind: agent.PlanInput, Schema: t.planForm(made.Steps),
		Message: "No step has run yet. Steps that change or send something still ask, as the rules say.",
		Check:   func(values json.RawMessage) error { _, err := t.edited(made, values); return err },
	})
	if given.Action != agent.InputAccepted {
		return made, "you declined the plan"
	}
	changed, err := t.edited(made, given.Values)
	switch {
	case err != nil:
		return made, err.Error()
	case len(changed.Steps) == 0:
		return made, "you dropped every step"
	}
	return changed, ""
}

// What a step of the form is set to.
const (
	runStep  = "run"
	dropStep = "drop"
)

// planForm is the schema of a form that changes steps: for each whether it runs, by its
// ID, and its arguments, by ID.NAME.
func (t *turn) planForm(steps []agent.Step) json.RawMessage {
	var fields []string
	add := func(name string, property map[string]any) {
		key, _ := json.Marshal(name)       // a text can be written
		value, _ := json.Marshal(property) // as can what was read of JSON
		fields = append(fields, string(key)+":"+string(value))
	}
	for _, step := range steps {
		about := step.Description
		if len(step.After) > 0 {
			about = strings.TrimPrefix(about+" · after "+strings.Join(step.After, ", "), " · ")
		}
		add(step.ID, map[string]any{"type": "string", "title": step.ID + " " + step.Tool, "description": about, "enum": []string{runStep, dropStep}, "default": runStep})
		input, err := args.ReadObject(step.Input)
		if err != nil {
			continue // it is not of an object, and runs or fails as it is
		}
		for _, name := range slices.Sorted(maps.Keys(input)) {
			property := map[string]any{"type": "string", "title": "  " + name, "default": written(input[name]), "minLength": 0}
			if value, ok := input[name].(bool); ok {
				property["type"], property["default"] = "boolean", value
			}
			add(step.ID+"."+name, property)
		}
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`)
}

// written is an argument as the form shows it: a text, or JSON.
func written(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, _ := json.Marshal(value) // it was read of JSON
	return string(raw)
}

// edited is the plan as the values of its form have it, or says which of them does not
// fit. A step that uses the result of a dropped one is dropped with it. What the
// values leave out stays as planned.
func (t *turn) edited(made agent.PlanMade, values json.RawMessage) (agent.PlanMade, error) {
	given, err := args.ReadObject(values)
	if err != nil {
		return made, fmt.Errorf("read the changed plan: %w", err)
	}
	var drafts []prompt.Step
	var dropped []string
	extra := map[string]bool{}
	for _, step := range made.Steps {
		if given[step.ID] == dropStep {
			dropped = append(dropped, fmt.Sprintf("step %s: the user dropped %s", step.ID, step.Tool))
			continue
		}
		draft := prompt.Step{ID: step.ID, Tool: step.Tool, Input: step.Input, Description: step.Description, After: step.After}
		if draft.Input, err = editedInput(step, given); err != nil {
			return made, fmt.Errorf("step %s: %w", step.ID, err)
		}
		if _, _, _, err := t.steps.repairStep(draft, t.steps.tools); err != nil {
			return made, fmt.Errorf("step %s: %w", step.ID, err)
		}
		extra[step.ID], drafts = step.Extra, append(drafts, draft)
	}
	steps, lost, repaired := t.steps.repairSteps(drafts, t.steps.tools, stepIDs(t.steps.found))
	for i := range steps {
		steps[i].Extra = extra[steps[i].ID]
	}
	made.Steps, made.Dropped, made.Repaired = steps, slices.Concat(made.Dropped, dropped, lost), append(slices.Clip(made.Repaired), repaired...)
	return made, nil
}

// editedInput is the arguments of a step with those that were changed: a text as it was
// written, all else as JSON. One that was cleared is left out.
func editedInput(step agent.Step, given map[string]any) (json.RawMessage, error) {
	input, err := args.ReadObject(step.Input)
	if err != nil {
		return step.Input, nil
	}
	changed := false
	for name, old := range input {
		value, ok := given[step.ID+"."+name]
		if !ok || written(value) == written(old) {
			continue
		}
		changed = true
		text, isText := value.(string)
		_, wasText := old.(string)
		switch {
		case isText && text == "":
			delete(input, name)
			continue
		case isText && !wasText && json.Valid([]byte(text)):
			value = json.RawMessage(text)
		}
		input[name] = value
	}
	if !changed {
		return step.Input, nil
	}
	return json.Marshal(input)
}
