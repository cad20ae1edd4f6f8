package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// failing is a model that gives its replies in order, and then fails in the same way
// each time.
type failing struct {
	lines []line
	fault line

	mu       sync.Mutex
	requests int
}

func (f *failing) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Delta, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.fault
	if f.requests++; f.requests <= len(f.lines) {
		next = f.lines[f.requests-1]
	}
	return (&script{lines: []line{next}}).Stream(ctx, llm.Request{})
}

// faults are the ways in which a model fails.
var faults = map[string]line{
	"refused":              {err: fmt.Errorf("%w: connection refused", llm.ErrUnreachable)},
	"500":                  {err: &llm.StatusError{Code: 500, Message: "out of memory"}},
	"cut before a word":    {err: fmt.Errorf("%w: unexpected EOF", llm.ErrCut)},
	"cut in a sentence":    {text: "You run three", err: fmt.Errorf("%w: unexpected EOF", llm.ErrCut)},
	"no words":             {},
	"silence":              {err: errors.New("the model server said nothing for 5m0s")},
	"its deadline":         {err: fmt.Errorf("ask the model: %w", context.DeadlineExceeded)},
	"cancelled by itself":  {err: fmt.Errorf("ask the model: %w", context.Canceled)},
	"it is gone":           {err: &llm.NotFoundError{Model: "qwen3:8b"}},
	"it breaks":            {err: &agent.PanicError{Fault: "index out of range"}},
	"the prompt is longer": {err: &llm.StatusError{Code: 400, Message: "too long"}},
}

// Whenever and however the model fails, the tools' results are quoted, and the error is
// reported once.
func TestModelFailureLosesNoResults(t *testing.T) {
	const (
		fails = `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}},{"id":"2",` +
			`"tool":"brave_web_search","input":{"query":"tips"}},{"id":"3","tool":"broken","input":{"query":"x"}}]}`
		further = `{"steps":[{"id":"9","tool":"broken","input":{"query":"y"}}]}`
	)
	look := calling("search_notes", `{"query":"running"}`, "brave_web_search", `{"query":"tips"}`)
	fetch := calling("web_fetch", `{"query":"running"}`, "brave_web_search", `{"query":"tips"}`)
	handsOut := handOut("search")
	phases := map[string]struct {
		mode   agent.Mode
		lines  []line
		rounds int
		report string // of a worker, shown before its evidence
	}{
		"plan: the explainer":                {agent.PlanMode, []line{say(twoSteps)}, 0, ""},
		"plan: the first planning again":     {agent.PlanMode, []line{say(fails)}, 0, ""},
		"plan: the second planning again":    {agent.PlanMode, []line{say(fails), say(further)}, 0, ""},
		"plan: the explainer, planned again": {agent.PlanMode, []line{say(fails), say(further), say(further)}, 0, ""},
		"loop: the second round":             {agent.LoopMode, []line{look}, 0, ""},
		"loop: the third round":              {agent.LoopMode, []line{look, calling("broken", `{"query":"x"}`)}, 0, ""},
		"loop: the answer after all rounds":  {agent.LoopMode, []line{look}, 1, ""},
		"loop: a worker": {
			agent.LoopMode,
			[]line{calling("delegate", `{"worker_type":"search","task_description":"look"}`), fetch},
			0, "",
		},
		"team: the worker":    {agent.TeamMode, []line{handsOut, fetch}, 0, ""},
		"team: the evaluator": {agent.TeamMode, []line{handsOut, fetch, say(notesFound)}, 0, notesFound},
		"team: the worker's second attempt": {
			agent.TeamMode,
			[]line{handsOut, fetch, say(notesFound), say(rejected)},
			0, notesFound,
		},
		"team: the explainer": {
			agent.TeamMode,
			[]line{handsOut, fetch, say(notesFound), say(accepted)},
			0, notesFound,
		},
	}
	for phase, tc := range phases {
		for fault, failure := range faults {
			t.Run(phase+"/"+fault, func(t *testing.T) {
				kept := &shelf{}
				broken := &fakeTool{name: "broken", reads: true, err: errors.New("no such thing")}
				page := search()
				page.name = "web_fetch"
				options := Options{
					Workers: workers,
					Model:   &failing{lines: tc.lines, fault: failure}, History: kept,
					Tools:   tools(search(), web(), page, broken),
					Session: inMode(tc.mode), Limits: Limits{Rounds: tc.rounds},
					Rules: (*gate.Rules)(nil).With(gate.Rule{Tool: "*", Level: agent.Auto}),
				}
				events := collect(New(options).Ask(t.Context(), "c1", question), nil)
				failed, ok := events[len(events)-1].Body.(agent.Failed)
				if !ok || failed.Message == "" || failed.Hint == "" {
					t.Fatalf("the turn ended with %+v", events[len(events)-1].Body)
				}
				said := ""
				for _, s := range bodies[agent.Said](events) {
					said += s.Content
				}
				got := kept.last()
				if got.Text != said || got.Error == "" || !got.Cut {
					t.Errorf("kept %q as cut %t with the error %q, said\n%s", got.Text, got.Cut, got.Error, said)
				}
				for _, want := range []string{"\n> Run three times a week: Tuesday, Thursday, Sunday. Raise the long " +
					"run by 10 % each week. Rest on Monday.", tc.report} {
					// its report was its last reply
					if strings.Count(said, want) != 1 && want != "" &&
						!(want == tc.report && strings.HasSuffix(phase, "second attempt") && failure.text != "") {
						t.Errorf("%q is not said once in\n%s", want, said)
					}
				}
				if !strings.Contains(said, "Marathon guide: drink early.") {
					t.Errorf("what the web said is missing in\n%s", said)
				}
				if cut := strings.HasPrefix(said, "You run three\n\n("); cut != (failure.text != "") {
					t.Errorf("where the model broke off is not said:\n%s", said)
				}
				cited := map[string]bool{}
				for _, c := range bodies[agent.Cited](events) {
					if cited[c.Path] = true; c.N == 0 || c.Verdict != agent.Cites && c.Verdict != agent.Found {
						t.Errorf("a citation is %+v", c.Citation)
					}
				}
				if !cited[fitness.Path] {
					t.Errorf("cited is %v of\n%s", cited, said)
				}
				count := 0
				for _, e := range events {
					text := fmt.Sprintf("%+v", e.Body)
					switch e.Body.(type) {
					case agent.Noticed, agent.Failed, agent.StepChanged, agent.ToolEnded, agent.Evaluated:
						count += min(1, strings.Count(text, wordsOf(failure)))
					}
				}
				if count != 1 {
					t.Errorf("the error is told %d times: %s", count, story(t, events))
				}
			})
		}
	}
}

// wordsOf returns the words by which an error is recognised.
func wordsOf(failure line) string {
	var missing *llm.NotFoundError
	switch {
	case failure.err == nil:
		return "o answer from"
	case errors.As(failure.err, &missing):
		return "is not installed"
	case errors.Is(failure.err, llm.ErrCut):
		return "cut off"
	}
	_, last, found := strings.Cut(failure.err.Error(), ": ")
	if !found {
		last = failure.err.Error()[1:]
	}
	return last
}

func TestModelFailureWithoutResultsIsAnError(t *testing.T) {
	for mode, lines := range map[agent.Mode][]line{agent.PlanMode: nil, agent.LoopMode: nil, agent.TeamMode: nil} {
		for fault, failure := range faults {
			if failure.err == nil || errors.Is(failure.err, llm.ErrCut) ||
				mode == agent.PlanMode && failedToDecide(failure.err) {
				continue // retried or not, the notes are searched
			}
			events := collect(New(Options{
				Workers: workers,
				Model:   &failing{lines: lines, fault: failure}, History: &shelf{},
				Tools: tools(search()), Session: inMode(mode),
				Attach: drawer{"s:a": "hello from a"},
			}).Ask(t.Context(), "c1", "what does @s:a say of running?"), nil)
			if _, ok := events[len(events)-1].Body.(agent.Failed); !ok || len(bodies[agent.Said](events)) > 0 {
				t.Errorf("%s, %s: the turn said %v and ended with %+v", mode, fault, bodies[agent.Said](events),
					events[len(events)-1].Body)
			}
		}
	}
}

// A turn that continues after an error reports at its end what it lacked.
func TestDegradationsAreReportedOnce(t *testing.T) {
	down := line{err: &llm.StatusError{Code: 500, Message: "out of memory"}}
	look := calling("passages", `{"query":"running"}`)
	passages := func() agent.Tool { return &fakeTool{name: "passages", reads: true, result: search().result} }
	handsOut := handOut("general")
	for name, tc := range map[string]struct {
		mode  agent.Mode
		lines []line
		want  string
	}{
		"no further plan": {
			agent.PlanMode,
			[]line{planOf("1 passages", "2 broken"), down, say(goodAnswer)},
			"further steps",
		},
		"a worker": {
			agent.TeamMode,
			[]line{handsOut, look, down, down, say(goodAnswer)},
			"general worker (step 1)",
		},
		"an evaluator": {
			agent.TeamMode,
			[]line{handsOut, look, say(notesFound), down, say(goodAnswer)},
			"general worker's result (step 1)",
		},
	} {
		broken := &fakeTool{name: "broken", reads: true, err: errors.New("no such thing")}
		events := collect(New(Options{
			Workers: workers, Model: &failing{lines: tc.lines}, History: &shelf{},
			Tools: tools(passages(), broken), Session: inMode(tc.mode),
			Server: &agenttest.Server{Tokens: 32_000},
		}).Ask(t.Context(), "c1", question), nil)
		end, notices := ended(t, events), bodies[agent.Noticed](events)
		if end.Answer != goodAnswer || len(end.Sources) != 1 || len(notices) != 1 ||
			!strings.Contains(notices[0].Text, tc.want) || !strings.HasSuffix(notices[0].Text, "): out of memory.") {
			t.Errorf("%s: the notices are %+v, the end %+v", name, notices, end)
		}
	}
}

func TestResultsAreQuotedInAnyLanguage(t *testing.T) {
	for name, found := range map[string]agent.Result{
		"another language": {Sources: []agent.Source{{
			Path: "a.md", Line: 1, EndLine: 1,
			Text: "Dreimal die Woche, auch im Winter.",
		}}, Searched: true},
		"hardly an answer": {Sources: []agent.Source{{
			Path: "a.md", Line: 1, EndLine: 1,
			Text: "Dreimal die Woche, auch im Winter.",
		}}, Searched: true, Unlikely: true},
		"a text of a tool":         {Text: "Dreimal die Woche, auch im Winter.", Untrusted: true},
		"one with its own numbers": {Text: "Dreimal [7] die Woche, auch im Winter.", Untrusted: true},
		"numbers of some models":   {Text: "Dreimal 【1†Plan】, auch 【 1 】 die Woche, auch im Winter.", Untrusted: true},
		"in a passage": {Sources: []agent.Source{{
			Path: "a.md", Line: 1, EndLine: 1,
			Text: "Dreimal 【1†Plan】 die Woche, auch im Winter.",
		}}, Searched: true},
	} {
		tool := &fakeTool{name: "look", reads: true, result: found}
		events := collect(New(Options{Workers: workers, Model: &failing{
			lines: []line{planOf("1 look")},
			fault: faults["500"],
		}, History: &shelf{}, Tools: tools(tool)}).Ask(t.Context(), "c1", "how often?"), nil)
		text := ""
		for _, s := range bodies[agent.Said](events) {
			text += s.Content
		}
		if !strings.Contains(text, "die Woche, auch im Winter.") || strings.Contains(text, "Without a model") ||
			strings.Contains(text, "[7]") || strings.Contains(text, "【") {
			t.Errorf("%s: said is %q", name, text)
		}
	}
	nothing := &fakeTool{name: "look", reads: true, result: agent.Result{
		Text: "no passages", Nothing: true,
		Searched: true, Unlikely: true,
	}}
	events := collect(New(Options{Workers: workers, Model: &failing{
		lines: []line{planOf("1 look")},
		fault: faults["500"],
	}, History: &shelf{}, Tools: tools(nothing)}).Ask(t.Context(), "c1", "how often?"), nil)
	if text := bodies[agent.Said](events); len(text) > 0 {
		t.Errorf("of nothing it said %v", text)
	}
}

func TestStoppedTurnQuotesNothing(t *testing.T) {
	ctx, stop := contextWithCancel(t)
	a := New(Options{
		Workers: workers, Model: &script{lines: []line{say(searchStep), {hangs: true}}},
		History: &shelf{}, Tools: tools(search()),
	})
	var events []agent.Event
	asked := 0
	for e := range a.Ask(ctx, "c1", question) {
		events = append(events, e)
		if e.Type == "context_log" {
			if asked++; asked == 2 {
				stop()
			}
		}
	}
	if end := ended(t, events); !end.Interrupted || end.Answer != "" {
		t.Errorf("the end is %+v", end)
	}
}

// Steps dropped from a plan are reported to the explainer and at the end; steps that
// were only repaired are not.
func TestDroppedStepsAreReported(t *testing.T) {
	step := func(id, tool, input string) string {
		return fmt.Sprintf(`{"id":%q,"tool":%q,"input":%s}`, id, tool, input)
	}
	plan := func(steps ...string) line {
		return say(`{"steps":[` + strings.Join(steps, ",") + `],"answer":"I have mailed Ana."}`)
	}
	running := step("1", "search_notes", `{"query":"running"}`)
	for name, tc := range map[string]struct {
		lines []line
		want  []string
		ran   int // calls of the web search
	}{
		"an unknown tool": {lines: []line{
			plan(running, step("2", "fly", `{}`)),
			plan(running, step("2", "fly", `{}`)),
		}, want: []string{`step 2: unknown tool "fly"`}},
		"no mail server": {
			lines: []line{
				plan(running,
					step("2", "send_email", `{"to":["ana@example.org"]}`)),
				plan(running, step("2", "send_email", `{"to":["ana@example.org"]}`)),
			},
			want: []string{`step 2: unknown tool "send_email": no stamps`},
		},
		"arguments that do not fit": {
			lines: []line{
				plan(running,
					step("2", "brave_web_search", `{"query":["a","b"]}`)),
				plan(running, step("2", "brave_web_search", `{"query":["a","b"]}`)),
			},
			want: []string{"step 2: invalid arguments for brave_web_search: query: got array, want string"},
		},
		"a name without its server": {
			lines: []line{plan(running, step("2", "web_search", `{"query":"tips"}`))},
			ran:   1,
		},
		"a name without its server, in capitals": {
			lines: []line{plan(running, step("2", "webSearch", `{"query":"tips"}`))},
			ran:   1,
		},
		"the end of a name": {
			lines: []line{
				plan(running, step("2", "search", `{"query":"tips"}`)),
				plan(running, step("2", "search", `{"query":"tips"}`)),
			},
			want: []string{`step 2: unknown tool "search"`},
		},
		"all steps, and then others": {
			lines: []line{plan(step("1", "send_email", `{}`)), plan(running)},
			want:  []string{`step 1: unknown tool "send_email": no stamps`},
		},
		"some steps, and then all": {
			lines: []line{
				plan(running, step("2", "fly", `{}`)),
				plan(running, step("2", "brave_web_search", `{"query":"tips"}`)),
			},
			want: []string{`step 2: unknown tool "fly"`}, ran: 1,
		},
		"all steps, and then repaired": {lines: []line{
			plan(step("1", "brave_web_search", `{"query":["a","b"]}`)),
			plan(step("1", "brave_web_search", `{"query":"tips"}`)),
		}, ran: 1},
		"two of a tool, and then one": {
			lines: []line{plan(running,
				step("2", "search_notes", `{"query":["a","b"]}`)), plan(running)},
			want: []string{"step 2: invalid arguments for search_notes: query: got array, want string"},
		},
		"all steps, and then an answer": {
			lines: []line{
				plan(step("1", "send_email", `{}`)),
				say(`{"steps":[],"answer":"I could not mail Ana."}`),
			},
			want: []string{`step 1: unknown tool "send_email": no stamps`},
		},
		"all steps, twice": {lines: []line{
			plan(step("1", "send_email", `{}`)),
			plan(step("1", "send_email", `{}`)),
		}, want: []string{`step 1: unknown tool "send_email": no stamps`}},
	} {
		t.Run(name, func(t *testing.T) {
			model, brave := &script{lines: append(tc.lines, say("I could not mail Ana."))}, web()
			brave.server = "brave"
			events := collect(New(Options{
				Workers: workers,
				Model:   model, History: &shelf{},
				Tools: agenttest.Kit{List: []agent.Tool{
					search(), brave, &fakeTool{name: "a_search_all"},
					&fakeTool{name: "b_search_all"},
				}, Lacks: map[string]string{"send_email": "no stamps"}},
			}).Ask(t.Context(), "c1", "mail Ana what my notes say of running"), nil)
			end := ended(t, events)
			if fmt.Sprint(end.Dropped) != fmt.Sprint(tc.want) || end.Answer != "I could not mail Ana." ||
				len(brave.ran()) != tc.ran {
				t.Errorf("dropped %q, answer %q, the web was searched %d times", end.Dropped,
					end.Answer, len(brave.ran()))
			}
			asked := model.requests[len(model.requests)-1].Messages
			for _, want := range tc.want {
				if last := asked[len(asked)-1].Text; !strings.Contains(last, want) {
					t.Errorf("the explainer is asked\n%s", last)
				}
			}
		})
	}
}

// A worker that requests a tool of another worker is not told that the tool is off.
func TestToolOfAnotherWorkerIsNotMissing(t *testing.T) {
	all := tools(search(), web())
	all.Lacks = map[string]string{"brave_web_search": "no line"}
	model := &script{lines: []line{
		oneTask, calling("brave_web_search", `{"query":"tips"}`), say(notesFound),
		say(notesFound), say(accepted), say("Done."),
	}}
	events := collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: all,
		Session: inMode(agent.TeamMode),
	}).Ask(t.Context(), "c1", question), nil)
	if end := ended(t, events); fmt.Sprint(end.Dropped) != `[brave_web_search: unknown tool "brave_web_search"]` {
		t.Errorf("dropped is %q", end.Dropped)
	}
}

// The text of a tool is a source like a passage: it has a number in the prompt, and
// quotations of it are checked.
func TestToolTextCanBeCited(t *testing.T) {
	const cites = "You run three times a week: Tuesday, Thursday, Sunday [1]. “Marathon guide: drink early.” [2] The " +
		"sun is warm [2]. It says “drink as late as you can” [2]."
	rounds := calling("search_notes", `{"query":"running"}`, "brave_web_search", `{"query":"tips"}`)
	for mode, lines := range map[agent.Mode][]line{
		agent.PlanMode: {say(twoSteps), say(cites)},
		agent.LoopMode: {rounds, say(cites)},
		agent.TeamMode: {handOut("search"), calling("web_fetch", `{"query":"running"}`, "brave_web_search",
			`{"query":"tips"}`), say(notesFound), say(accepted), say(cites)},
	} {
		model := &script{lines: lines}
		page := search()
		page.name = "web_fetch"
		asked := 0
		events := collect(New(Options{
			Workers: workers,
			Model:   model, History: &shelf{}, Tools: tools(search(), web(), page), Session: inMode(mode),
			Notes: rereading(func(s agent.Source) (string, bool) {
				if asked++; s.Call != "" {
					t.Errorf("%s: %s is read again", mode, s.Path)
				}
				return fitness.Text, true
			}),
		}).Ask(t.Context(), "c1", question), always(agent.AllowOnce))
		prompt := model.requests[len(model.requests)-1]
		if text := fmt.Sprint(prompt.Messages); !strings.Contains(text, "[2] ") && !strings.Contains(text, "[2]\n") {
			t.Errorf("%s: the prompt names no [2]: %s", mode, text)
		}
		var got []string
		for _, c := range bodies[agent.Cited](events) {
			if c.N == 2 {
				got = append(got, fmt.Sprintf("%s %s", c.Place(), c.Verdict))
			}
		}
		if want := "[brave_web_search verified brave_web_search cited brave_web_search not_found]"; fmt.Sprint(got) != want {
			t.Errorf("%s: the verdicts on [2] are %v", mode, got)
		}
		if end := ended(t, events); len(end.Sources) != 2 || end.Sources[1].N != 2 || !end.Sources[1].Untrusted {
			t.Errorf("%s: the sources are %+v", mode, end.Sources)
		}
	}
}

// hinted is a tool of a server that declares itself whether it only reads.
type hinted struct {
	*fakeTool
	reads *bool
}

func (h hinted) Properties() agent.Properties {
	of := h.fakeTool.Properties()
	of.Server, of.Declared = "theirs", h.reads
	return of
}

func TestReadOnlyServerCallsRunSideBySide(t *testing.T) {
	yes, no := true, false
	auto := (*gate.Rules)(nil).With(gate.Rule{Tool: "*", Level: agent.Auto})
	for name, tc := range map[string]struct {
		hint  *bool
		rules *gate.Rules
		want  time.Duration
	}{
		"it says that it reads":           {&yes, nil, time.Second},
		"it says that it writes":          {&no, nil, 3 * time.Second},
		"it says nothing":                 {nil, nil, 3 * time.Second},
		"it says nothing, by a rule":      {nil, auto, 3 * time.Second},
		"it says that it writes, by rule": {&no, auto, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool := hinted{&fakeTool{name: "read", level: agent.Confirm, takes: time.Second}, tc.hint}
				a := New(Options{Workers: workers, Model: &script{lines: []line{
					planOf("1 read", "2 read", "3 read"),
					say("Done."),
				}}, History: &shelf{}, Tools: tools(tool), Rules: tc.rules})
				start := time.Now()
				ended(t, collect(a.Ask(t.Context(), "c1", "go"), always(agent.AllowOnce)))
				if took := time.Since(start); took != tc.want || len(tool.ran()) != 3 {
					t.Errorf("%d calls took %s, want %s", len(tool.ran()), took, tc.want)
				}
			})
		})
	}
}

// A repaired name is subject to the rules for the tool that it stands for, and never
// names a tool that the worker lacks.
func TestRepairedNamePassesTheSameRules(t *testing.T) {
	planned := planOf("1 web_search")
	for name, tc := range map[string]struct {
		mode  agent.Mode
		lines []line
		rules string
		asked int
	}{
		"denied": {
			agent.PlanMode,
			[]line{planned},
			"{tool: brave_web_search, level: deny}, {tool: web_search, level: auto}", 0,
		},
		"confirmed": {
			agent.PlanMode,
			[]line{planned},
			"{tool: brave_web_search, level: confirm}, {tool: web_search, level: auto}", 1,
		},
		"denied, in a loop": {
			agent.LoopMode,
			[]line{calling("web_search", `{"query":"x"}`)},
			"{tool: brave_*, level: deny}", 0,
		},
		"not of this worker": {agent.TeamMode, []line{
			oneTask, calling("web_search", `{"query":"x"}`), say(notesFound),
			say(accepted),
		}, "{tool: '*', level: auto}", 0},
	} {
		rules, err := gate.Parse("p.yaml", []byte("rules: ["+tc.rules+"]"))
		if err != nil {
			t.Fatal(err)
		}
		brave := web()
		brave.server = "brave"
		events := collect(New(Options{
			Workers: workers, Model: &script{lines: append(tc.lines, say("Done."))},
			History: &shelf{}, Tools: tools(brave, search()), Session: inMode(tc.mode), Rules: rules,
		}).Ask(t.Context(),
			"c1", question), always(agent.Refuse))
		if asked := bodies[agent.PermissionAsked](events); len(brave.ran()) > 0 || len(asked) != tc.asked {
			t.Errorf("%s: ran %d times, asked %+v: %s", name, len(brave.ran()), asked, story(t, events))
		}
	}
}

// After a time-out, a turn asks no model again: no repair, no other plan, no answer.
func TestNothingIsAskedAfterATimeOut(t *testing.T) {
	for name, timeout := range map[string]error{
		"here": context.DeadlineExceeded, "at the server": &llm.StatusError{Code: 504, Message: "upstream timed out"},
	} {
		for _, mode := range []agent.Mode{agent.PlanMode, agent.LoopMode, agent.TeamMode} {
			model := &failing{fault: line{err: fmt.Errorf("ask: %w", timeout)}}
			asked := 0
			events := collect(New(Options{
				Workers: workers, Model: counting{model, &asked}, History: &shelf{},
				Tools: tools(search()), Session: inMode(mode),
			}).Ask(t.Context(), "c1", question), nil)
			if _, failed := events[len(events)-1].Body.(agent.Failed); !failed || asked != 1 {
				t.Errorf("%s, %s: asked %d times, the turn ended with %+v", name, mode, asked,
					events[len(events)-1].Body)
			}
		}
	}
}

// counting counts the requests to a model.
type counting struct {
	llm.Model
	asked *int
}

func (c counting) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	*c.asked++
	return c.Model.Stream(ctx, req)
}
