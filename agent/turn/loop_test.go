package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/passages"
	"lifehub/llm"
	"lifehub/llm/offline"
)

// calling returns a line that calls tools, given as name, arguments, name, arguments …
func calling(pairs ...string) line {
	var l line
	for i := 0; i < len(pairs); i += 2 {
		l.calls = append(l.calls, llm.ToolCall{
			ID: fmt.Sprintf("c%d", i/2+1), Name: pairs[i],
			Args: json.RawMessage(pairs[i+1]),
		})
	}
	return l
}

func inMode(m agent.Mode) agenttest.Session { return agenttest.Session{In: m} }

func TestLoopStories(t *testing.T) {
	long := strings.Repeat("The long run is on Sunday [1]. ", 12)
	tests := map[string]struct {
		message string
		tools   []agent.Tool
		lines   []line
		replans []line
		rounds  int
		reply   agent.Decision
	}{
		"notes and web in one round": {message: question, tools: []agent.Tool{search(), web()}, lines: []line{
			calling("search_notes", `{"query":"running"}`, "brave_web_search", `{"query":"marathon training tips"}`),
			say(goodAnswer),
		}},
		"one call after the other": {message: question, tools: []agent.Tool{search(), web()}, lines: []line{
			calling("functions.search_notes:0", `{"query":"running"}`),
			calling("brave_web_search", `{"query":"three times a week"}`), say(long),
		}},
		"small talk in one call": {
			message: "Nice day today!", tools: []agent.Tool{search()},
			lines: []line{say("Hello! What shall we look up?")},
		},
		"the same call again is nudged": {message: question, tools: []agent.Tool{search()}, lines: []line{
			calling("search_notes", `{"query":"running"}`), calling("search_notes", `{ "query": "running" }`),
			say(goodAnswer),
		}},
		"the same call for ever is stopped": {message: question, tools: []agent.Tool{search()}, lines: []line{
			calling("search_notes", `{"query":"running"}`), calling("search_notes", `{"query":"running"}`),
			calling("search_notes", `{"query":"running"}`), say(goodAnswer),
		}},
		"the rounds are used up": {message: question, tools: []agent.Tool{search()}, rounds: 2, lines: []line{
			calling("search_notes", `{"query":"a"}`), calling("search_notes", `{"query":"b"}`),
			say("Three times a week [1]; what the web says is missing."),
		}},
		"calls printed as text": {message: question, tools: []agent.Tool{search()}, lines: []line{
			say("I will look.\n<tool_call>\n{\"name\": \"search_notes\", \"arguments\": {\"query\": " +
				"\"running\"}}\n</tool_call>"), say(goodAnswer),
		}},
		"a printed call that is broken is told": {message: question, tools: []agent.Tool{search()}, lines: []line{
			say(`<tool_call>{"name": "search_notes", "arguments": {"query": </tool_call>`),
			calling("search_notes", `{"query":"running"}`), say(goodAnswer),
		}},
		"an unknown tool and bad arguments are told": {message: question, tools: []agent.Tool{search()}, lines: []line{
			calling("fly", `{}`, "search_notes", `{"q":1}`),
			calling("search_notes", `{"query":"running"}`), say(goodAnswer),
		}},
		"a model without tools writes JSON": {message: question, tools: []agent.Tool{search()}, lines: []line{
			{err: &llm.UnsupportedError{Model: "tiny", Capability: "tools"}}, say(searchStep), say(goodAnswer),
		}},
		"a permission is refused": {
			message: "add a task", tools: []agent.Tool{addTask()},
			reply: agent.Refuse, lines: []line{
				calling("add_task", `{"text":"buy shoes"}`), say("Not added, as you wish."),
			},
		},
		"it says before it calls": {message: question, tools: []agent.Tool{search()}, lines: []line{
			{text: "Let me look into your notes.", calls: calling("search_notes", `{"query":"running"}`).calls},
			say(goodAnswer),
		}},
		"it thinks and says before each round": {message: question, tools: []agent.Tool{search(), web()}, lines: []line{
			{
				thinking: "First the notes.", text: "Let me look into your notes.",
				calls: calling("search_notes", `{"query":"running"}`).calls,
			},
			{
				thinking: "Now the web.", text: "Your notes have a plan.\n\n",
				calls: calling("brave_web_search", `{"query":"tips"}`).calls,
			},
			say("Let me ask once more.\n<tool_call>\n{\"name\": \"brave_web_search\", \"arguments\": {\"query\": " +
				"\"pace\"}}\n</tool_call>"), say(goodAnswer),
		}},
		"the notes do not say": {message: question, tools: []agent.Tool{&fakeTool{
			name: "search_notes", reads: true,
			result: agent.Result{
				Text: fitness.Text, Sources: []agent.Source{fitness}, Searched: true,
				Unlikely: true,
			},
		}}, lines: []line{
			calling("search_notes", `{"query":"violin"}`), say("There is only running [1]."),
		}},
		"nothing is said": {
			message: question, tools: []agent.Tool{search()},
			lines: []line{calling("search_notes", `{"query":"running"}`), say(""), say(goodAnswer)},
		},
		"the answer is cut": {message: question, tools: []agent.Tool{search()}, lines: []line{
			calling("search_notes", `{"query":"running"}`), {text: long[:250], err: llm.ErrCut},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			events := collect(New(Options{
				Workers: workers,
				Model:   &script{lines: tc.lines, replans: tc.replans}, History: &shelf{}, Tools: tools(tc.tools...),
				Now: fixedNow, Limits: Limits{Parallel: 1, Rounds: tc.rounds},
				Session: inMode(agent.LoopMode),
			}).Ask(t.Context(), "c1", tc.message), always(tc.reply))
			golden.RequireEqual(t, story(t, events))
		})
	}
}

// A call that cannot be read is not run, whatever else is in its reply; the model is
// told why, and the turn goes on.
func TestUnreadableCallIsTold(t *testing.T) {
	broken := calling("search_notes", `{"query":"running"}`, "search_notes", `{"query":"x"}`)
	broken.calls[1].Args, broken.calls[1].Fault = nil, "its arguments are broken"
	model := &script{lines: []line{broken, say(goodAnswer)}}
	notes := search()
	end := ended(t, collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: tools(notes),
		Session: inMode(agent.LoopMode),
	}).Ask(t.Context(), "c1", question), nil))
	last := model.requests[1].Messages
	told := slices.ContainsFunc(last, func(m llm.Message) bool {
		return m.CallID == "c2" &&
			strings.Contains(m.Text, broken.calls[1].Fault)
	})
	if !told || len(notes.ran()) != 2 || end.Answer != goodAnswer { // once as typed
		t.Errorf("told %v, called %d times, answered %q", told, len(notes.ran()), end.Answer)
	}
}

func TestLoopSeesTheResultsOfItsCalls(t *testing.T) {
	model := &script{lines: []line{
		calling("search_notes", `{"query":"running"}`, "brave_web_search", `{"query":"tips"}`),
		calling("search_notes", `{"query":"running"}`), say(goodAnswer),
	}}
	site := web()
	site.err = errors.New("no network")
	ended(t, collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: tools(search(), site),
		Session: inMode(agent.LoopMode),
	}).Ask(t.Context(), "c1", question), nil))
	last := model.requests[2].Messages
	asked := slices.IndexFunc(last, func(m llm.Message) bool { return len(m.Calls) == 2 })
	if asked < 0 || len(last) != asked+5 {
		t.Fatalf("the messages are %+v", last)
	}
	for i, want := range []string{"[1] fitness.md:12 Running › Plan", "no network", "", "call before"} {
		m := last[asked+1+i]
		if want != "" && (m.Role != llm.ToolReply || !strings.Contains(m.Text, want)) {
			t.Errorf("%d: %+v lacks %q", i, m, want)
		}
	}
	if last[asked].Calls[1].ID != last[asked+2].CallID {
		t.Errorf("the reply is to %q", last[asked+2].CallID)
	}
}

func TestChangedNoteIsReadAgain(t *testing.T) {
	read, task := &fakeTool{name: "read_note", result: agent.Result{Text: "a note"}}, addTask()
	model := &script{lines: []line{
		calling("read_note", `{"query":"a"}`), calling("add_task", `{"text":"x"}`),
		calling("read_note", `{"query":"a"}`), say("Done."),
	}}
	ended(t, collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: tools(reader{read}, task),
		Session: inMode(agent.LoopMode),
	}).Ask(t.Context(), "c1", question), always(agent.AllowOnce)))
	if len(read.ran()) != 2 || len(task.ran()) != 1 {
		t.Errorf("read %d times, written %d times", len(read.ran()), len(task.ran()))
	}
}

func TestTurnMakesAtMostTwentyFiveSteps(t *testing.T) {
	var lines []line
	for round := range 8 {
		var pairs []string
		for i := range 8 {
			pairs = append(pairs, "search_notes", fmt.Sprintf(`{"query":"%d.%d"}`, round, i))
		}
		lines = append(lines, calling(pairs...))
	}
	tool := search()
	model := &script{lines: append(lines[:4:4], say(goodAnswer))}
	ended(t, collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: tools(tool),
		Session: inMode(agent.LoopMode),
	}).Ask(t.Context(), "c1", question), nil))
	if len(tool.ran()) != maxTurnSteps {
		t.Errorf("%d calls", len(tool.ran()))
	}
}

// A loop interrupted at any moment is resumed, and no finished call runs again.
func TestInterruptedLoopIsResumed(t *testing.T) {
	lines := []line{
		calling("search_notes", `{"query":"running"}`, "add_task", `{"text":"buy shoes"}`),
		calling("brave_web_search", `{"query":"tips"}`), say(goodAnswer),
	}
	for cut := 1; cut <= 14; cut++ {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			notes, site, task := search(), web(), addTask()
			o := Options{
				Workers: workers, Tools: tools(reader{notes}, reader{site}, task), Limits: Limits{Parallel: 1},
				Session: inMode(agent.LoopMode),
			}
			o.Model = &script{lines: lines}
			kept := cutAt(t, cut, o)
			rounds := 0
			cutOff := 0 // calls that started and did not end; one may still run after the interruption
			for _, e := range kept.entries {
				switch e.Moment {
				case agent.Planned:
					rounds++
				case agent.CallStarted:
					cutOff++
				case agent.CallEnded:
					cutOff--
				}
			}
			o.Model, o.Session = &script{lines: lines[rounds:]}, nil // the mode is that of the turn
			end := ended(t, resume(t, kept, o, func(p agent.PermissionAsked) agent.Reply {
				if p.Unknown {
					return agent.Reply{Decision: agent.AlreadyDone}
				}
				return agent.Reply{Decision: agent.AllowOnce}
			}))
			if end.Answer != goodAnswer {
				t.Errorf("the answer is %q", end.Answer)
			}
			if len(task.ran()) > 1 || len(notes.ran())+len(site.ran())+len(task.ran()) > 3+cutOff {
				t.Errorf("ran %v %v %v", notes.ran(), site.ran(), task.ran())
			}
		})
	}
}

// The model's thoughts before its calls are in the next request of the turn, and in
// none of a later turn.
func TestThoughtsAreReadAgainWithinATurn(t *testing.T) {
	call := calling("search_notes", `{"query":"running"}`)
	call.thinking = "The notes know."
	model := &script{lines: []line{call, say(goodAnswer), say("You are welcome.")}}
	a, history := Options{}, &shelf{}
	a.Model, a.History, a.Tools, a.Session = model, history, tools(search()), inMode(agent.LoopMode)
	assistant := New(a)
	for _, message := range []string{question, "thanks a million"} {
		ended(t, collect(assistant.Ask(t.Context(), "c1", message), nil))
	}
	var thoughts []string
	for _, req := range model.requests {
		had := ""
		for _, m := range req.Messages {
			had += m.Thinking
		}
		thoughts = append(thoughts, had)
	}
	if want := []string{"", "The notes know.", ""}; !slices.Equal(thoughts, want) {
		t.Errorf("the requests hold %q, want %q", thoughts, want)
	}
}

// lostModel is a model whose server goes away, after which there is none.
type lostModel struct {
	llm.Model
	lost atomic.Bool
}

func (m *lostModel) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	if m.lost.Load() {
		return offline.New().Stream(ctx, req)
	}
	m.lost.Store(true)
	return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, llm.ErrUnreachable) }
}

func (m *lostModel) Window() int                 { return 0 }
func (m *lostModel) Ready(context.Context) error { return nil }
func (m *lostModel) RejectsLongPrompts() bool    { return false }

func (m *lostModel) ModelName() string {
	if m.lost.Load() {
		return noModel
	}
	return "qwen3:8b"
}

func TestALostModelIsReplacedByPassages(t *testing.T) {
	for _, mode := range []agent.Mode{agent.LoopMode, agent.TeamMode} {
		model := &lostModel{}
		end := ended(t, collect(New(Options{
			Workers: workers,
			Model:   model, Server: model, Session: inMode(mode), History: &shelf{}, Tools: tools(found(fitness)),
		}).Ask(t.Context(), "c1", question), nil))
		if !strings.HasPrefix(end.Answer, passages.NoModel+" Closest passages:") {
			t.Errorf("%s: answered %q", mode, end.Answer)
		}
	}
}

// zoo returns the tools of a server with more than fit a prompt.
func zoo() (list []agent.Tool, feed *fakeTool) {
	list = []agent.Tool{search()}
	for i := range 99 {
		list = append(list, &fakeTool{name: fmt.Sprintf("zoo_cage_%d", i), by: "the MCP server zoo"})
	}
	feed = &fakeTool{
		name: "zoo_feed_giraffe", by: "the MCP server zoo",
		result: agent.Result{Text: "It ate.", Untrusted: true},
	}
	return append(list, feed), feed
}

func offeredTools(req llm.Request) (names []string) {
	for _, spec := range req.Tools {
		names = append(names, spec.Name)
	}
	return names
}

func TestFoundToolStaysOffered(t *testing.T) {
	list, feed := zoo()
	model := &script{lines: []line{
		calling("find_tools", `{"query":"feed the giraffe"}`),
		calling("zoo_feed_giraffe", `{"query":"hay"}`), say("It ate."),
	}}
	ended(t, collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: tools(list...),
		Session: inMode(agent.LoopMode),
	}).Ask(t.Context(), "c1", "The giraffe is hungry"), nil))
	if len(feed.runs) != 1 {
		t.Errorf("it ran %d times", len(feed.runs))
	}
	first, second := offeredTools(model.requests[0]), offeredTools(model.requests[1])
	if want := []string{"search_notes", "delegate", "find_tools"}; !slices.Equal(first, want) {
		t.Errorf("offered are %v, want %v", first, want)
	}
	if len(second) < 4 || !slices.Equal(second[:3], first) || second[3] != "zoo_feed_giraffe" ||
		!slices.Equal(offeredTools(model.requests[2]), second) {
		t.Errorf("then %v are offered", second)
	}
	if result := model.requests[1].Messages[len(model.requests[1].Messages)-1].Text; !strings.Contains(result,
		"zoo_feed_giraffe(query: string)") || strings.Contains(result, "[1]") {
		t.Errorf("the model is told\n%s", result)
	}
}

func TestPlanFindsATool(t *testing.T) {
	list, feed := zoo()
	model := &script{
		lines: []line{say(`{"steps":[{"id":"1","tool":"find_tools","input":{"query":"feed the giraffe"}}],` +
			`"again":true}`), say("It ate.")},
		replans: []line{say(`{"steps":[{"id":"2","tool":"zoo_feed_giraffe","input":{"query":"hay"}}]}`)},
	}
	ended(t, collect(New(Options{
		Workers: workers, Model: model, History: &shelf{},
		Tools: tools(list...),
	}).Ask(t.Context(), "c1", "The giraffe is hungry"), nil))
	if len(feed.runs) != 1 {
		t.Errorf("it ran %d times", len(feed.runs))
	}
}

func TestToolCalledEarlierStaysOffered(t *testing.T) {
	list, _ := zoo()
	for action, message := range map[string]string{
		`zoo_cage_7({"query":"x"})`: "And now?",
		"":                          "Ask @zoo_cage_7 about the lions",
	} {
		model, history := &script{lines: []line{say("Nothing new."), say("Nothing new.")}},
			&before{exchanges: []agent.Exchange{{
				Turn: "t0", Question: "before",
				Answer: agent.Answer{Text: "said", Log: []agent.Logged{{Action: action}}},
			}}}
		ended(t, collect(New(Options{
			Workers: workers, Model: model, History: history, Tools: tools(list...),
			Session: inMode(agent.LoopMode),
		}).Ask(t.Context(), "c1", message), nil))
		if got, want := offeredTools(model.requests[0]), []string{
			"search_notes", "delegate", "find_tools",
			"zoo_cage_7",
		}; !slices.Equal(got, want) {
			t.Errorf("%s: offered are %v, want %v", message, got, want)
		}
	}
}

// Neither the content nor the language of a message changes the tools.
func TestToolsAreTheSameForEachMessage(t *testing.T) {
	list, _ := zoo()
	for _, mode := range []agent.Mode{agent.LoopMode, agent.PlanMode} {
		var system, names string
		for i, message := range []string{
			"Thanks, that helped!", "Setz Milch auf die Einkaufsliste",
			"What is the weather at Henrik's address?",
		} {
			model := &script{lines: []line{say("Hello.")}}
			a := New(Options{
				Workers: workers, Model: model, History: &shelf{},
				Tools: agenttest.Kit{List: append(list, web()), Lacks: map[string]string{"send_email": "no stamps"}},
				Now:   fixedNow, Session: inMode(mode),
			})
			collect(a.Ask(t.Context(), "c1", message), nil)
			asked := model.requests[0]
			if got := fmt.Sprint(offeredTools(asked)); i > 0 && (got != names || asked.Messages[0].Text != system) {
				t.Errorf("%s, %s: %s are offered, and\n%s\nwant %s, and\n%s", mode, message, got,
					asked.Messages[0].Text, names, system)
			}
			system, names = asked.Messages[0].Text, fmt.Sprint(offeredTools(asked))
			if mode == agent.LoopMode && !strings.Contains(system, "- send_email: no stamps") {
				t.Errorf("%s: what is missing is not told:\n%s", mode, system)
			}
		}
	}
}
