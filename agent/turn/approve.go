package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
)

// approve asks the user to approve a plan before it is journalled or run, and
// returns the plan as edited. A resumed turn therefore contains only approved
// plans. declined is the reason why nothing may run, or "". Approval is not a
// permission: the gate still asks about each call.
func (t *turn) approve(ctx context.Context, made agent.PlanMade) (_ agent.PlanMade, declined string) {
	if !t.agent.Session.Approve() || len(made.Steps) == 0 {
		return made, ""
	}
	if t.gate.Unattended() {
		t.events.Notice("Nobody is here to approve the plan: calls run as the rules say, and those that would ask " +
			"are refused.")
		return made, ""
	}
	host := agent.HostOptions{Call: "plan", Events: t.events, Redact: t.agent.Redact}.Open()
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

// Values of a step in the form.
const (
	runStep  = "run"
	dropStep = "drop"
)

// planForm returns the JSON Schema of a form for editing steps: whether each
// step runs, by its ID, and its arguments, by ID.NAME.
func (t *turn) planForm(steps []agent.Step) json.RawMessage {
	var fields []string
	add := func(name string, property map[string]any) {
		key, _ := json.Marshal(name)       // marshalling a string cannot fail
		value, _ := json.Marshal(property) // nor can marshalling parsed JSON
		fields = append(fields, string(key)+":"+string(value))
	}
	for _, step := range steps {
		about := step.Description
		if len(step.After) > 0 {
			about = strings.TrimPrefix(about+" · after "+strings.Join(step.After, ", "), " · ")
		}
		add(step.ID, map[string]any{
			"type": "string", "title": step.ID + " " + step.Tool, "description": about,
			"enum": []string{runStep, dropStep}, "default": runStep,
		})
		input, err := agent.ReadObject(step.Input)
		if err != nil {
			continue // not an object: the step stays as it is
		}
		for _, name := range slices.Sorted(maps.Keys(input)) {
			property := map[string]any{
				"type": "string", "title": "  " + name, "default": written(input[name]),
				"minLength": 0,
			}
			if value, ok := input[name].(bool); ok {
				property["type"], property["default"] = "boolean", value
			}
			add(step.ID+"."+name, property)
		}
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`)
}

// written returns an argument as shown in the form: a string as it is, anything
// else as JSON.
func written(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, _ := json.Marshal(value) // cannot fail: the value came from JSON
	return string(raw)
}

// edited returns the plan as changed by the values of the form, or an error if
// they do not fit. A step that uses the result of a dropped one is dropped as
// well. Missing values leave the plan unchanged.
func (t *turn) edited(made agent.PlanMade, values json.RawMessage) (agent.PlanMade, error) {
	given, err := agent.ReadObject(values)
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
		draft := prompt.Step{
			ID: step.ID, Tool: step.Tool, Input: step.Input, Description: step.Description,
			After: step.After,
		}
		if draft.Input, err = editedInput(step, given); err != nil {
			return made, fmt.Errorf("step %s: %w", step.ID, err)
		}
		if _, _, _, err := t.repairStep(draft, t.tools); err != nil {
			return made, fmt.Errorf("step %s: %w", step.ID, err)
		}
		extra[step.ID], drafts = step.Extra, append(drafts, draft)
	}
	steps, lost, repaired := t.repairSteps(drafts, t.tools, stepIDs(t.steps.found))
	for i := range steps {
		steps[i].Extra = extra[steps[i].ID]
	}
	made.Steps, made.Dropped, made.Repaired = steps, slices.Concat(made.Dropped, dropped, lost),
		append(slices.Clip(made.Repaired), repaired...)
	return made, nil
}

// editedInput returns the arguments of a step with changes applied: a string as
// written, anything else parsed as JSON. A cleared argument is removed.
func editedInput(step agent.Step, given map[string]any) (json.RawMessage, error) {
	input, err := agent.ReadObject(step.Input)
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
