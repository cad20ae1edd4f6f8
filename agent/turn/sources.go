package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/events"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
)

// Number gives what was found its numbers in the answer, in plan order. A number
// that was given stays: what is found of the same lines later only widens its
// source.
func (a *answer) Number(found []Finding) {
	a.Sources = a.Sources[:a.foundSources]
	for _, s := range a.SourcesOf(found) {
		a.Sources = merge(a.Sources, s)
	}
	for i := range a.Sources {
		a.Sources[i].N = i + 1
	}
	a.foundSources = len(a.Sources)
	for _, f := range found {
		a.Coverage = cmp.Or(f.Result.Coverage, a.Coverage)
	}
}

// SourcesOf lists the places of steps that an answer can cite, each once, those
// that overlap as one. A text that names none is one itself, unless it only
// tells what its tool did.
func (a *answer) SourcesOf(found []Finding) (sources []agent.Source) {
	for _, f := range found {
		if f.Same != "" || f.Status != agent.Done {
			continue
		}
		places := f.Result.Sources
		if len(places) == 0 && f.Result.Text != "" && !f.Result.IsInstructions() && !f.Result.Nothing && f.Step.Tool != agent.DelegateTool &&
			(f.Result.Untrusted || agent.ReadOnly(a.steps.Tool(f.Step.Tool))) {
			places = []agent.Source{SourceOf(f)}
		}
		for _, s := range places {
			s.Untrusted = s.Untrusted || f.Result.Untrusted && f.Step.Tool != agent.DelegateTool // its worker's sources say it each
			sources = merge(sources, s)
		}
	}
	return sources
}

// SourceOf is the text of a step as a place that can be cited.
func SourceOf(f Finding) agent.Source {
	s := agent.Source{
		Path: f.Step.Tool, Call: f.Step.ID, Heading: text.Clip(text.OneLine(cmp.Or(f.Step.Description, strings.Join(args.Texts(f.Step.Input), " · "))), 80),
		Line: 1, EndLine: 1 + strings.Count(f.Result.Text, "\n"), Text: f.Result.Text,
	}
	if f.Step.Tool == AttachTool {
		s.Path, s.Heading = f.Step.Description, ""
	}
	return s
}

// ResultNumber is the number by which the text of a step is cited; 0: it has none.
func (a *answer) ResultNumber(step string) int {
	i := slices.IndexFunc(a.Sources, func(s agent.Source) bool { return s.Call == step })
	if i < 0 {
		return 0
	}
	return a.Sources[i].N
}

// NumberAll numbers all that an answer can cite, the facts last.
func (a *answer) NumberAll() {
	a.Number(a.steps.Found)
	a.citeFacts()
}

// citeFacts numbers the facts after the other sources, so that the answer can
// say which it used.
func (a *answer) citeFacts() {
	for _, f := range a.recalled.Facts {
		s := f.Source()
		s.N = len(a.Sources) + 1
		a.Sources = append(a.Sources, s)
	}
}

// Material is what was found as a prompt holds it: each place once, by its number,
// then the steps, with what else they brought.
func (a *answer) Material() (parts []prompt.Part) {
	for _, s := range a.Sources[:a.foundSources] {
		if !a.inResults(s) {
			parts = append(parts, prompt.Part{Kind: "sources", Head: fmt.Sprintf("[%d] %s", s.N, s.Head()), Text: s.Text, Fence: a.Fence()})
		}
	}
	for _, f := range a.steps.Found {
		parts = append(parts, a.ResultPart(f))
	}
	return parts
}

// inResults reports whether a source is the text of a step.
func (a *answer) inResults(s agent.Source) bool {
	return slices.ContainsFunc(a.steps.Found, func(f Finding) bool { return f.Step.ID == s.Call })
}

// ResultPart is a step in a prompt, with its number if its text can be cited.
func (a *answer) ResultPart(f Finding) prompt.Part {
	p := prompt.Part{Kind: "results", Head: ResultHead(f), Fence: a.Fence()}
	if input := cmp.Or(string(f.Input), string(f.Step.Input)); len(input) > len("{}") { // the model may have them from what it read
		p.Text = "called with " + text.OneLine(text.Clip(input, maxContext))
	}
	if r := ForModel(f); !r.Cited && r.Text != "" { // else it is in the sources
		p.Text = strings.TrimPrefix(p.Text+"\n"+r.Text, "\n")
	}
	if f.Result.IsInstructions() {
		p.Head, p.Fence = p.Head+". The user trusts these instructions:", ""
	}
	if n := a.ResultNumber(f.Step.ID); n > 0 {
		p.Head = fmt.Sprintf("[%d] %s", n, p.Head)
	}
	return p
}

// resultText is how a step ended, in words.
type resultText struct {
	Text  string // what the tool said, or why it did not
	Cited bool   // its content is in the sources already
}

// ForModel is what the explainer is told of a step.
func ForModel(f Finding) resultText {
	r := resultText{Text: f.Result.Text}
	switch {
	case f.Same != "":
		r.Text, r.Cited = "the same as step "+f.Same, f.Status == agent.Done
	case f.Status != agent.Done:
		r.Text = f.Reason
	default:
		r.Cited = len(f.Result.Sources) > 0 && f.Step.Tool != agent.DelegateTool // a report is next to what it rests on
	}
	return r
}

// ResultHead names a step and how it ended, in one line.
func ResultHead(f Finding) string {
	head := fmt.Sprintf("Step %s, %s", f.Step.ID, f.Step.Tool)
	if f.Step.Description != "" {
		head += " (" + text.Clip(f.Step.Description, 200) + ")"
	}
	head += ": " + string(f.Status)
	switch {
	case f.Same != "":
		head += ", the same as step " + f.Same
	case f.Status == agent.Done && f.Result.Partial:
		head += ", partial: it was not accepted, say so"
	case f.Status == agent.Done && f.Step.Tool == agent.DelegateTool:
	case f.Status == agent.Done && len(f.Result.Sources) > 0:
		head += ", see the sources"
		if c := f.Result.Coverage; c != nil && c.Time != nil {
			head += " (" + c.Time.String() + ")"
		}
	case f.Status == agent.Done && f.Result.Nothing:
		head += ", found nothing"
	}
	return head
}

// NumberOf is the number of the source that the lines of s are in; 0: of none.
func (a *answer) NumberOf(s agent.Source) int {
	if i := sharing(a.Sources, s); i >= 0 {
		return a.Sources[i].N
	}
	return 0
}

// maxContext is what of a result the log of a prompt holds, in bytes.
const maxContext = 500

// logged is what a step came to. Passages are saved with the answer already.
func logged(f Finding, limit int) agent.Logged {
	r := ForModel(f)
	if r.Cited && limit == agent.MaxLogged {
		r.Text = agent.ToolEnded{Sources: f.Result.Sources}.Brief()
	}
	result := text.OneLine(r.Text)
	if f.Status != agent.Done {
		result = strings.TrimSuffix(fmt.Sprintf("%s: %s", f.Status, result), ": ")
	}
	return agent.Logged{Step: f.Step.ID, Action: events.ActionOf(f.Step), Result: cmp.Or(text.Clip(result, limit), string(f.Status))}
}

// ContextLog is what a prompt holds of steps.
func ContextLog(found []Finding) (log []agent.Logged) {
	for _, f := range found {
		log = append(log, logged(f, maxContext))
	}
	return log
}

// Log is what was done and thought meanwhile, with what came of it.
func (a *answer) Log() []agent.Logged {
	results := map[string]string{}
	for _, f := range a.steps.Found {
		results[f.Step.ID] = logged(f, agent.MaxLogged).Result
	}
	return a.events.Log(results)
}
