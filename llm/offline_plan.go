package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// plan is what the planner of a turn expects, in the order of its prompt.
type plan struct {
	Reasoning string `json:"reasoning"`
	Answer    string `json:"answer,omitempty"`
	Steps     []step `json:"steps"`
}

type step struct {
	ID          string         `json:"id"`
	Tool        string         `json:"tool"`
	Input       map[string]any `json:"input"`
	Description string         `json:"description"`
	After       []string       `json:"after"`
}

// Bounds on what the rules read. A message beyond the first is a pasted text,
// which is not cut into requests; one beyond the second is searched for by its
// beginning.
const (
	maxRequestBytes = 2 << 10
	maxRuleBytes    = 64 << 10
)

// makePlan turns a message into a plan by rules and returns it as JSON.
func makePlan(task *Task) string {
	p := planFor(task)
	if p.Steps == nil {
		p.Steps = []step{}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil { // maps of strings and numbers encode
		return `{"reasoning":"","steps":[]}`
	}
	return strings.TrimSpace(out.String())
}

func planFor(task *Task) plan {
	if len(task.Results) > 0 {
		return plan{Reasoning: "The rules know no other way."}
	}
	message := strings.TrimSpace(task.Question)
	if len(message) > maxRuleBytes {
		message = clipBytes(message, maxRequestBytes)
	}
	german := looksGerman(message)
	if reply := smallTalk(message, german, task.Tools); reply != "" {
		return plan{Reasoning: "This needs no tool.", Answer: reply}
	}
	if p, ok := namedTool(message, task); ok {
		return p
	}

	p := plan{Reasoning: "Offline: planned by rules, without a model."}
	var topics []string
	var calls []clause
	for _, part := range clauses(message, task) {
		switch {
		case part.call.tool != "":
			calls = append(calls, part)
		case smallTalk(part.text, german, task.Tools) == "":
			topics = append(topics, part.text)
		}
	}
	if len(topics) > 0 || len(calls) == 0 {
		p.search(strings.Join(topics, " "), task)
	}
	after := []string{} // the step before that changes a note; two at once could meet in one
	for _, part := range calls {
		s := step{Tool: part.call.tool, Input: part.call.args, Description: part.text, After: []string{}}
		if writes[s.Tool] {
			s.After = after
		}
		if id := p.add(s); writes[s.Tool] {
			after = []string{id}
		}
	}
	if asked := askedFor(task); len(p.Steps) == 0 {
		p.Answer = cmp.Or(fromHistory(asked, task.History, german), fromPast(asked, task.Past, 0, german))
	}
	if len(p.Steps) == 0 && p.Answer == "" {
		p.Answer = choose(german,
			"I am offline, and none of the tools that are switched on fits this.",
			"Ich bin offline, und keines der eingeschalteten Werkzeuge passt dazu.")
	}
	return p
}

// maxPlanSteps is the most steps of a plan.
const maxPlanSteps = 8

// add appends a step, if there is room, and returns its id.
func (p *plan) add(s step) string {
	if len(p.Steps) < maxPlanSteps {
		s.ID = strconv.Itoa(len(p.Steps) + 1)
		s.Description = clipBytes(oneLine(s.Description), 120)
		p.Steps = append(p.Steps, s)
	}
	return strconv.Itoa(len(p.Steps))
}

// search adds the step that answers most questions.
func (p *plan) search(topic string, task *Task) {
	spec, ok := offered(task.Tools, "search_notes")
	if !ok {
		return
	}
	args := searchArgs(topic, task)
	if args = fit(spec, args); args != nil {
		p.add(step{Tool: "search_notes", Input: args, Description: "search your notes", After: []string{}})
	}
}

// writes are the tools that change notes.
var writes = map[string]bool{"create_note": true, "append_note": true, "add_task": true, "complete_task": true, "edit_note": true, "remember": true}

// call is a tool with its arguments, as read from a clause.
type call struct {
	tool string
	args map[string]any
}

// read gives the first rule's reading of a clause whose tool is offered; its
// tool is "" when no rule knows the clause.
func read(clause string, task *Task) call {
	said := polite.ReplaceAllString(strings.TrimSpace(clause), "")
	for _, rule := range rules {
		spec, ok := offered(task.Tools, rule.tool)
		if !ok {
			continue
		}
		if args := rule.read(said, task); args != nil {
			if args = fit(spec, args); args != nil {
				return call{spec.Name, args}
			}
		}
	}
	return call{}
}

func choose(german bool, english, deutsch string) string {
	if german {
		return deutsch
	}
	return english
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clipBytes cuts a text to at most n bytes, at the end of a character.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
