package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent/agenttest"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// unchanged and withoutNotes are the last lines of a turn that did not do what it should have, and of one
// that answered from what the model knows.
var (
	unchanged    = agent.Effects{{Kind: agent.Unchanged}}.String()
	withoutNotes = agent.Effects{{Kind: agent.WithoutNotes}}.String()
)

func TestEffectsAreOneLine(t *testing.T) {
	note := func(path string, added, removed int) agent.Effect {
		return agent.Effect{Kind: agent.NoteChanged, Path: path, Lines: &agent.Lines{Added: added, Removed: removed}}
	}
	sent := func(tool, host string) agent.Effect {
		return agent.Effect{Kind: agent.RequestSent, Tool: tool, Host: host, Count: 1}
	}
	for want, effects := range map[string][]agent.Effect{
		"changed nothing": nil,
		"changed nothing · 2 searches sent to duckduckgo.com": {sent(agent.WebSearch,
			"duckduckgo.com"), sent(agent.WebSearch, "duckduckgo.com")},
		"changed nothing · 1 search and 2 requests sent to duckduckgo.com, a.org": {
			sent("web_fetch", "a.org"),
			sent(agent.WebSearch, "duckduckgo.com"), sent("web_fetch", "a.org"),
		},
		"changed nothing · 5 requests sent to a, b, c and 2 more": {
			sent("crawl", "a"),
			sent("crawl", "b"), sent("crawl", "c"), sent("crawl", "d"), sent("crawl", "e"),
		},
		"changed plan.md (-2), tasks.md (+3 -1) · 1 search sent to d.com": {
			sent(agent.WebSearch, "d.com"),
			note("tasks.md", 1, 0), note("plan.md", 0, 2), note("tasks.md", 2, 1),
		},
		"changed memory.md (+1) · saved trip, version 3": {
			{
				Kind: agent.ArtifactSaved,
				Name: "trip", Version: 2,
			},
			{Kind: agent.MemoryChanged, Path: "memory.md", Lines: &agent.Lines{Added: 1}},
			{Kind: agent.ArtifactSaved, Name: "trip", Version: 3},
		},
		"2 mails sent to a@x.org, b@x.org": {{
			Kind: agent.MailSent,
			To:   []string{"a@x.org"}, Count: 1,
		}, {Kind: agent.MailSent, To: []string{"b@x.org", "a@x.org"}, Count: 1}},
		"called files_write (files) 2 times · add_task: outcome unknown": {
			{
				Kind: agent.Unknown,
				Tool: "add_task",
			},
			{Kind: agent.ToolCalled, Tool: "files_write", Server: "files", Count: 1},
			{Kind: agent.ToolCalled, Tool: "files_write", Server: "files", Count: 1},
		},
	} {
		if got := agent.Sum(effects).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := agent.Effects(nil).String(); got != "" {
		t.Errorf("effects that are not known read %q", got)
	}
	raw, err := json.Marshal(agent.Sum([]agent.Effect{
		note("tasks.md", 1, 0),
		{Kind: agent.MailSent, To: []string{"a@x.org"}, Count: 1},
	}))
	const want = `[{"kind":"note","path":"tasks.md","added":1,"removed":0},{"kind":"mail","to":["a@x.org"],"count":1}]`
	if err != nil || string(raw) != want {
		t.Errorf("got %s, %v; want %s", raw, err, want)
	}
}

// What the model claims does not change what a turn reports to have done.
func TestTurnEndsWithItsEffects(t *testing.T) {
	const said = "I have sent the email to Bob and added the task to tasks.md."
	changed := agent.Effect{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}
	asked := agent.Effect{Kind: agent.RequestSent, Host: "duckduckgo.com", Count: 1}
	tool := func(change func(*fakeTool)) *fakeTool {
		f := &fakeTool{
			name: "add_task", level: agent.Confirm, schema: `{"type":"object"}`,
			result: agent.Result{Text: "I sent a mail to Bob."},
		}
		change(f)
		return f
	}
	once := `{"steps":[{"id":"1","tool":"add_task","input":{}}]}`
	for name, tc := range map[string]struct {
		plan  string
		tool  *fakeTool
		reply agent.Decision
		want  string
	}{
		"no call": {
			plan: `{"steps":[],"answer":"` + said + `"}`, tool: tool(func(*fakeTool) {}),
			want: "changed nothing",
		},
		"a call that says what": {
			tool:  tool(func(f *fakeTool) { f.does = []agent.Effect{changed} }),
			reply: agent.AllowOnce, want: "changed tasks.md (+1)",
		},
		"a call that says nothing": {
			tool: tool(func(*fakeTool) {}), reply: agent.AllowOnce,
			want: "called add_task",
		},
		"one that was not allowed": {
			tool:  tool(func(f *fakeTool) { f.does = []agent.Effect{changed} }),
			reply: agent.Refuse, want: unchanged,
		},
		"one that failed": {
			tool:  tool(func(f *fakeTool) { f.err = errors.New("disk full") }),
			reply: agent.AllowOnce, want: "add_task: outcome unknown",
		},
		"one that broke": {
			tool: tool(func(f *fakeTool) { f.panics = true }), reply: agent.AllowOnce,
			want: "add_task: outcome unknown",
		},
		"one that did, then failed": {tool: tool(func(f *fakeTool) {
			f.does, f.err = []agent.Effect{changed},
				errors.New("disk full")
		}), reply: agent.AllowOnce, want: "changed tasks.md (+1)"},
		"one that failed before": {tool: tool(func(f *fakeTool) {
			f.err = fmt.Errorf("add: %w", agent.NothingDone{Err: errors.New("no such note")})
		}), reply: agent.AllowOnce, want: unchanged},
		"one that reads": {
			tool: tool(func(f *fakeTool) { f.reads = true }), reply: agent.AllowOnce,
			want: "changed nothing",
		},
		"one that reads and fails": {
			tool:  tool(func(f *fakeTool) { f.reads, f.err = true, errors.New("gone") }),
			reply: agent.AllowOnce, want: "changed nothing",
		},
		"one that asks a server": {
			tool: tool(func(f *fakeTool) {
				f.reads, f.does = true,
					[]agent.Effect{asked}
			}), reply: agent.AllowOnce,
			want: "changed nothing · 1 request sent to duckduckgo.com",
		},
		"one that asks and then fails": {
			tool: tool(func(f *fakeTool) {
				f.reads, f.does, f.err = true,
					[]agent.Effect{asked}, errors.New("no network")
			}), reply: agent.AllowOnce,
			want: "changed nothing · 1 request sent to duckduckgo.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := tc.plan
			if plan == "" {
				plan = once
			}
			kept := &shelf{}
			a := New(Options{
				Workers: workers, Model: &script{lines: []line{say(plan), say(said)}},
				History: kept, Tools: tools(tc.tool),
			})
			end := ended(t, collect(a.Ask(t.Context(), "c", "mail Bob"), always(tc.reply)))
			if got := end.Effects.String(); got != tc.want || kept.last().Effects.String() != tc.want {
				t.Errorf("the turn did %q, and saved is %q; want %q", got, kept.last().Effects, tc.want)
			}
		})
	}
}

// A stopped call may have happened, and a failing model does not undo anything.
func TestFailedTurnReportsItsEffects(t *testing.T) {
	slow := &fakeTool{name: "add_task", schema: `{"type":"object"}`, takes: time.Hour}
	ctx, cancel := contextWithCancel(t)
	a := New(Options{Workers: workers, Model: &script{lines: []line{say(`{"steps":[{"id":"1","tool":"add_task",` +
		`"input":{}}]}`)}}, History: &shelf{}, Tools: tools(slow)})
	for e := range a.Ask(ctx, "c", "do") {
		switch b := e.Body.(type) {
		case agent.ToolStarted:
			cancel()
		case agent.Ended:
			if got := b.Effects.String(); got != "add_task: outcome unknown" || !b.Interrupted {
				t.Errorf("stopped: %q", got)
			}
		}
	}
	done := &fakeTool{
		name: "add_task", schema: `{"type":"object"}`,
		does: []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
	}
	a = New(Options{Workers: workers, Model: &script{lines: []line{say(`{"steps":[{"id":"1","tool":"add_task",` +
		`"input":{}}]}`), {err: errors.New("gone")}}}, History: &shelf{}, Tools: tools(done)})
	failures := bodies[agent.Failed](collect(a.Ask(t.Context(), "c", "do"), nil))
	if len(failures) != 1 || failures[0].Effects.String() != "changed tasks.md (+1)" {
		t.Errorf("failed: %+v", failures)
	}
}

// Effects of workers and rounds count too.
func TestAllModesReportTheirEffects(t *testing.T) {
	add := &fakeTool{
		name: "add_task", schema: `{"type":"object"}`,
		does: []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
	}
	for mode, lines := range map[agent.Mode][]line{
		agent.LoopMode: {calling("add_task", `{"n":1}`), calling("add_task", `{"n":2}`), say("Done.")},
		agent.TeamMode: {
			calling("delegate", `{"worker_type":"general","task_description":"add it","success_criteria":"it is there"}`),
			calling("add_task", `{"n":1}`), calling("add_task", `{"n":2}`), say("Added."),
			say(`{"passed":true,"score":1,"feedback":"","suggestions":""}`), say("Done."),
		},
	} {
		events := collect(New(Options{
			Workers: workers, Model: &script{lines: lines}, History: &shelf{},
			Tools: tools(add), Session: inMode(mode),
		}).Ask(t.Context(), "c", "do it"), nil)
		if got := ended(t, events).Effects.String(); got != "changed tasks.md (+2)" {
			t.Errorf("mode %s: %q", mode, got)
		}
	}
}

// A resumed turn also reports what it did before it was interrupted.
func TestResumedTurnReportsEarlierEffects(t *testing.T) {
	input := []byte(`{"text":"buy shoes"}`)
	call := func(step string, more ...agent.Entry) []agent.Entry {
		entries := []agent.Entry{{
			Version: 1, Moment: agent.Intended, Step: step, Tool: "add_task", Input: input,
			Hash: gate.Hash(input),
		}, {Version: 1, Moment: agent.CallStarted, Step: step, Time: fixedNow()}}
		return append(entries, more...)
	}
	did := []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}}
	planned := agent.Entry{
		Version: 1, Moment: agent.Planned,
		Plan: &agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "add_task", Input: input}}},
	}
	over := agent.Entry{
		Version: 1, Moment: agent.CallEnded, Step: "1", Status: agent.Done,
		Result: &agent.Result{Text: "added"}, Effects: did,
	}
	declined := []agent.Entry{
		{Version: 1, Moment: agent.CallAsked, Step: "1"},
		{Version: 1, Moment: agent.Decided, Step: "1", Decision: agent.Refuse},
	}
	for name, tc := range map[string]struct {
		entries []agent.Entry
		want    string
	}{
		"it was not made again, and cut": {
			append([]agent.Entry{planned}, call("1", declined...)...),
			"add_task: outcome unknown",
		},
		"it had ended": {append([]agent.Entry{planned}, call("1", over)...), "changed tasks.md (+1)"},
		"another had begun as well": {
			append(append([]agent.Entry{planned}, call("1", over)...), call("9")...),
			"changed tasks.md (+1) · add_task: outcome unknown",
		},
	} {
		events := resume(t, &ledger{question: question, entries: tc.entries},
			Options{Workers: workers, Model: &script{lines: []line{say("Done.")}}, Tools: tools(addTask())}, nil)
		if got := ended(t, events).Effects.String(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A change that was planned or attempted, and did not happen, is reported.
func TestChangeThatDidNotHappenIsReported(t *testing.T) {
	warning := unchanged
	wrote := func(err error) *fakeTool {
		task := addTask()
		if task.err = err; err == nil {
			task.does = []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}}
		}
		return task
	}
	gone := agent.NothingDone{Err: errors.New("the note is gone")}
	dropped := `{"reasoning":"","steps":[{"id":"1","tool":"add_task","input":{"n":1}}]}`
	afterSearch := `{"reasoning":"","steps":[{"id":"1","tool":"search_notes","input":{"query":"shoes"}},{"id":"2",` +
		`"tool":"add_task","input":{"text":"{{1.text}}"},"after":["1"]}]}`
	both := `{"reasoning":"","steps":[{"id":"1","tool":"add_task","input":{"text":"a"}},{"id":"2",` +
		`"tool":"append_note","input":{}}]}`
	mail := `{"reasoning":"","steps":[{"id":"1","tool":"send_email","input":{"to":"Ana"}}]}`
	for name, tc := range map[string]struct {
		mode  agent.Mode
		task  *fakeTool
		lines []line
		reply agent.Decision
		want  string
	}{
		"plan, refused": {
			task: wrote(nil), reply: agent.Refuse,
			lines: []line{say(taskStep), say("I have added it.")}, want: warning,
		},
		"plan, failed": {
			task: wrote(gone), reply: agent.AllowOnce,
			lines: []line{say(taskStep), say("I have added it.")}, want: warning,
		},
		"plan, dropped": {
			task: wrote(nil), lines: []line{say(dropped), say(dropped), say("I have added it.")},
			want: warning,
		},
		"plan, never called": {
			task: wrote(nil), lines: []line{say(afterSearch), say("I have added it.")},
			want: warning,
		},
		"plan, a missing tool": {
			task: wrote(nil), lines: []line{say(mail), say(mail), say("I have mailed Ana.")},
			want: warning,
		},
		"plan, it happened": {
			task: wrote(nil), reply: agent.AllowOnce,
			lines: []line{say(taskStep), say("I have added it.")}, want: "changed tasks.md (+1)",
		},
		"plan, one of two": {
			task: wrote(nil), reply: agent.AllowOnce,
			lines: []line{say(both), say(both), say("I have added it.")}, want: "changed tasks.md (+1)",
		},
		"plan, unknown": {
			task: wrote(errors.New("disk full")), reply: agent.AllowOnce,
			lines: []line{say(taskStep), say("I have added it.")}, want: "add_task: outcome unknown",
		},
		"plan, nothing to write": {
			task: wrote(nil), lines: []line{say(searchStep), say("The notes say nothing.")},
			want: "changed nothing",
		},
		"loop, refused": {
			mode: agent.LoopMode, task: wrote(nil), reply: agent.Refuse,
			lines: []line{calling("add_task", `{"text":"a"}`), say("Added.")}, want: warning,
		},
		"loop, invalid": {
			mode: agent.LoopMode, task: wrote(nil),
			lines: []line{calling("add_task", `{"n":1}`), say("Added.")}, want: warning,
		},
		"loop, it happened": {
			mode: agent.LoopMode, task: wrote(nil), reply: agent.AllowOnce,
			lines: []line{calling("add_task", `{"n":1}`), calling("add_task", `{"text":"a"}`), say("Added.")},
			want:  "changed tasks.md (+1)",
		},
		"team, refused": {mode: agent.TeamMode, task: wrote(nil), reply: agent.Refuse, lines: []line{
			calling("delegate", `{"worker_type":"notes","task_description":"Add the task: buy shoes",`+
				`"success_criteria":"It was added."}`),
			calling("add_task", `{"text":"buy shoes"}`), say("It was added."), say(accepted), say("It was added."),
		}, want: warning},
	} {
		t.Run(name, func(t *testing.T) {
			broken := &fakeTool{name: "search_notes", reads: true, err: errors.New("the index is locked")}
			kept := &shelf{}
			events := collect(New(Options{
				Workers: workers,
				Model:   &script{lines: tc.lines}, History: kept, Now: fixedNow, Session: inMode(tc.mode),
				Tools: agenttest.Kit{
					List:  []agent.Tool{broken, tc.task},
					Lacks: map[string]string{"send_email": "no mail server is set"}, Loses: "send_email",
				},
			}).Ask(t.Context(), "c1", "add a task: buy shoes"), always(tc.reply))
			if end := ended(t, events); end.Effects.String() != tc.want || kept.last().Effects.String() != tc.want {
				t.Errorf("the turn did %q, and saved is %q", end.Effects, kept.last().Effects)
			}
			golden.RequireEqual(t, story(t, events))
		})
	}
}

// A tool of a server changes something if it says so.
func TestOnlyKnownWritersWarn(t *testing.T) {
	yes, no := true, false
	for name, tc := range map[string]struct {
		hint *bool
		want string
	}{
		"it says that it reads": {&yes, "changed nothing"}, "it says that it writes": {&no, unchanged},
		"it does not say": {nil, "changed nothing"},
	} {
		tool := hinted{&fakeTool{name: "their_tool", level: agent.Confirm, schema: `{"type":"object"}`}, tc.hint}
		a := New(Options{Workers: workers, Model: &script{lines: []line{say(`{"steps":[{"id":"1","tool":"their_tool",` +
			`"input":{}}]}`), say("Done.")}}, History: &shelf{}, Tools: tools(tool)})
		if got := ended(t, collect(a.Ask(t.Context(), "c1", "do it"),
			always(agent.Refuse))).Effects.String(); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The prompt of every mode has what each turn did at the beginning of the user's next
// message, whatever the answer says, and never in a message of the model. There it reads
// the same in all later prompts, so that a server can cache them.
func TestModelSeesEffectsOfEarlierTurns(t *testing.T) {
	added := agent.Effects{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}}
	searched := agent.Effects{{Kind: agent.RequestSent, Tool: agent.WebSearch, Host: "example.org", Count: 2}}
	path := []agent.Exchange{
		{Question: "add milk", Answer: agent.Answer{Text: "Added.", Effects: slices.Concat(added, searched)}},
		{Question: "add bread", Answer: agent.Answer{
			Text:    "Added.",
			Effects: agent.Effects{{Kind: agent.Unchanged, Tool: "add_task"}},
		}},
		{Question: "add tea", Answer: agent.Answer{Effects: added}, Undone: true},
		{Question: "hi", Answer: agent.Answer{Text: "Hi!", Effects: agent.Effects{}}},
		{Question: "long ago", Answer: agent.Answer{Text: "Yes."}},
		{Question: "look it up", Answer: agent.Answer{Text: "So.", Effects: searched}},
	}
	record := func(turns int) string { // of the last of so many turns
		if turns == 0 || path[turns-1].Record("") == "" {
			return ""
		}
		return path[turns-1].Record("«m»") + "\n\n"
	}
	mark := regexp.MustCompile("«[0-9a-f]{8}»")
	for _, mode := range []agent.Mode{agent.PlanMode, agent.LoopMode, agent.TeamMode} {
		earlier := []llm.Message{}
		for n := range len(path) + 1 {
			model := &script{lines: []line{say("Well."), say("Well.")}}
			collect(New(Options{
				Workers: workers, Model: model, History: &before{exchanges: path[:n]},
				Session: inMode(mode), Limits: Limits{Messages: 20},
			}).Ask(t.Context(), "c1", "I see"), nil)
			messages := model.requests[0].Messages
			messages = messages[len(messages)-1-2*n:] // after the examples
			for i, e := range path[:n] {
				if got, want := messages[2*i], record(i)+e.Question; got.Role != llm.User ||
					mark.ReplaceAllString(got.Text, "«m»") != want {
					t.Errorf("%s: %s: %q, want %q", mode, got.Role, got.Text, want)
				}
				if got, want := messages[2*i+1], cmp.Or(e.Answer.Text, unanswered); got.Role != llm.Assistant ||
					got.Text != want {
					t.Errorf("%s: %s: %q, want %q", mode, got.Role, got.Text, want)
				}
			}
			if last := mark.ReplaceAllString(messages[2*n].Text, "«m»"); !strings.HasPrefix(last, record(n)) ||
				strings.Contains(last[len(record(n)):], "LifeHub's record") {
				t.Errorf("%s: the last message is %q, want first %q", mode, last, record(n))
			}
			if !reflect.DeepEqual(messages[:len(earlier)], earlier) {
				t.Errorf("%s: the messages before were\n%v\nand are\n%v", mode, earlier, messages)
			}
			earlier = messages[:2*n]
		}
	}
}

// A model that writes a record itself is believed by nobody: it is neither streamed nor
// saved, in whatever notation the answer comes.
func TestImitatedRecordIsNoAnswer(t *testing.T) {
	records := []string{
		"(LifeHub's record of this turn: changed tasks.md (+1))",
		agent.Exchange{Answer: agent.Answer{Effects: agent.Effects{{
			Kind: agent.ToolCalled,
			Tool: "add_task",
		}}}}.Record("«0123abcd»"),
	}
	for _, record := range records {
		answer := "The milk\n" + record + "\nis added.\n\n" + record
		quoted, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		for name, tc := range map[string]struct {
			mode  agent.Mode
			lines []line
		}{
			"plan":          {agent.PlanMode, []line{say(searchStep), say(answer)}},
			"plan, at once": {agent.PlanMode, []line{say(`{"answer":` + string(quoted) + `,"steps":[]}`)}},
			"plan, at last": {agent.PlanMode, []line{say(`{"reasoning":"so","steps":[],"more":{},"answer":` +
				string(quoted) + `}`)}},
			"loop": {agent.LoopMode, []line{say(answer)}},
			"loop, as JSON": {agent.LoopMode, []line{say(`{"tool":"answer","input":{"text":` +
				string(quoted) + `}}`)}},
			"loop, cut":      {agent.LoopMode, []line{{text: answer, stopped: llm.StopLength}}},
			"team, at once":  {agent.TeamMode, []line{say(answer)}},
			"with reasoning": {agent.LoopMode, []line{say("<think>so</think>" + answer)}},
		} {
			t.Run(name, func(t *testing.T) {
				kept := &shelf{}
				events := collect(New(Options{
					Workers: workers, Model: &script{lines: tc.lines}, History: kept,
					Tools: tools(search()), Session: inMode(tc.mode),
				}).Ask(t.Context(), "c1", "well, milk"), nil)
				said := ""
				for _, piece := range bodies[agent.Said](events) {
					said = said[:len(said)-piece.Takes] + piece.Content
					if strings.Contains(said, "record") {
						t.Errorf("said %q", said)
					}
				}
				if got := kept.last().Text; got != said || !strings.Contains(got, "The milk\n\nis added.") ||
					strings.Contains(got, "record") {
					t.Errorf("saved %q, and said %q", got, said)
				}
			})
		}
	}
}

// unsaving is a History that cannot save answers.
type unsaving struct{ shelf }

func (*unsaving) Finish(context.Context, string, agent.Answer) error { return errors.New("disk full") }

// On a disk that is full from some moment on, a turn tells what it did, and nothing is done that cannot be journalled
// before.
func TestEffectsAreToldThoughNothingCanBeSaved(t *testing.T) {
	for _, moment := range []agent.Moment{
		agent.Planned, agent.Intended, agent.CallStarted,
		agent.CallEnded, "the end",
	} {
		tool := &fakeTool{
			name: "add_task", schema: `{"type":"object"}`, result: agent.Result{Text: "added"},
			does: []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
		}
		a := New(Options{
			Workers: workers, History: &unsaving{},
			Journal: &ledger{fail: errors.New("disk full"), failAt: moment}, Model: &script{}, Tools: tools(tool),
		})
		step := agent.Step{Tool: "add_task", Input: json.RawMessage(`{}`)}
		events := collect(a.Call(t.Context(), "c1", "add milk", step), always(agent.AllowOnce))
		failed, ok := events[len(events)-1].Body.(agent.Failed)
		if !ok || !strings.Contains(failed.Message, "disk full") {
			t.Fatalf("%s: the last event is %#v", moment, events[len(events)-1].Body)
		}
		done := moment == agent.CallEnded || moment == "the end"
		if ran := len(tool.ran()) > 0; ran != done {
			t.Errorf("%s: run %v", moment, ran)
		}
		var unsaved *agent.UnsavedError
		told := errors.As(failed.Err, &unsaved) && strings.HasPrefix(unsaved.Error(), "changed tasks.md (+1); ")
		if told != done || failed.Effects.Warns() == done {
			t.Errorf("%s: told is %v, and %q", moment, failed.Err, failed.Effects)
		}
	}
}

// noteTool is a built-in tool that changes a note.
type noteTool struct{ *fakeTool }

func (n noteTool) Prepare(context.Context, json.RawMessage) (agent.Change, error) { return n, nil }
func (n noteTool) Preview() agent.Preview                                         { return agent.Preview{Path: "tasks.md"} }

func (n noteTool) Mark(context.Context) (json.RawMessage, error) { return nil, nil }

func (n noteTool) Apply(ctx context.Context) (agent.Result, error) {
	return n.Run(ctx, nil)
}

// A turn that only wrote is reported from the results of its calls, without the model;
// if there is something to explain, the model explains it.
func TestWriteOnlyTurnIsReportedWithoutTheModel(t *testing.T) {
	const add, look, unknown = `{"id":"1","tool":"add_task","input":{"text":"milk"}}`,
		`{"id":"2","tool":"search_notes","input":{"query":"milk"}}`, `{"id":"2","tool":"fly","input":{}}`
	for name, tc := range map[string]struct {
		steps  string
		reply  agent.Decision
		fails  error
		answer string
	}{
		"written":            {steps: add, answer: "added to tasks.md:7: milk"},
		"declined":           {steps: add, reply: agent.Refuse, answer: "You declined `add_task`."},
		"failed":             {steps: add, fails: errFake("no disk left"), answer: "The model's words."},
		"something was read": {steps: add + "," + look, answer: "The model's words."},
		"something is left":  {steps: add + "," + unknown, answer: "The model's words."},
	} {
		t.Run(name, func(t *testing.T) {
			task := noteTool{&fakeTool{
				name: "add_task", level: agent.Confirm, schema: `{"type":"object"}`,
				result: agent.Result{Text: "added to tasks.md:7: milk"}, err: tc.fails,
			}}
			model := byTask{plan: `{"steps":[` + tc.steps + `]}`, answer: "The model's words."}
			events := collect(New(Options{
				Workers: workers, Model: model, History: &shelf{},
				Tools: tools(task, search()), Limits: Limits{Replans: -1},
			}).Ask(t.Context(), "c1", "add milk"),
				always(cmp.Or(tc.reply, agent.AllowOnce)))
			if end := ended(t, events); end.Answer != tc.answer {
				t.Errorf("answer %q, want %q", end.Answer, tc.answer)
			}
		})
	}
}

// A plan repaired, or printed as a call, is like one that was right at once:
// nothing was left out, and no further request is made.
func TestARepairedWriteIsReported(t *testing.T) {
	for name, lines := range map[string][]line{
		"repaired": {
			say(`{"steps":[{"id":"1","tool":"add_task","input":{"due":"2026-12-04"}}]}`),
			say(`{"steps":[{"id":"1","tool":"add_task","input":{"text":"milk"}}]}`),
		},
		"printed":          {say("add_task(text=\"milk\")")},
		"printed as React": {say("Thought: a task.\nAction: add_task\nAction Input: {\"text\": \"milk\"}")},
		"named args":       {say(`{"steps":[{"tool":"add_task","args":{"text":"milk"}}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			task := noteTool{&fakeTool{name: "add_task", schema: `{"type":"object",` +
				`"properties":{"text":{"type":"string"},"due":{"type":"string"}},` +
				`"required":["text"]}`, result: agent.Result{Text: "added to tasks.md:7: milk"}}}
			model := &script{lines: lines}
			end := ended(t, collect(New(Options{
				Workers: workers, Model: model, History: &shelf{},
				Tools: tools(task, search()),
			}).Ask(t.Context(), "c1", "add milk"), nil))
			if end.Answer != "added to tasks.md:7: milk" || len(end.Dropped) > 0 || len(model.requests) != len(lines) {
				t.Errorf("answer %q, dropped %q, %d requests", end.Answer, end.Dropped, len(model.requests))
			}
		})
	}
}
