package transcript

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
)

// told is what an assistant did about a question.
type told struct {
	bodies []agent.Body
	lasts  time.Duration  // since the last event
	then   func(t *Model) // what the screen does before keys are pressed; nil: nothing
	keys   []string
}

// TestTranscript keeps one golden a turn, at the height that the transcript has
// of a window of 24 rows.
func TestTranscript(t *testing.T) {
	stories := map[string]func(t *testing.T, width int) boxtest.Box{}
	for name, a := range tales {
		stories[name] = func(_ *testing.T, width int) boxtest.Box {
			const height = 19
			k := draw.DefaultKeys()
			tr := &Model{Chosen: -1}
			drawn := func(width, height int, theme *draw.Theme) []string {
				tr.Restyle(theme)
				tr.Resize(width, height)
				return tr.View()
			}
			tr.Add(&Question{Text: "What's in my notes about running? Also search the web for marathon tips."})
			turn := tr.Begin()
			for _, body := range a.bodies {
				turn.Take(agent.Event{Body: body}, time.Now())
				if _, over := body.(agent.Ended); over {
					turn.Close("", time.Now())
				}
			}
			for beat := range int(a.lasts / beatEvery) {
				time.Sleep(beatEvery)
				turn.Tick(beat+1, time.Now())
			}
			if drawn(width, height, draw.NewTheme("", true, true, nil)); a.then != nil {
				a.then(tr)
			}
			for _, name := range a.keys {
				for _, pressed := range boxtest.Presses(name) {
					if !tr.Press(pressed, &k) {
						tr.PressFocused(pressed, &k)
					}
				}
			}
			return boxtest.Box{Height: height, Fills: true, Draw: drawn}
		}
	}
	boxtest.Boxes(t, stories)
}

const beatEvery = 120 * time.Millisecond

var tales = map[string]told{
	"a team works":            {bodies: teamwork},
	"a team has worked":       {bodies: slices.Concat(teamwork, teamDone)},
	"work of a team unfolded": {bodies: slices.Concat(teamwork, teamDone), keys: []string{"ctrl+o"}},

	"a step runs for long": {bodies: chattest.Story(chattest.Planning, chattest.Searched), lasts: 4 * time.Second},
	"tools are unfolded": {
		bodies: chattest.Story(chattest.Planning, chattest.Searched),
		keys:   []string{"ctrl+o"},
	},
	"the plan is folded": {
		bodies: chattest.Story(chattest.Planning, chattest.Searched),
		keys:   []string{"ctrl+t"},
	},
	"a call tells its progress": {bodies: chattest.Story(chattest.Planning, chattest.Searched,
		[]agent.Body{agent.ToolProgressed{
			Step: "2", Call: "b", Name: "brave_web_search",
			Progress: agent.Progress{Done: 3, Total: 10, Message: "page 3"},
		}})},
	"all states of a step": {bodies: statesOfAStep()},
	"a tool outside a plan": {bodies: []agent.Body{
		agent.ToolStarted{Call: "x", Name: "today", Input: chattest.Raw(`{}`)},
		agent.ToolEnded{Call: "x", Name: "today", Output: "2026-11-21", Took: 3},
		agent.ToolStarted{Call: "y", Name: "calculate", Input: chattest.Raw(`{"expression":"2+2"}`)},
	}},

	"thoughts are unfolded": {bodies: []agent.Body{
		agent.Thought{Content: "The user asks about running."},
		agent.Said{Content: "Hello."},
	}, keys: []string{"ctrl+o"}},
	"workers think": {bodies: slices.Concat(teamwork, thinking)},
	"workers have thought": {
		bodies: slices.Concat(teamwork, thinking, []agent.Body{agent.Ended{}}),
		keys:   []string{"ctrl+o"},
	},
	"what was remembered": {bodies: chattest.Story(chattest.Planning[:2], chattest.Recalled)},
	"a source is previewed": {
		bodies: chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered),
		then:   func(t *Model) { t.ChooseSources() }, keys: []string{"space"},
	},
}

// thinking is workers that think side by side, each in a row of its own.
var thinking = []agent.Body{
	agent.Thought{Agent: "notes", Step: "1", Content: "one two "},
	agent.Thought{Agent: "search", Step: "2", Content: "<b>red</b> "},
	agent.Thought{Agent: "notes", Step: "1", Content: "three"},
	agent.Thought{Agent: "evaluator", Step: "1", Content: "judging"},
	agent.PhaseEnded{Agent: "notes", Step: "1", Attempt: 2},
}

// teamwork is two workers, the first of which tries again.
var teamwork = []agent.Body{
	agent.PlanMade{Mode: agent.TeamMode, Steps: []agent.Step{
		{ID: "1", Tool: "delegate", Input: chattest.Raw(`{"worker_type":"notes","task_description":"Find what the ` +
			`notes say about running.","success_criteria":"x"}`)},
		{ID: "2", Tool: "delegate", Input: chattest.Raw(`{"worker_type":"search","task_description":"Find marathon ` +
			`training tips.","success_criteria":"x"}`)},
	}},
	agent.StepChanged{Step: "1", Status: agent.Running},
	agent.PhaseStarted{Agent: "notes", Step: "1", Attempt: 1},
	agent.StepChanged{Step: "2", Status: agent.Running},
	agent.PhaseStarted{Agent: "search", Step: "2", Attempt: 1},
	agent.PlanMade{
		Mode: agent.TeamMode, Under: "1", Attempt: 1,
		Steps: []agent.Step{{ID: "1.1", Tool: "search_notes", Input: chattest.Raw(`{"query":"running"}`)}},
	},
	agent.PlanMade{
		Mode: agent.TeamMode, Under: "2", Attempt: 1,
		Steps: []agent.Step{{
			ID: "2.1", Tool: "brave_web_search",
			Input: chattest.Raw(`{"query":"marathon training tips"}`),
		}},
	},
	agent.StepChanged{Step: "1.1", Status: agent.Running},
	agent.StepChanged{Step: "2.1", Status: agent.Running},
	agent.StepChanged{Step: "1.1", Status: agent.Done},
	agent.Evaluated{Step: "1", Attempt: 1, Judgement: agent.Judgement{Score: 0.4, Feedback: "It names no days."}},
	agent.PhaseStarted{Agent: "notes", Step: "1", Attempt: 2},
	agent.PlanMade{
		Mode: agent.TeamMode, Under: "1", Attempt: 2,
		Steps: []agent.Step{{ID: "1.2", Tool: "read_note", Input: chattest.Raw(`{"path":"fitness.md"}`)}},
	},
	agent.StepChanged{Step: "1.2", Status: agent.Running},
}

var teamDone = []agent.Body{
	agent.StepChanged{Step: "1.2", Status: agent.Done},
	agent.Evaluated{Step: "1", Attempt: 2, Judgement: agent.Judgement{Passed: true, Score: 0.9}},
	agent.StepChanged{Step: "1", Status: agent.Done},
	agent.StepChanged{Step: "2.1", Status: agent.Done},
	agent.Evaluated{Step: "2", Attempt: 1, Judgement: agent.Judgement{Passed: true, Score: 0.8}},
	agent.StepChanged{Step: "2", Status: agent.Done},
	agent.PhaseStarted{Agent: "explainer"},
	agent.Said{Content: "You run three times a week."},
	agent.Ended{Answer: "You run three times a week."},
}

func statesOfAStep() []agent.Body {
	var made agent.PlanMade
	states := []agent.Status{agent.Pending, agent.Running, agent.Done, agent.StepFailed, agent.Denied, agent.Skipped}
	var changes []agent.Body
	for i, state := range states {
		id := fmt.Sprint(i + 1)
		made.Steps = append(made.Steps, agent.Step{ID: id, Tool: "list_tasks", Description: "state " + string(state)})
		changes = append(changes, agent.StepChanged{
			Step: id, Status: state,
			Reason: map[agent.Status]string{agent.Denied: "not now", agent.StepFailed: "no such note"}[state],
		})
	}
	made.Dropped = []string{"step 9: no tool is called shell"}
	return append([]agent.Body{made}, changes...)
}
