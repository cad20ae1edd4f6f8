package turn

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
)

const threeSteps = `{"reasoning":"","steps":[{"id":"1","tool":"search_notes","input":{"query":"shoes\nand socks"}},` +
	`{"id":"2","tool":"add_task","input":{"text":"buy shoes"}},{"id":"3","tool":"brave_web_search","input":{"query":"{{1.text}}"},"after":["1"]}]}`

// approving runs a turn whose plans are answered with given; the last answer is
// repeated. It also returns the forms that were shown.
func approving(t *testing.T, o Options, given ...agent.Input) (events []agent.Event, shown []agent.InputAsked) {
	t.Helper()
	if o.Limits.Parallel, o.Now = 1, fixedNow; o.Session == nil {
		o.Session = agenttest.Session{In: agent.PlanMode, Asks: true}
	}
	if o.History == nil {
		o.History = &shelf{}
	}
	for e := range New(o).Ask(t.Context(), "c1", errand) {
		events = append(events, e)
		switch asked := e.Body.(type) {
		case agent.PermissionAsked:
			asked.Reply(agent.Reply{Decision: agent.AllowOnce})
		case agent.InputAsked:
			asked.Reply(given[min(len(shown), len(given)-1)])
			shown = append(shown, asked)
		}
	}
	return events, shown
}

func approved(values string) agent.Input {
	return agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(values)}
}

// toldOf counts the permission requests, and returns the answer and what was dropped.
func toldOf(events []agent.Event) (gate int, answer, dropped string) {
	for _, e := range events {
		switch body := e.Body.(type) {
		case agent.PermissionAsked:
			gate++
		case agent.Ended:
			answer, dropped = body.Answer, strings.Join(body.Dropped, "; ")
		}
	}
	return gate, answer, dropped
}

func TestApprovePlan(t *testing.T) {
	for name, tc := range map[string]struct {
		given             agent.Input
		searched, web     string
		added             string
		gate              int
		answered, dropped string
	}{
		"as it is": {
			given: approved(`{}`), searched: `{"query":"shoes\nand socks"}`, web: fitness.Text, added: `{"text":"buy shoes"}`, gate: 2, answered: goodAnswer,
		},
		"a step is dropped, and what needs its result": {
			given: approved(`{"1":"drop"}`), added: `{"text":"buy shoes"}`, gate: 1, answered: goodAnswer,
			dropped: "step 1: the user dropped search_notes; step 3 cannot wait for \"1\"; step 3 uses the result of step 1, which will not be there",
		},
		"an argument is changed": {
			given:    approved(`{"1":"run","1.query":"shoes\nand socks","2":"run","2.text":"buy sandals","3":"drop"}`),
			searched: `{"query":"shoes\nand socks"}`, added: `{"text":"buy sandals"}`, gate: 1, answered: goodAnswer,
			dropped: "step 3: the user dropped brave_web_search",
		},
		"every step is dropped": {given: approved(`{"1":"drop","2":"drop","3":"drop"}`), answered: "Not run: you dropped every step."},
		"declined":              {given: agent.Input{Action: agent.InputDeclined}, answered: "Not run: you declined the plan."},
		"esc":                   {given: agent.Input{Action: agent.InputCancelled}, answered: "Not run: you declined the plan."},
	} {
		t.Run(name, func(t *testing.T) {
			notes, tasks, web := search(), addTask(), web()
			web.level = agent.Confirm
			model := &script{lines: []line{say(threeSteps), say(goodAnswer)}}
			events, shown := approving(t, Options{Model: model, Tools: tools(notes, tasks, web)}, tc.given)
			if len(shown) != 1 {
				t.Fatalf("%d plans were shown", len(shown))
			}
			ran := func(f *fakeTool) string { return strings.Join(f.ran(), " ") }
			if ran(notes) != tc.searched || ran(tasks) != tc.added || (tc.web == "") != (ran(web) == "") {
				t.Errorf("ran %s, %s, %s", ran(notes), ran(tasks), ran(web))
			}
			gate, answer, dropped := toldOf(events)
			if gate != tc.gate || answer != tc.answered {
				t.Errorf("the gate asked %d times, the answer is %q", gate, answer)
			}
			if !strings.HasPrefix(dropped, tc.dropped) || tc.dropped == "" && dropped != "" {
				t.Errorf("dropped: %q", dropped)
			}
			for i, e := range events { // the reported plan is the approved one
				if _, isPlan := e.Body.(agent.PlanMade); isPlan {
					if _, answered := events[i-1].Body.(agent.InputGiven); !answered {
						t.Errorf("a plan was told before it was approved")
					}
				}
			}
		})
	}
}

func TestApprovePlanChecksArguments(t *testing.T) {
	task := addTask()
	_, shown := approving(t, Options{Model: &script{lines: []line{say(taskStep)}}, Tools: tools(task)}, approved(`{"1.text":""}`))
	if err := shown[0].Check(json.RawMessage(`{"1.text":""}`)); err == nil || !strings.Contains(err.Error(), "text") {
		t.Errorf("a task without a text fits: %v", err)
	}
	if err := shown[0].Check(json.RawMessage(`{"1.text":"buy tea"}`)); err != nil {
		t.Error(err)
	}
	if len(task.ran()) > 0 {
		t.Errorf("it ran with %s", task.ran())
	}
}

func TestApprovePlanOfFurtherSteps(t *testing.T) {
	list := &fakeTool{name: "list_notes", reads: true, result: agent.Result{Text: "fitness.md"}}
	nothing := &fakeTool{name: "search_notes", reads: true, result: agent.Result{Text: "no passages", Nothing: true, Searched: true}}
	model := &script{lines: []line{say(searchStep), say("Nothing is written of running.")}, replans: []line{say(`{"steps":[{"id":"3","tool":"list_notes","input":{"query":"run"}}]}`)}}
	events, shown := approving(t, Options{Model: model, Tools: tools(nothing, list)}, approved(`{}`), agent.Input{Action: agent.InputDeclined})
	_, answer, dropped := toldOf(events)
	if len(shown) != 2 || len(nothing.ran()) != 1 || len(list.ran()) != 0 || dropped != "further steps: you declined the plan" || answer != "Nothing is written of running." {
		t.Errorf("%d plans shown, %q, %q", len(shown), dropped, answer)
	}
}

func TestApprovePlanWithoutAUser(t *testing.T) {
	notes := search()
	task := &fakeTool{name: "add_task", level: agent.Confirm}
	plan := `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"shoes"}},{"id":"2","tool":"add_task","input":{"query":"buy shoes"}}]}`
	events, shown := approving(t, Options{Unattended: true, Model: &script{lines: []line{say(plan), say(goodAnswer)}}, Tools: tools(notes, task)}, approved(`{}`))
	if gate, _, _ := toldOf(events); len(shown) > 0 || len(notes.ran()) != 1 || len(task.ran()) > 0 || gate != 1 {
		t.Errorf("%d plans shown, %d calls asked about, ran %s and %s", len(shown), gate, notes.ran(), task.ran())
	}
}

func TestApprovePlanIsAskedAgainAfterAKill(t *testing.T) {
	notes, kept := search(), &ledger{question: errand}
	o := Options{Model: &script{lines: []line{say(searchStep), say(searchStep), say(goodAnswer)}}, Tools: tools(notes), History: &shelf{}, Journal: kept, Now: fixedNow, Session: agenttest.Session{In: agent.PlanMode, Asks: true}}
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	for e := range New(o).Ask(ctx, "c1", errand) {
		if _, waits := e.Body.(agent.InputAsked); waits {
			kill(agent.ErrShutdown)
		}
	}
	if moments := kept.moments(); moments != "" || len(notes.ran()) > 0 {
		t.Fatalf("before the plan was approved: %s, ran %s", moments, notes.ran())
	}
	asked := 0
	for e := range New(o).Resume(t.Context(), "c1", "t1") {
		if form, waits := e.Body.(agent.InputAsked); waits {
			asked++
			form.Reply(approved(`{}`))
		}
	}
	if asked != 1 || len(notes.ran()) != 1 {
		t.Errorf("asked %d times, ran %s", asked, notes.ran())
	}
}

func TestApprovePlanIsForPlanMode(t *testing.T) {
	events, shown := approving(t, Options{Session: agenttest.Session{In: agent.LoopMode, Asks: true}, Model: &script{lines: []line{say("Hello!")}}, Tools: tools(search())}, approved(`{}`))
	got := story(t, events)
	if len(shown) > 0 || !strings.Contains(got, "In loop mode calls run or ask") {
		t.Errorf("%d plans shown:\n%s", len(shown), got)
	}
}
