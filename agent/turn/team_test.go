package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

const (
	routed     = `{"reason":"needs the notes","route":true}`
	oneTask    = `{"reasoning":"one search will do","tasks":[{"id":"1","worker_type":"notes","task_description":"Find what the notes say about running.","parameters":{"topic":"running"},"success_criteria":"It names how often."}]}`
	notesFound = "The user runs three times a week (fitness.md:12)."
	accepted   = `{"passed":true,"score":0.9,"feedback":"It names how often."}`
	rejected   = `{"passed":false,"score":0.4,"feedback":"It does not name the days.","suggestions":"Search for the days."}`
)

func TestTeamStories(t *testing.T) {
	look := calling("search_notes", `{"query":"running"}`)
	tests := map[string]struct {
		message string
		lines   []line
		reply   agent.Decision
	}{
		"small talk in one call": {message: "Hello!", lines: []line{say(`{"reason":"a greeting","route":false,"answer":"Hello! What shall we look up?"}`)}},
		"one worker, accepted":   {message: question, lines: []line{say(routed), say(oneTask), look, say(notesFound), say(accepted), say(answer)}},
		"rejected twice, then accepted": {message: question, lines: []line{
			say(routed), say(oneTask), look, say("Three times."), say(rejected),
			calling("search_notes", `{"query":"running days"}`), say("Three times, on Tuesday."), say(`{"passed":false,"score":60,"feedback":"Not all days."}`),
			say(notesFound), say(accepted), say(answer),
		}},
		"rejected three times, so it is partial": {message: question, lines: []line{
			say(routed), say(oneTask), look, say("Three times."), say(rejected), say("Three times, on Tuesday."), say(`{"passed":false,"score":0.6,"feedback":"Not all days."}`),
			say("Three."), say(rejected), say("You run three times a week [1]; the days are not sure."),
		}},
		"a decision that cannot be read": {message: question, lines: []line{
			say(routed), say("The notes worker should look."), say("Sorry."), look, say(notesFound), say(accepted), say(answer),
		}},
		"one decision without a list": {message: question, lines: []line{
			say(routed), say(`{"worker_type":"notes","task_description":"Find what the notes say about running.","success_criteria":"It names how often."}`),
			look, say(notesFound), say(accepted), say(answer),
		}},
		"a worker does not get the tools of another": {message: question, lines: []line{
			say(routed), say(oneTask), calling("brave_web_search", `{"query":"running"}`), look, say(notesFound), say(accepted), say(answer),
		}},
		"a worker without tool calls is told how to print them": {message: question, lines: []line{
			say(routed), say(oneTask),
			{err: &llm.UnsupportedError{Model: "tiny", Capability: "tools"}},
			say(`<tool_call>{"name":"search_notes","arguments":{"query":"running"}}</tool_call>`), say(notesFound), say(accepted), say(answer),
		}},
		"the user says no to a worker": {message: "add a task: buy shoes", reply: agent.Refuse, lines: []line{
			say(routed), say(`{"tasks":[{"worker_type":"notes","task_description":"Add the task: buy shoes","success_criteria":"It was added."}]}`),
			calling("add_task", `{"text":"buy shoes"}`), say("The user said no, so nothing was added."), say(accepted), say("Not added, as you wish."),
		}},
		"without a model there is a plan": {message: question, lines: []line{{err: &llm.UnsupportedError{Model: "offline", Capability: "requests without a task"}}, say(searchStep), say(answer)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			events := collect(New(Options{
				Model: &script{lines: tc.lines}, History: &shelf{}, Tools: tools(search(), web(), addTask()), Now: fixedNow, Mode: inMode(agent.TeamMode),
			}).Ask(t.Context(), "c1", tc.message), always(tc.reply))
			golden.RequireEqual(t, story(t, events))
		})
	}
}

// The loop can hand out a task as well.
func TestTheLoopCanDelegate(t *testing.T) {
	model := &script{lines: []line{
		calling("delegate", `{"worker_type":"notes","task_description":"Find how often the user runs."}`),
		calling("search_notes", `{"query":"running"}`), say(notesFound), say(accepted), say(answer),
	}}
	end := ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(search()), Mode: inMode(agent.LoopMode)}).Ask(t.Context(), "c1", question), nil))
	if end.Answer != answer || len(end.Sources) != 1 || end.ModelCalls != 5 {
		t.Errorf("the end is %+v", end)
	}
	for _, m := range model.requests[len(model.requests)-1].Messages {
		if m.Role == llm.ToolReply && strings.Contains(m.Text, "[1] fitness.md:12") && strings.Contains(m.Text, notesFound) {
			return
		}
	}
	t.Error("the loop does not see report and source")
}

func TestThoughtsBelongToWhoThinks(t *testing.T) {
	thinks := func(l line, what string) line { l.thinking = what; return l }
	model := &script{lines: []line{
		thinks(say(routed), "front"), thinks(say(oneTask), "lead"), thinks(calling("search_notes", `{"query":"running"}`), "search"),
		thinks(say(notesFound), "report"), thinks(say(accepted), "judge"), thinks(say(answer), "answer"),
	}}
	events := collect(New(Options{Model: model, History: &shelf{}, Tools: tools(search()), Mode: inMode(agent.TeamMode)}).Ask(t.Context(), "c1", question), nil)
	want := []agent.Thought{{Agent: "frontline", Step: "", Content: "front"}, {Agent: "lead", Step: "", Content: "lead"}, {Agent: "notes", Step: "1", Content: "search"}, {Agent: "notes", Step: "1", Content: "report"}, {Agent: "evaluator", Step: "1", Content: "judge"}, {Agent: "explainer", Step: "", Content: "answer"}}
	if got := bodies[agent.Thought](events); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// timed is a model that takes a while for each answer.
type timed struct {
	llm.Model
	takes time.Duration
}

func (m timed) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	inner := m.Model.Stream(ctx, req)
	return func(yield func(llm.Delta, error) bool) {
		time.Sleep(m.takes)
		inner(yield)
	}
}

// Two workers and three tools side by side take little longer than the
// slowest branch.
func TestWorkersAndToolsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(name string, takes time.Duration) *fakeTool {
			return &fakeTool{name: name, takes: takes, result: agent.Result{Text: name + " says so"}}
		}
		kit := []agent.Tool{slow("search_notes", 2*time.Second), slow("read_note", 4*time.Second), slow("brave_web_search", 10*time.Second)}
		call := func(pairs ...string) []llm.ToolCall { return calling(pairs...).calls }
		model := llmtest.NewScript(
			llmtest.Answer{Match: "front line", Text: routed},
			llmtest.Answer{Match: "You lead a team", Text: `{"tasks":[{"worker_type":"notes","task_description":"NOTES","success_criteria":"x"},{"worker_type":"search","task_description":"WEB","success_criteria":"x"}]}`},
			llmtest.Answer{Match: "You judge", Text: accepted, Always: true},
			llmtest.Answer{Match: "NOTES", Calls: call("search_notes", `{"query":"a"}`, "read_note", `{"query":"b"}`)},
			llmtest.Answer{Match: "WEB", Calls: call("brave_web_search", `{"query":"c"}`)},
			llmtest.Answer{Match: "search_notes says so", Text: "From the notes."},
			llmtest.Answer{Match: "brave_web_search says so", Text: "From the web."},
			llmtest.Answer{Text: answer},
		)
		const think = 100 * time.Millisecond
		start := time.Now()
		events := collect(New(Options{Model: timed{model, think}, History: &shelf{}, Tools: tools(kit...), Mode: inMode(agent.TeamMode)}).Ask(t.Context(), "c1", question), nil)
		took := time.Since(start)
		ended(t, events)
		slowest := 10*time.Second + 6*think // front line, lead, two rounds of the web worker, verdict, answer
		if took > slowest*115/100 {
			t.Errorf("it took %s, the slowest branch %s", took, slowest)
		}
		t.Logf("it took %s, the slowest branch %s", took, slowest)
	})
}

// Workers share the limits of the turn.
func TestWorkersHaveNoMoreStepsThanTheTurn(t *testing.T) {
	model := &endless{}
	tool := search()
	ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(tool), Mode: inMode(agent.TeamMode)}).Ask(t.Context(), "c1", question), nil))
	if n := len(tool.ran()); n > maxTurnSteps-1 {
		t.Errorf("%d calls", n)
	}
}

// endless is a team that always calls eight tools more.
type endless struct {
	mu sync.Mutex
	n  int
}

func (m *endless) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	var l line
	switch system := req.Messages[0].Text; {
	case strings.Contains(system, "front line"):
		l = say(routed)
	case strings.Contains(system, "You lead a team"):
		l = say(oneTask)
	case strings.Contains(system, "You judge"):
		l = say(rejected)
	case len(req.Tools) > 0:
		for range 8 {
			m.n++
			l.calls = append(l.calls, llm.ToolCall{Name: "search_notes", Args: json.RawMessage(fmt.Sprintf(`{"query":"%d"}`, m.n))})
		}
	default:
		l = say("That is all.")
	}
	return (&script{lines: []line{l}}).Stream(context.Background(), req)
}

// A team cut after each moment is resumed: nothing that ended runs again,
// and no attempt that was judged is made or judged again.
func TestATeamThatWasCutIsGoneOnWith(t *testing.T) {
	verdicts := []string{rejected, accepted}
	answers := func(judged int) *llmtest.Script {
		list := []llmtest.Answer{{Match: "front line", Text: routed}, {Match: "You lead a team", Text: oneTask}}
		for _, verdict := range verdicts[judged:] {
			list = append(list, llmtest.Answer{Match: "You judge", Text: verdict})
		}
		return llmtest.NewScript(append(list,
			llmtest.Answer{Match: "Search for the days", Calls: calling("search_notes", `{"query":"days"}`).calls},
			llmtest.Answer{Match: "Three times a week: Tue", Text: answer, Always: true},
			llmtest.Answer{Match: "Find what", Calls: calling("add_task", `{"text":"run"}`, "search_notes", `{"query":"running"}`).calls},
			llmtest.Answer{Text: answer, Always: true},
		)...)
	}
	asked := func(model llm.Model, who string) (n int) {
		for _, request := range model.(*llmtest.Script).Requests() {
			if strings.Contains(request.Messages[0].Text, who) {
				n++
			}
		}
		return n
	}
	for cut := 1; cut <= 21; cut++ {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			notes, task := search(), addTask()
			o := Options{Tools: tools(reader{notes}, task), Parallel: 1, Mode: inMode(agent.TeamMode), Model: answers(0)}
			kept := cutAt(t, cut, o)
			over := map[string]bool{}
			judged := 0
			for _, e := range kept.entries {
				over[e.Step] = over[e.Step] || e.Moment == agent.CallEnded
				if e.Moment == agent.Judged {
					judged++
				}
			}
			made, searched := len(task.ran()), len(notes.ran())
			o.Model = answers(judged)
			events := resume(t, kept, o, func(p agent.PermissionAsked) agent.Reply {
				if p.Unknown {
					return agent.Reply{Decision: agent.AlreadyDone}
				}
				return agent.Reply{Decision: agent.AllowOnce}
			})
			if end := ended(t, events); end.Answer != answer {
				t.Errorf("the answer is %q", end.Answer)
			}
			if over["1.1"] && len(task.ran()) > made || len(task.ran()) > 1 {
				t.Errorf("the task was made %d times, %d before", len(task.ran()), made)
			}
			for _, again := range notes.ran()[searched:] {
				if again == `{"query":"running"}` && over["1.2"] || again == `{"query":"days"}` && over["1.3"] {
					t.Errorf("%s had ended and ran again", again)
				}
			}
			if n := asked(o.Model, "You judge"); n != len(verdicts)-judged {
				t.Errorf("judged %d times, after %d verdicts that were kept", n, judged)
			}
			if judged == len(verdicts) && asked(o.Model, "You are a member") > 0 {
				t.Error("a worker that was accepted works again")
			}
			told := bodies[agent.Evaluated](events)
			if !over["1"] && (len(told) != 2 || told[0].Passed || !told[1].Passed) {
				t.Errorf("the user is told of the verdicts %+v", told)
			}
		})
	}
}

func TestJudgementsAreReadAsModelsWriteThem(t *testing.T) {
	tests := map[string]struct {
		text string
		want agent.Judgement
		bad  bool
	}{
		"plain":        {text: accepted, want: agent.Judgement{Passed: true, Score: 0.9, Feedback: "It names how often."}},
		"of ten":       {text: `{"passed":false,"score":7,"feedback":"x"}`, want: agent.Judgement{Score: 0.7, Feedback: "x"}},
		"of a hundred": {text: "```json\n{\"passed\":true,\"score\":85}\n```", want: agent.Judgement{Passed: true, Score: 0.85}},
		"no score":     {text: `{"passed":true}`, want: agent.Judgement{Passed: true, Score: 1}},
		"a list":       {text: `{"passed":false,"score":0,"suggestions":["a","b"]}`, want: agent.Judgement{Suggestions: "a; b"}},
		"no verdict":   {text: `{"score":1}`, bad: true},
		"prose":        {text: `It passed.`, bad: true},
		"below zero":   {text: `{"passed":false,"score":-3}`, want: agent.Judgement{}},
		"a fraction":   {text: `{"passed":false,"score":"7/10"}`, bad: true},
		"a word":       {text: `{"passed":"yes","score":1}`, bad: true},
		"after prose":  {text: `The worker {did} well. {"passed":true,"score":0.8}`, want: agent.Judgement{Passed: true, Score: 0.8}},
		"in an object": {text: `{"evaluation":{"passed":true,"score":0.7}}`, bad: true},
		"of Python":    {text: `{'Passed': True, 'Score': 0.7, 'Feedback': None}`, want: agent.Judgement{Passed: true, Score: 0.7}},
		"two lines":    {text: "{\"passed\":false,\"score\":0.5,\"feedback\":\"more\ndays\",}", want: agent.Judgement{Score: 0.5, Feedback: "more\ndays"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readJudgement(tc.text)
			if got != tc.want || (err != nil) != tc.bad {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestDelegationsAreReadAsLeadsWriteThem(t *testing.T) {
	const want = `1 {"worker_type":"notes","task_description":"T","success_criteria":"C"}`
	for name, tc := range map[string]struct{ text, want string }{
		"a plan":                     {`{"reasoning":"r","tasks":[{"id":"1","worker_type":"notes","task_description":"T","success_criteria":"C"}]}`, want},
		"one":                        {`{"worker_type":"notes","task_description":"T","success_criteria":"C"}`, want},
		"after prose":                {`I hand it {out}: {"tasks":[{"id":1,"worker_type":"notes","task_description":"T","success_criteria":"C"}]}`, want},
		"a worker that is not there": {`{"tasks":[{"worker_type":"wizard","task_description":"T"}]}`, `1 {"worker_type":"wizard","task_description":"T"}`},
		"no task":                    {`{"tasks":[{"worker_type":"notes","task_description":" "}]}`, "task 1: it has no description"},
		"prose":                      {`The notes worker should look [1].`, "it holds no JSON object"},
		"a text for the tasks":       {`{"tasks":"notes: look"}`, "it does not have the shape asked for"},
		"no object":                  {`{"tasks":["look"]}`, "it does not have the shape asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			drafts, _, err := readDelegations(tc.text)
			var lines []string
			for _, d := range drafts {
				lines = append(lines, d.ID+" "+string(d.Input))
			}
			if err != nil {
				lines = append(lines, err.Error())
			}
			if got := strings.Join(lines, "\n"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What the members of a team say that cannot be used costs the user neither
// the answer nor the truth about it.
func TestATeamWhoseMembersSayOddThings(t *testing.T) {
	look, twice := calling("search_notes", `{"query":"running"}`), say(strings.Repeat("round ", 10))
	cut := line{text: "round and round ", err: fmt.Errorf("%w: it said the same again and again", llm.ErrCut)}
	const two = `{"tasks":[{"worker_type":"notes","task_description":"A","success_criteria":"C"},{"worker_type":"wizard","task_description":"B"}]}`
	for name, tc := range map[string]struct {
		lines   []line
		tells   string // a notice
		missing string // what the explainer is told
	}{
		"an evaluator that cannot be read":     {lines: []line{say(routed), say(oneTask), look, say(notesFound), twice, twice, say(answer)}, tells: "Nobody judged the notes worker's result (step 1)"},
		"an evaluator that goes in circles":    {lines: []line{say(routed), say(oneTask), look, say(notesFound), cut, cut, say(answer)}, tells: "Nobody judged the notes worker's result (step 1)"},
		"a worker that goes in circles":        {lines: []line{say(routed), say(oneTask), look, cut, say(rejected), say(notesFound), say(accepted), say(answer)}},
		"a lead that goes in circles":          {lines: []line{say(routed), cut, cut, look, say(notesFound), say(accepted), say(answer)}},
		"a front line that goes in circles":    {lines: []line{cut, say(oneTask), look, say(notesFound), say(accepted), say(answer)}},
		"an answer ahead of the route":         {lines: []line{say(`{"answer":"I know it.","route":true}`), say(oneTask), look, say(notesFound), say(accepted), say(answer)}},
		"a worker that is not there, mended":   {lines: []line{say(routed), say(two), say(oneTask), look, say(notesFound), say(accepted), say(answer)}},
		"a worker that is not there, insisted": {lines: []line{say(routed), say(two), say(two), look, say(notesFound), say(accepted), say(answer)}, missing: "step 2"},
		"no worker that is there":              {lines: []line{say(routed), say(`{"worker_type":"wizard","task_description":"B"}`), say("Sorry."), look, say(notesFound), say(accepted), say(answer)}},
	} {
		t.Run(name, func(t *testing.T) {
			model := &script{lines: tc.lines}
			events := collect(New(Options{Model: model, History: &shelf{}, Tools: tools(search()), Mode: inMode(agent.TeamMode)}).Ask(t.Context(), "c1", question), nil)
			if end := ended(t, events); end.Answer != answer || len(end.Sources) != 1 {
				t.Errorf("the end is %+v", end)
			}
			told := ""
			for _, n := range bodies[agent.Noticed](events) {
				told += n.Text
			}
			if tc.tells == "" && told != "" || !strings.Contains(told, tc.tells) {
				t.Errorf("the user is told %q", told)
			}
			asked := model.requests[len(model.requests)-1].Messages
			if last := asked[len(asked)-1].Text; !strings.Contains(last, tc.missing) {
				t.Errorf("the explainer is asked\n%s", last)
			}
			for _, e := range bodies[agent.Evaluated](events) {
				if e.Unjudged != (tc.tells != "") {
					t.Errorf("the verdict is %+v", e)
				}
			}
		})
	}
}
