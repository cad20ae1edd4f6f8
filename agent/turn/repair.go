package turn

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
)

// repairSteps turns the model's steps into steps that can run, and reports what
// was dropped and what was corrected. earlier has the ids of the turn's
// previous steps, whose results can be used.
func (t *turn) repairSteps(drafts []prompt.Step, offered []agent.Tool, earlier []string) (steps []agent.Step, dropped,
	repaired []string,
) {
	steps = []agent.Step{}
	renamed := map[string]string{} // the model's id → our id; "" if the step was dropped
	taken := map[string]bool{}
	for _, id := range earlier {
		taken[id] = true
	}
	for _, d := range drafts {
		t.noteWriter(d.Tool)
	}
	for i, d := range drafts {
		if len(steps) == maxSteps {
			dropped = append(dropped, fmt.Sprintf("%d steps beyond the %d of a plan", len(drafts)-i, maxSteps))
			break
		}
		if len(steps) >= t.steps.roomForSteps() {
			dropped = append(dropped, fmt.Sprintf("%d steps beyond the %d of a turn", len(drafts)-i, maxTurnSteps))
			break
		}
		step, changed, lost, err := t.repairStep(d, offered)
		if err != nil {
			lost = []string{err.Error()}
		}
		for _, note := range lost {
			dropped = append(dropped, fmt.Sprintf("step %.20s: %s", d.ID, note))
		}
		for _, note := range changed {
			repaired = append(repaired, fmt.Sprintf("step %.20s: %s", d.ID, note))
		}
		if err != nil {
			if _, known := renamed[d.ID]; !known {
				renamed[d.ID] = ""
			}
			continue
		}
		step.ID = uniqueID(d.ID, taken)
		if step.ID != d.ID && !slices.Contains(earlier, d.ID) {
			repaired = append(repaired, fmt.Sprintf("step %.20s is now step %s", d.ID, step.ID))
		}
		if renamed[d.ID] == "" { // of two steps with the same id, the first is meant
			renamed[d.ID] = step.ID
		}
		steps = append(steps, step)
	}
	for _, id := range earlier {
		if _, again := renamed[id]; !again { // otherwise the new step of that name is meant
			renamed[id] = id
		}
	}
	dropped = append(dropped, linkSteps(steps, renamed)...)
	steps, lost := dropLost(steps, renamed)
	return steps, shorten(append(dropped, lost...)), shorten(repaired)
}

// repairStep converts a step, except for its id. changed lists corrections that
// keep the meaning; lost lists what was dropped.
func (t *turn) repairStep(d prompt.Step, offered []agent.Tool) (step agent.Step, changed, lost []string, err error) {
	if d.Tool == "" || strings.EqualFold(d.Tool, "none") || strings.EqualFold(d.Tool, "null") {
		return agent.Step{}, nil, nil, errors.New("it names no tool")
	}
	tool, why := prompt.Find(offered, d.Tool), ""
	if tool == nil && prompt.Find(t.tools, d.Tool) == nil { // otherwise another worker may have it
		if why = t.missing[d.Tool]; why == "" {
			tool = prompt.Meant(offered, d.Tool)
		}
	}
	if tool == nil {
		t.noteWriter(d.Tool)
		return agent.Step{}, nil, nil, errors.New(gate.Because(fmt.Sprintf("unknown tool %.60q", d.Tool), why))
	}
	spec := tool.Spec()
	t.noteWriter(spec.Name)
	if clean := t.agent.Redact.Known(string(d.Input)); clean != string(d.Input) && json.Valid([]byte(clean)) {
		d.Input = json.RawMessage(clean)
		defer func() { lost = append(lost, "a secret of yours was taken out of its arguments") }()
	}
	repaired, err := t.gate.Schemas.Repair(tool, d.Input)
	if name := cmp.Or(agent.NoContent(spec.Schema, agent.ParseArgs(d.Input), reference.MatchString),
		agent.NoContent(spec.Schema, repaired.Input, reference.MatchString)); name != "" {
		return agent.Step{}, nil, nil, fmt.Errorf("%s of %s takes no {{…}}, which stands for a whole text: leave the "+
			"step out, plan with \"again\": true, and write the value once you see it", name, spec.Name)
	}
	if prompt.Fold(d.Tool) != prompt.Fold(spec.Name) {
		changed = append(changed, fmt.Sprintf("%.60s is %s here", d.Tool, spec.Name))
	}
	step = agent.Step{
		Tool: spec.Name, Input: repaired.Input.JSON(),
		Description: text.Clip(text.OneLine(d.Description), 300), After: d.After,
	}
	return step, append(changed, repaired.Changed...), repaired.Lost, err
}

const maxDropped = 20

// shorten bounds the list of problems in a plan.
func shorten(dropped []string) []string {
	if len(dropped) <= maxDropped {
		return dropped
	}
	return append(dropped[:maxDropped:maxDropped], fmt.Sprintf("and %d more", len(dropped)-maxDropped))
}

// linkSteps removes dependencies on missing steps and those that form a cycle,
// and adds dependencies on the steps whose results are used.
func linkSteps(steps []agent.Step, renamed map[string]string) (dropped []string) {
	position := map[string]int{}
	for i, step := range steps {
		position[step.ID] = i
	}
	for i := range steps {
		step := &steps[i]
		var after []string
		for _, id := range slices.Concat(step.After, references(step.Input,
			func(id string) bool { _, known := renamed[id]; return known })) {
			ours := renamed[id]
			switch {
			case ours == "":
				dropped = append(dropped, fmt.Sprintf("step %s cannot wait for %.20q", step.ID, id))
			case !slices.Contains(after, ours):
				after = append(after, ours)
			}
		}
		step.After = after
		step.Input = renameReferences(step.Input, renamed)
	}
	return append(dropped, cutCircles(steps, position)...)
}

// dropLost drops the steps that use a result that will not exist, and
// transitively those that use theirs.
func dropLost(steps []agent.Step, renamed map[string]string) (remaining []agent.Step, dropped []string) {
	for i := 0; i < len(steps); i++ {
		step := steps[i]
		used := references(step.Input, func(string) bool { return true })
		lost := slices.IndexFunc(used, func(id string) bool { return !slices.Contains(step.After, id) })
		if lost < 0 {
			continue
		}
		dropped = append(dropped, fmt.Sprintf("step %s uses the result of step %.20s, which will not be there", step.ID,
			used[lost]))
		renamed[step.ID] = ""
		steps = slices.Delete(steps, i, i+1)
		for j := range steps {
			steps[j].After = slices.DeleteFunc(steps[j].After, func(id string) bool { return id == step.ID })
		}
		i = -1 // others may have lost its result
	}
	return steps, dropped
}

// cutCircles removes each dependency that closes a cycle, in plan order.
func cutCircles(steps []agent.Step, position map[string]int) (dropped []string) {
	for i := range steps {
		step := &steps[i]
		step.After = slices.DeleteFunc(step.After, func(id string) bool {
			circle := reaches(steps, position, id, step.ID, map[string]bool{})
			if circle {
				dropped = append(dropped, fmt.Sprintf("step %s cannot wait for %s, which waits for it", step.ID, id))
			}
			return circle
		})
	}
	return dropped
}

// reaches reports whether step from depends on step to, directly or indirectly.
func reaches(steps []agent.Step, position map[string]int, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	at, ours := position[from]
	return ours && slices.ContainsFunc(steps[at].After, func(id string) bool {
		return reaches(steps, position, id, to, seen)
	})
}

// uniqueID returns id if it is short, plain and not taken, or else a free
// number, and marks it as taken.
func uniqueID(id string, taken map[string]bool) string {
	plain := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}
	if id == "" || len(id) > 20 || strings.ContainsFunc(id, plain) || taken[id] {
		for n := 1; ; n++ {
			if id = strconv.Itoa(n); !taken[id] {
				break
			}
		}
	}
	taken[id] = true
	return id
}
