package turn

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// byTask is a model with one reply for each kind of request: to plan, to replan, and to
// answer.
type byTask struct{ plan, again, answer string }

func (m byTask) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	text := m.answer
	if req.Task.Kind == llm.PlanTask {
		text = m.plan
		if req.Task.Replan {
			text = m.again
		}
	}
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{Text: text, Usage: &llm.Usage{Prompt: 1, Answer: 1, Generating: time.Second, Stopped: llm.StopEnd}}, nil)
	}
}

const (
	lookFirst = `{"reasoning":"the date is in the notes","steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}],"again":true}`
	thenTask  = `{"reasoning":"now","steps":[{"id":"2","tool":"add_task","input":{"text":"buy shoes"}}]}`
)

// A plan that asks for it is continued with its results. Each call runs once, wherever
// the turn is killed.
func TestPlanContinuesWithItsResults(t *testing.T) {
	options := func() (Options, *fakeTool, *fakeTool) {
		notes, task := search(), addTask()
		return Options{Model: byTask{lookFirst, thenTask, goodAnswer}, Tools: tools(notes, task)}, notes, task
	}
	kept := cutAt(t, 0, first(options()))
	entries := len(kept.entries)
	if moments := kept.moments(); strings.Count(moments, "planned") != 2 || !kept.entries[0].Plan.Again {
		t.Fatalf("the turn is %s", moments)
	}
	for at := 1; at <= entries; at++ {
		o, notes, task := options()
		o.Journal, o.History, o.Now = cutAt(t, at, o), &shelf{}, fixedNow
		events := collect(New(o).Resume(t.Context(), "c1", "t1"), func(asked agent.PermissionAsked) agent.Reply {
			if asked.Unknown {
				return agent.Reply{Decision: agent.AlreadyDone}
			}
			return agent.Reply{Decision: agent.AllowOnce}
		})
		plans := []string{}
		for _, e := range events {
			if made, ok := e.Body.(agent.PlanMade); ok {
				plans = append(plans, fmt.Sprint(len(made.Before), " ", made.Steps[0].Tool, " ", made.Again))
			}
		}
		if got := strings.Join(plans, ", "); got != "0 search_notes true, 1 add_task false" {
			t.Errorf("cut after %d entries: the plans are %s", at, got)
		}
		if len(notes.ran()) > 2 || len(task.ran()) > 1 || ended(t, events).Answer != goodAnswer {
			t.Errorf("cut after %d entries: %d searches, %d tasks", at, len(notes.ran()), len(task.ran()))
		}
	}
}

func first(o Options, _, _ *fakeTool) Options { return o }

// A model that always wants to replan does so only as often as allowed.
func TestReplanningIsBounded(t *testing.T) {
	model := &script{lines: []line{say(lookFirst), say(goodAnswer)}}
	for i := range 5 {
		model.replans = append(model.replans, say(fmt.Sprintf(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running %d"}}],"again":true}`, i)))
	}
	notes := search()
	ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(notes)}).Ask(t.Context(), "c1", errand), nil))
	if len(notes.ran()) != 3 {
		t.Errorf("the notes were searched for %q", notes.ran())
	}
	var last string
	for _, req := range model.requests {
		if req.Task.Kind == llm.PlanTask {
			last = req.Messages[len(req.Messages)-1].Text
		}
	}
	for _, want := range []string{"- what you left for later", fitness.Text} {
		if !strings.Contains(last, want) {
			t.Errorf("the planner is asked without %q:\n%s", want, last)
		}
	}
}

// A plan also searches for the message as typed, last, unless all it does is to change
// something or to read a note that was named, or the message calls a tool or needs no
// notes. Notes that hardly answer are left out.
func TestPlanSearchesForTheMessageAsTyped(t *testing.T) {
	clock := &fakeTool{name: "today", schema: `{"type":"object"}`, reads: true, result: agent.Result{Text: "Saturday"}}
	pages := &fakeTool{name: "web_search", schema: `{"type":"object"}`, reads: true, result: agent.Result{Text: "Saturday"}}
	note := &fakeTool{name: "read_note", schema: `{"type":"object"}`, reads: true, result: agent.Result{Text: "Saturday"}}
	weak := search()
	weak.result.Unlikely = true
	typed := fmt.Sprintf(`{"limit":5,"query":%q}`, howOften)
	const clockStep, webStep, noteStep, taskStep = `{"id":"1","tool":"today","input":{}}`, `{"id":"1","tool":"web_search","input":{}}`, `{"id":"1","tool":"read_note","input":{}}`, `{"id":"2","tool":"add_task","input":{"text":"buy shoes"}}`
	for name, tc := range map[string]struct {
		notes *fakeTool
		steps string
		want  string // the searches
		cites bool
		asked string // replaces the question
	}{
		"its tool is named":    {search(), webStep, `[]`, false, "@web_search shoes for the race"},
		"small talk":           {search(), webStep, `[]`, false, "Nice day today!"},
		"only a change":        {search(), taskStep, `[]`, false, ""},
		"only a named note":    {search(), noteStep, `[]`, false, ""},
		"only the day":         {search(), clockStep, "[" + typed + "]", true, ""},
		"only the web":         {search(), webStep, "[" + typed + "]", true, ""},
		"nothing at all":       {search(), "", "[" + typed + "]", true, ""},
		"nothing in the notes": {weak, webStep, "[" + typed + "]", false, ""},
		"the notes as well":    {search(), `{"id":"1","tool":"search_notes","input":{"query":"running"}}`, `[{"query":"running"} ` + typed + `]`, true, ""},
		"a change and a page":  {search(), webStep + "," + taskStep, "[" + typed + "]", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.notes.schema = `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`
			o := Options{Model: byTask{plan: `{"steps":[` + tc.steps + `]}`, answer: "It is Saturday."}, History: &shelf{}, Tools: tools(tc.notes, clock, pages, note, addTask())}
			events := collect(New(o).Ask(t.Context(), "c1", cmp.Or(tc.asked, howOften)), always(agent.AllowOnce))
			end := ended(t, events)
			cites := false
			for _, s := range end.Sources {
				cites = cites || s.Path == fitness.Path
			}
			if got := fmt.Sprint(tc.notes.ran()); got != tc.want || cites != tc.cites || end.Unanswered || end.Answer != "It is Saturday." {
				t.Errorf("searched for %s, sources %+v, answer %q", got, end.Sources, end.Answer)
			}
		})
	}
}
