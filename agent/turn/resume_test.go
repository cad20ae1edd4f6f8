package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent/agenttest"
	"lifehub/agent/passages"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// ledger is a Journal in memory. After a number of entries it can end the turn like a
// kill: nothing more is recorded, and ctx is cancelled.
type ledger struct {
	mu       sync.Mutex
	entries  []agent.Entry
	question string
	text     string
	texts    []string
	times    []time.Time
	damaged  bool
	fail     error
	failAt   agent.Moment // "": any moment

	cutAfter int // number of entries; 0: never
	kill     context.CancelFunc
}

func (l *ledger) Record(ctx context.Context, _ string, entries ...agent.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if l.fail != nil && (l.failAt == "" || l.failAt == e.Moment) {
			return l.fail
		}
		if l.cutAfter > 0 && len(l.entries) == l.cutAfter {
			l.kill()
			return context.Canceled
		}
		l.entries = append(l.entries, e)
	}
	return nil
}

func (l *ledger) Progress(_ context.Context, _, text string, _ agent.Origin) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
	l.texts, l.times = append(l.texts, text), append(l.times, time.Now())
	return l.fail
}

func (l *ledger) Reopen(context.Context, string, string) (agent.Unfinished, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cutAfter = 0
	return agent.Unfinished{Question: l.question, Text: l.text, Entries: slices.Clone(l.entries), Damaged: l.damaged},
		nil
}

func (l *ledger) moments() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, e := range l.entries {
		list = append(list, string(e.Moment))
	}
	return strings.Join(list, " ")
}

// cutAt runs a turn and kills it after a number of entries.
func cutAt(t *testing.T, entries int, o Options) *ledger {
	t.Helper()
	ctx, kill := contextWithCancel(t)
	message := errand // plans and tasks have no further search
	if o.Session != nil && o.Session.Mode() == agent.LoopMode {
		message = question
	}
	kept := &ledger{question: message, cutAfter: entries, kill: kill}
	o.Journal, o.History, o.Now = kept, &shelf{}, fixedNow
	collect(New(o).Ask(ctx, "c1", message), always(agent.AllowOnce))
	return kept
}

func resume(t *testing.T, kept *ledger, o Options, reply func(agent.PermissionAsked) agent.Reply) []agent.Event {
	t.Helper()
	o.Journal, o.Now = kept, fixedNow
	if o.History == nil {
		o.History = &shelf{}
	}
	return collect(New(o).Resume(t.Context(), "c1", "t1"), reply)
}

const searchAndTask = `{"reasoning":"","steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}},` +
	`{"id":"2","tool":"add_task","input":{"text":"buy <shoes>"},"after":["1"]}]}`

// searchAndTaskMoments are the moments of a turn with a search and a task, in order.
const searchAndTaskMoments = "planned intended decided started ended intended asked decided started ended"

// reader is a search that declares itself read-only.
type reader struct{ *fakeTool }

func (r reader) Properties() agent.Properties {
	of := r.fakeTool.Properties()
	of.ReadOnly = true
	return of
}

func TestEachMomentIsSavedBeforeTheNext(t *testing.T) {
	kept := &ledger{}
	task := addTask()
	a := New(Options{
		Model: &script{lines: []line{say(searchAndTask), say(goodAnswer)}}, History: &shelf{}, Journal: kept,
		Tools: tools(search(), task),
	})
	want := map[string]string{ // journal entries that exist once for each such event
		"plan": "planned", "tool_start": "started", "tool_end": "ended", "permission_request": "asked",
		"permission_result": "decided",
	}
	seen := map[string]int{}
	for e := range a.Ask(t.Context(), "c1", errand) {
		seen[e.Type]++
		if moment := want[e.Type]; moment != "" && strings.Count(kept.moments(), moment) < seen[e.Type] {
			t.Errorf("at %s %d the journal holds %s", e.Type, seen[e.Type], kept.moments())
		}
		if asked, ok := e.Body.(agent.PermissionAsked); ok {
			if len(task.ran()) > 0 {
				t.Error("it ran before it was asked about")
			}
			asked.Reply(agent.Reply{Decision: agent.AllowOnce})
		}
	}
	if got := kept.moments(); got != searchAndTaskMoments {
		t.Errorf("got  %s\nwant %s", got, searchAndTaskMoments)
	}
}

func TestNothingRunsUnjournalled(t *testing.T) {
	for _, moment := range []agent.Moment{
		agent.Planned, agent.Intended, agent.CallAsked, agent.Decided,
		agent.CallStarted, agent.CallEnded,
	} {
		t.Run(string(moment), func(t *testing.T) {
			tool := addTask()
			kept := &ledger{fail: errors.New("no disk left"), failAt: moment}
			events := collect(New(Options{
				Model: &script{lines: []line{say(taskStep), say("Done.")}}, History: &shelf{},
				Journal: kept, Tools: tools(tool),
			}).Ask(t.Context(), "c1", "add a task"), always(agent.AllowOnce))
			ran := 0
			if moment == agent.CallEnded {
				ran = 1
			}
			if len(tool.ran()) != ran {
				t.Errorf("ran %d times, want %d", len(tool.ran()), ran)
			}
			shown := fmt.Sprint(bodies[agent.Noticed](events), bodies[agent.StepChanged](events), events[len(events)-1])
			if !strings.Contains(shown, "no disk left") {
				t.Errorf("the user is not told why: %s", shown)
			}
		})
	}
}

// Killed at any moment and resumed: the search runs again only if it had not ended, the
// task is added once, and the user is asked again exactly if the task had not started.
func TestTurnCutAtEachMomentIsResumed(t *testing.T) {
	moments := strings.Fields(searchAndTaskMoments)
	for cut := 1; cut <= len(moments); cut++ {
		t.Run(fmt.Sprintf("%d %s", cut, moments[cut-1]), func(t *testing.T) {
			notes, task := search(), addTask()
			o := Options{Tools: tools(reader{notes}, task)}
			o.Model = &script{lines: []line{say(searchAndTask), {text: "You run", hangs: true}}}
			kept := &ledger{}
			if cut < len(moments) {
				kept = cutAt(t, cut, o)
			} else {
				kept = cutInAnswer(t, o)
			}
			searched, made := len(notes.ran()), len(task.ran())

			model := &script{lines: []line{say(goodAnswer)}}
			o.Model = model
			var asked []agent.PermissionAsked
			events := resume(t, kept, o, func(p agent.PermissionAsked) agent.Reply {
				asked = append(asked, p)
				if p.Unknown {
					return agent.Reply{Decision: agent.AlreadyDone}
				}
				return agent.Reply{Decision: agent.AllowOnce}
			})
			end := ended(t, events)
			if end.Answer != goodAnswer || len(end.Sources) != 1 || end.Sources[0].Text != fitness.Text {
				t.Errorf("the end is %+v", end)
			}
			if again := len(notes.ran()) - searched; (again == 1) != (cut < 5) {
				t.Errorf("the search ran %d times more", again)
			}
			total := len(task.ran())
			switch {
			case cut == len(moments): // it had ended
				if total != 1 || len(asked) != 0 {
					t.Errorf("made %d times, asked %v", total, asked)
				}
			case cut == len(moments)-1: // it had started, and it ran
				if total != made || len(asked) != 1 || !asked[0].Unknown || asked[0].Since.IsZero() {
					t.Errorf("made %d times, asked %+v", total, asked)
				}
			default:
				if total != 1 || len(asked) != 1 || asked[0].Unknown ||
					string(asked[0].Input) != `{"text":"buy <shoes>"}` || asked[0].Hash != gate.Hash(asked[0].Input) {
					t.Errorf("made %d times, asked %+v", total, asked)
				}
			}
			if n := len(model.requests); n != 1 {
				t.Errorf("%d model calls; the plan was kept", n)
			}
		})
	}
}

// cutInAnswer runs a turn and kills it when the answer begins.
func cutInAnswer(t *testing.T, o Options) *ledger {
	t.Helper()
	ctx, kill := contextWithCancel(t)
	kept := &ledger{question: question, text: "You run"}
	o.Journal, o.History, o.Now = kept, &shelf{}, fixedNow
	for e := range New(o).Ask(ctx, "c1", question) {
		switch body := e.Body.(type) {
		case agent.PermissionAsked:
			body.Reply(agent.Reply{Decision: agent.AllowOnce})
		case agent.Said:
			kill()
		}
	}
	return kept
}

func TestTurnCutBeforeItsPlanIsReplanned(t *testing.T) {
	kept := &ledger{question: question}
	events := resume(t, kept, Options{
		Model: &script{lines: []line{say(searchStep), say(goodAnswer)}},
		Tools: tools(search()),
	}, nil)
	started, ok := events[0].Body.(agent.Started)
	if !ok || !started.Resumed || started.Message != question || ended(t, events).Answer != goodAnswer {
		t.Errorf("events %+v", events)
	}
}

// checkedTool can find out whether it ran.
type checkedTool struct {
	*fakeTool
	effect agent.Happened
	err    error
}

func (c *checkedTool) Mark(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`"before"`), nil
}

func (c *checkedTool) Check(_ context.Context, mark json.RawMessage) (agent.Happened, []agent.Effect, error) {
	if string(mark) != `"before"` {
		return agent.MayHaveHappened, nil, fmt.Errorf("the mark is %s", mark)
	}
	return c.effect, []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}}, c.err
}

func TestCallWithUnknownOutcomeIsHandled(t *testing.T) {
	tests := map[string]struct {
		effect agent.Happened
		check  error
		reply  agent.Decision
		rules  *gate.Rules
		alone  bool // no user can be asked
		asked  string
		ran    int
		status agent.Status
		did    string // "": add_task: outcome unknown
	}{
		"the tool knows that it happened": {
			effect: agent.HasHappened, status: agent.Done,
			did: "changed tasks.md (+1)",
		},
		"the tool knows that it did not": {
			effect: agent.HasNotHappened, reply: agent.AllowOnce,
			asked: "permission", ran: 1, status: agent.Done, did: "called add_task",
		},
		"it did not, and a rule allows it": {
			effect: agent.HasNotHappened,
			rules:  (*gate.Rules)(nil).With(gate.Rule{Tool: "*"}), ran: 1, status: agent.Done, did: "called add_task",
		},
		"run again": {
			reply: agent.AllowOnce, asked: "unknown", ran: 1, status: agent.Done,
			did: "called add_task · add_task: outcome unknown",
		},
		"skip": {reply: agent.Refuse, asked: "unknown", status: agent.Denied},
		"it is done": {
			reply: agent.AlreadyDone, asked: "unknown",
			status: agent.Done, did: "called add_task",
		},
		"always is no answer to this": {reply: agent.AllowAlways, asked: "unknown", status: agent.Denied},
		"a rule that allows it asks all same": {
			rules: (*gate.Rules)(nil).With(gate.Rule{Tool: "*"}),
			reply: agent.Refuse, asked: "unknown", status: agent.Denied,
		},
		"forbidden by now": {
			rules:  (*gate.Rules)(nil).With(gate.Rule{Tool: "*", Level: agent.Deny}),
			status: agent.Denied,
		},
		"the check fails": {
			effect: agent.HasHappened, check: errors.New("unreadable"),
			reply: agent.Refuse, asked: "unknown", status: agent.Denied,
		},
		"nobody can be asked": {alone: true, asked: "unknown", status: agent.Denied},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			task := addTask()
			tool := &checkedTool{task, tc.effect, tc.check}
			input := []byte(`{"text":"buy shoes"}`)
			kept := &ledger{question: question, entries: []agent.Entry{
				{Version: 1, Moment: agent.Planned, Plan: &agent.PlanMade{Steps: []agent.Step{{
					ID:   "1",
					Tool: "add_task", Input: input,
				}}}},
				{Version: 1, Moment: agent.Intended, Step: "1", Tool: "add_task", Input: input, Hash: gate.Hash(input)},
				{Version: 1, Moment: agent.CallStarted, Step: "1", Time: fixedNow(), Mark: []byte(`"before"`)},
			}}
			events := resume(t, kept, Options{
				Model: &script{lines: []line{say("Done.")}}, Tools: tools(tool), Rules: tc.rules, Unattended: tc.alone,
			}, always(tc.reply))
			asked := ""
			for _, p := range bodies[agent.PermissionAsked](events) {
				asked = "permission"
				if p.Unknown {
					asked = "unknown"
				}
			}
			steps := bodies[agent.StepChanged](events)
			if asked != tc.asked || len(task.ran()) != tc.ran || steps[len(steps)-1].Status != tc.status {
				t.Errorf("asked %q, ran %v, steps %+v", asked, task.ran(), steps)
			}
			if did := ended(t, events).Effects.String(); did != cmp.Or(tc.did, "add_task: outcome unknown") {
				t.Errorf("it did %q", did)
			}
			if tc.alone && !slices.Equal(ended(t, events).Unasked, []string{"add_task"}) {
				t.Errorf("unasked %v", ended(t, events).Unasked)
			}
		})
	}
}

// Another step with the same arguments must not silently repeat what may have happened.
func TestDuplicateOfAnUnknownCallAsks(t *testing.T) {
	task := addTask()
	input := []byte(`{"text":"buy shoes"}`)
	kept := &ledger{question: question, entries: []agent.Entry{
		{Version: 1, Moment: agent.Planned, Plan: &agent.PlanMade{Steps: []agent.Step{{
			ID: "1", Tool: "add_task",
			Input: input,
		}, {ID: "2", Tool: "add_task", Input: input}}}},
		{Version: 1, Moment: agent.Intended, Step: "2", Tool: "add_task", Input: input, Hash: gate.Hash(input)},
		{Version: 1, Moment: agent.CallStarted, Step: "2", Time: fixedNow()},
	}}
	events := resume(t, kept, Options{
		Model: &script{lines: []line{say("Done.")}}, Tools: tools(task),
		Rules: (*gate.Rules)(nil).With(gate.Rule{Tool: "*"}), Limits: Limits{Parallel: 1},
	}, always(agent.Refuse))
	if asked := bodies[agent.PermissionAsked](events); len(asked) != 1 || !asked[0].Unknown || len(task.ran()) != 0 {
		t.Errorf("asked %+v, ran %v", asked, task.ran())
	}
}

func TestDamagedJournalRunsNothingUnasked(t *testing.T) {
	input := []byte(`{"text":"buy shoes"}`)
	planned := agent.Entry{
		Version: 1, Moment: agent.Planned,
		Plan: &agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "add_task", Input: input}}},
	}
	intended := agent.Entry{
		Version: 1, Moment: agent.Intended, Step: "1", Tool: "add_task",
		Input: input, Hash: gate.Hash(input),
	}
	other := planned
	other.Version = 99
	forged := intended
	forged.Hash = gate.Hash([]byte(`{"text":"sell"}`))
	tests := map[string]struct {
		entries []agent.Entry
		damaged bool
		fails   bool
	}{
		"an entry is missing":       {entries: []agent.Entry{planned}, damaged: true},
		"the plan is missing":       {entries: []agent.Entry{intended}, fails: true},
		"all is missing":            {damaged: true, fails: true},
		"another version":           {entries: []agent.Entry{other, intended}, fails: true},
		"arguments were changed":    {entries: []agent.Entry{planned, forged}},
		"an unknown moment":         {entries: []agent.Entry{planned, {Version: 1, Moment: "jumped", Step: "1"}}},
		"a plan that holds nothing": {entries: []agent.Entry{{Version: 1, Moment: agent.Planned}}, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			task, model := addTask(), &script{lines: []line{say("Done.")}}
			kept := &ledger{question: question, text: "so far", entries: tc.entries, damaged: tc.damaged}
			history := &shelf{}
			events := resume(t, kept, Options{
				Model: model, History: history, Tools: tools(task),
				Rules: (*gate.Rules)(nil).With(gate.Rule{Tool: "*"}),
			}, always(agent.Refuse))
			failed, is := events[len(events)-1].Body.(agent.Failed)
			if is != tc.fails || is && (failed.Hint == "" || history.last().Text != "so far") {
				t.Errorf("the turn ended with %+v, kept %q", events[len(events)-1], history.last().Text)
			}
			asked := bodies[agent.PermissionAsked](events)
			if !is && (len(asked) != 1 || !asked[0].Unknown) || len(task.ran()) > 0 {
				t.Errorf("asked %+v, ran %v", asked, task.ran())
			}
		})
	}
}

func TestShownTextIsNotTakenBack(t *testing.T) {
	kept := &ledger{question: question, text: "You run three times a week, mostly in the"}
	history := &shelf{}
	resume(t, kept, Options{
		Model: &script{lines: []line{say(searchStep), {text: "You run", err: llm.ErrCut}}},
		Tools: tools(search()), History: history,
	}, nil)
	if got := history.last(); !strings.HasPrefix(got.Text, kept.text+"\n\n(") || !got.Cut {
		t.Errorf("kept is %+v", got)
	}
}

// However often a resumed turn fails, its answer ends with one list, which is not judged as the model's text.
func TestPassagesAreListedOnceHoweverOftenItFails(t *testing.T) {
	const written = "You run three times a week, mostly in the"
	text := written
	for range 3 {
		history := &shelf{}
		resume(t, &ledger{question: question, text: text}, Options{
			Model: &script{lines: []line{say(searchStep), {text: "You run", err: llm.ErrCut}}},
			Tools: tools(search()), History: history,
		}, nil)
		got := history.last()
		if !strings.HasPrefix(got.Text, written+passages.BreaksOff) ||
			strings.Count(got.Text, passages.ModelFailed) != 1 {
			t.Errorf("kept is %q", got.Text)
		}
		for _, c := range got.Citations {
			if c.Verdict == agent.NotFound {
				t.Errorf("not found: %+v", c)
			}
		}
		text = got.Text
	}
}

func TestAnswerIsSavedEveryHalfSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &ledger{}
		model := &slowTalker{every: 100 * time.Millisecond, words: 40}
		shown := map[string]time.Time{}
		var text string
		for e := range New(Options{Model: model, History: &shelf{}, Journal: kept, Tools: tools()}).Ask(t.Context(),
			"c1", "hello, how are you") {
			if piece, ok := e.Body.(agent.Said); ok {
				text += piece.Content
				shown[text] = time.Now()
			}
		}
		if len(kept.texts) < 6 {
			t.Fatalf("kept %d times", len(kept.texts))
		}
		for i, at := range kept.times {
			newest := shown[kept.texts[i]]
			if newest.IsZero() {
				t.Fatalf("kept %q, which was never said so", kept.texts[i])
			}
			if i > 0 && at.Sub(kept.times[i-1]) > 500*time.Millisecond {
				t.Errorf("%v passed between two times of keeping", at.Sub(kept.times[i-1]))
			}
		}
	})
}

// slowTalker plans nothing, and streams its answer one word at a time.
type slowTalker struct {
	every time.Duration
	words int
}

func (s *slowTalker) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		plans := req.Task.Kind == llm.PlanTask
		more := !plans || yield(llm.Delta{Text: `{"steps":[]}`}, nil)
		for i := 0; more && !plans && i < s.words; i++ {
			time.Sleep(s.every)
			more = yield(llm.Delta{Text: fmt.Sprintf("word%d ", i)}, nil)
		}
		if more {
			yield(llm.Delta{Usage: &llm.Usage{Stopped: llm.StopEnd}}, nil)
		}
	}
}

// A replanned turn killed at any moment: no call that ended runs again, whichever plan
// it belonged to.
func TestReplannedTurnIsResumed(t *testing.T) {
	lines := []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}},{"id":"2",` +
		`"tool":"list_notes","input":{"query":"x"}}]}`), say(goodAnswer)}
	replans := []line{say(`{"steps":[{"id":"1","tool":"add_task","input":{"text":"read {{1.text}}"}},{"id":"3",` +
		`"tool":"brave_web_search","input":{"query":"{{2.text}}"}}]}`)}
	for cut := 1; cut <= 18; cut++ {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			nothing, list := search(), &fakeTool{
				name: "list_notes", reads: true,
				result: agent.Result{Text: "fitness.md"},
			}
			nothing.result = agent.Result{Text: "no passages", Nothing: true, Searched: true, Unlikely: true}
			site, task := web(), addTask()
			o := Options{Tools: tools(reader{nothing}, reader{list}, reader{site}, task), Limits: Limits{Parallel: 1}}
			o.Model = &script{lines: slices.Clone(lines), replans: replans}
			kept := cutAt(t, cut, o)
			over := map[string]bool{}
			for _, e := range kept.entries {
				over[e.Step] = over[e.Step] || e.Moment == agent.CallEnded
			}
			ran := map[string]int{
				"1": len(nothing.ran()), "2": len(list.ran()),
				"4": len(task.ran()), "3": len(site.ran()),
			}

			o.Model = &script{lines: lines[1:], replans: replans}
			end := ended(t, resume(t, kept, o, func(p agent.PermissionAsked) agent.Reply {
				if p.Unknown {
					return agent.Reply{Decision: agent.AlreadyDone}
				}
				return agent.Reply{Decision: agent.AllowOnce}
			}))
			if end.Answer != goodAnswer {
				t.Errorf("the answer is %q", end.Answer)
			}
			for step, tool := range map[string]*fakeTool{"1": nothing, "2": list, "3": site, "4": task} {
				if over[step] && len(tool.ran()) != ran[step] {
					t.Errorf("%s had ended and ran again", tool.name)
				}
			}
			if len(task.ran()) > 1 {
				t.Errorf("the task was made %d times", len(task.ran()))
			}
		})
	}
}

func TestFailedSaveIsReportedOnceAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &ledger{fail: errors.New("no disk left"), failAt: "none"}
		events := collect(New(Options{
			Model: &slowTalker{every: 100 * time.Millisecond, words: 40}, History: &shelf{},
			Journal: kept, Tools: tools(),
		}).Ask(t.Context(), "c1", "hello, how are you"), nil)
		notices := bodies[agent.Noticed](events)
		if len(kept.texts) < 6 || len(notices) != 1 || !strings.Contains(notices[0].Text, "no disk left") {
			t.Errorf("tried %d times, told %v", len(kept.texts), notices)
		}
	})
}

// Calls that sent what the user typed before a kill still count after it.
func TestTypedWordsSentSurviveAKill(t *testing.T) {
	weather := &fakeTool{
		name: "get_weather", schema: `{"type":"object","properties":{"place":{}}}`, reads: true,
		outward: true, result: agent.Result{Text: "found"},
	}
	words := strings.Fields(strings.Trim(question, "?"))
	at := func(n int) line { return calling("get_weather", `{"place":"`+words[n]+`"}`) }
	o := Options{
		Session: inMode(agent.LoopMode), Tools: tools(weather),
		Rules: (*gate.Rules)(nil).With(gate.Rule{Tool: "*", Level: agent.Auto}),
	}
	o.Facts = agenttest.Facts{{Text: "4715"}}
	o.Model = &script{lines: []line{at(0), at(1)}}
	kept := cutAt(t, len(strings.Fields("planned intended decided started ended planned intended decided started ended")), o)
	o.Model = &script{lines: []line{at(2), say("Done.")}}
	if asked := bodies[agent.PermissionAsked](resume(t, kept, o, always(agent.Refuse))); len(asked) != 1 ||
		!strings.Contains(string(asked[0].Input), words[2]) {
		t.Errorf("asked %+v, want one question about the third word; kept was %s", asked, kept.moments())
	}
}
