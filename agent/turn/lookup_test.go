package turn

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/agent/passages"
	"lifehub/llm"
	"lifehub/llm/offline"
)

// foundNothing is a search without results.
func foundNothing() *fakeTool {
	return &fakeTool{name: "search_notes", reads: true, result: agent.Result{
		Text: "no passages", Nothing: true,
		Searched: true, Unlikely: true,
	}}
}

// answered is a plan without steps that holds the answer.
func answered(text string) line { return say(`{"steps":[],"answer":"` + text + `"}`) }

const (
	howOften  = "How often do I go running each week?"
	byHeart   = "Twice a week, I think."
	fromNotes = "You run three times a week [1]."
	limerick  = "A runner who lived by the sea went running each morning till three."
)

var (
	textTask  = handOut("general")
	partOfAll = calling(agent.DelegateTool, `{"worker_type":"general","task_description":"Write a limerick about `+
		`running.","success_criteria":"It has a rhyme."}`)
)

// Whatever the model does, the notes are searched for the message as typed, except for
// small talk and messages about the last answer or a given text.
func TestMemoryStories(t *testing.T) {
	earlier := []llm.Message{
		{Role: llm.User, Text: howOften},
		{Role: llm.Assistant, Text: "You run three times a week: Tuesday, Thursday, Sunday."},
	}
	const poem = "Please find a better word in this line:\nThe boiler sings its evening song."
	tests := map[string]struct {
		mode    agent.Mode
		message string
		history []llm.Message
		notes   *fakeTool // nil: notes cannot be searched
		lines   []line
		want    string // the final text
		effects string
		looks   int // number of searches
		calls   int // number of model calls
	}{
		"plan, the notes say it": {
			message: howOften, notes: search(), lines: []line{answered(byHeart), say(fromNotes)},
			want: fromNotes, effects: "changed nothing", looks: 1, calls: 2,
		},
		"plan, the notes say nothing": {
			message: howOften, notes: foundNothing(), lines: []line{answered(byHeart), say(byHeart)},
			want: byHeart, effects: withoutNotes, looks: 1, calls: 2,
		},
		"plan, there are no notes": {
			message: howOften, lines: []line{answered(byHeart)},
			want: byHeart, effects: "changed nothing", calls: 1,
		},
		"plan, the search fails": {
			message: howOften, notes: &fakeTool{
				name: "search_notes", reads: true,
				err: errors.New("the index is locked"),
			}, lines: []line{answered(byHeart), say(byHeart)},
			want: byHeart, effects: withoutNotes, looks: 1, calls: 2,
		},
		"plan, a text to translate": {
			message: "Translate into German: The boiler needs a service every year.", notes: search(),
			lines: []line{answered("Der Kessel braucht jedes Jahr eine Wartung.")},
			want:  "Der Kessel braucht jedes Jahr eine Wartung.", effects: "changed nothing", calls: 1,
		},
		"loop, the notes say it": {
			mode: agent.LoopMode, message: howOften, notes: search(), lines: []line{say(fromNotes)},
			want: fromNotes, effects: "changed nothing", looks: 1, calls: 1,
		},
		"loop, the notes say nothing": {
			mode: agent.LoopMode, message: howOften, notes: foundNothing(), lines: []line{say(byHeart)},
			want: byHeart, effects: withoutNotes, looks: 1, calls: 1,
		},
		"loop, small talk": {
			mode: agent.LoopMode, message: "Thanks, that helped a lot!", history: earlier, notes: search(),
			lines: []line{say("You're welcome!")},
			want:  "You're welcome!", effects: "changed nothing", calls: 1,
		},
		"loop, a text to work on": {
			mode: agent.LoopMode, message: poem, notes: search(), lines: []line{say("“Hums” is a better word.")},
			want: "“Hums” is a better word.", effects: "changed nothing", calls: 1,
		},
		"loop, about the last answer": {
			mode: agent.LoopMode, message: "Which of these days comes first in the week?", history: earlier,
			notes: search(), lines: []line{say("Tuesday.")},
			want: "Tuesday.", effects: "changed nothing", looks: 1, calls: 1,
		},
		"loop, a call was made": {
			mode: agent.LoopMode, message: howOften, notes: search(),
			lines: []line{calling("search_notes", `{"query":"running"}`), say(fromNotes)},
			want:  fromNotes, effects: "changed nothing", looks: 2, calls: 2,
		},
		"team, the lead answers by heart": {
			mode: agent.TeamMode, message: howOften, notes: search(), lines: []line{say(fromNotes)},
			want: fromNotes, effects: "changed nothing", looks: 1, calls: 1,
		},
		"team, a report without a call goes back": {
			mode: agent.TeamMode, message: "Look up my weekly runs", notes: search(),
			lines: []line{
				oneTask, say(byHeart), calling("search_notes", `{"query":"running"}`),
				say(fromNotes), say(accepted),
			},
			want: fromNotes, effects: "changed nothing", looks: 1, calls: 5,
		},
		"team, its worker makes no call": {
			mode: agent.TeamMode, message: howOften, notes: foundNothing(),
			lines: []line{oneTask, say(byHeart), say(byHeart), say(accepted)},
			want:  byHeart, effects: withoutNotes, looks: 1, calls: 4,
		},
		"team, a text is written": {
			mode: agent.TeamMode, message: "Please write a limerick about running.", notes: search(),
			lines: []line{textTask, say(limerick), say(accepted)},
			want:  limerick, effects: "changed nothing", looks: 1, calls: 3,
		},
		"team, a text is written for the lead": {
			mode: agent.TeamMode, message: "Please write a limerick about running.", notes: search(),
			lines: []line{partOfAll, say(limerick), say(accepted), say("Here you are: " + limerick)},
			want:  "Here you are: " + limerick, effects: "changed nothing", looks: 1, calls: 4,
		},
		"team, a text is improved": {
			mode: agent.TeamMode, message: "Please write a limerick about running.", notes: search(),
			lines: []line{textTask, say("Running."), say(rejected), say(limerick), say(accepted)},
			want:  limerick, effects: "changed nothing", looks: 1, calls: 5,
		},
		"team, a text that is not judged": {
			mode: agent.TeamMode, message: howOften, notes: search(),
			lines: []line{textTask, say(byHeart), say("Hm."), say("Hm."), say(fromNotes)},
			want:  fromNotes, effects: "changed nothing", looks: 1, calls: 5,
		},
		"loop, a worker writes a text": {
			mode: agent.LoopMode, message: "Please write a limerick about running.", notes: search(),
			lines: []line{partOfAll, say(limerick), say(accepted), say(limerick)},
			want:  limerick, effects: "changed nothing", looks: 1, calls: 4,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			offered, model := tools(), &script{lines: tc.lines}
			if tc.notes != nil {
				offered = tools(tc.notes)
			}
			a := New(Options{
				Workers: workers, Model: model, History: &shelf{messages: tc.history}, Tools: offered,
				Now: fixedNow, Session: inMode(tc.mode),
			})
			events := collect(a.Ask(t.Context(), "c1", tc.message), nil)
			end := ended(t, events)
			if end.Answer != tc.want || end.Effects.String() != tc.effects || end.ModelCalls != tc.calls {
				t.Errorf("%q, %q, %d model calls", end.Answer, end.Effects, end.ModelCalls)
			}
			if looks := 0; tc.notes != nil {
				if looks = len(tc.notes.ran()); looks != tc.looks {
					t.Errorf("%d searches", looks)
				}
			}
			if text := saidIn(events); text != tc.want {
				t.Errorf("said %q", text)
			}
			golden.RequireEqual(t, story(t, events))
		})
	}
}

// A worker whose report is returned learns why, once.
func TestReportWithoutACallGoesBackOnce(t *testing.T) {
	model := &script{lines: []line{oneTask, say(byHeart), say(byHeart), say(accepted)}}
	events := collect(New(Options{
		Workers: workers, Model: model, History: &shelf{}, Tools: tools(foundNothing()),
		Session: inMode(agent.TeamMode),
	}).Ask(t.Context(), "c1", howOften), nil)
	ended(t, events)
	back := model.requests[2].Messages
	if last := back[len(back)-1]; last.Role != llm.User || !strings.Contains(last.Text, "No call was made") {
		t.Errorf("the worker is told %+v", last)
	}
	verdicts := bodies[agent.Evaluated](events)
	if len(verdicts) != 2 || verdicts[0].Passed || !verdicts[1].Passed {
		t.Errorf("the verdicts are %+v", verdicts)
	}
}

// The search for an answer from memory runs only if it needs no permission, and not for
// answers written by the program.
func TestSomeAnswersAreNotLookedUp(t *testing.T) {
	for name, o := range map[string]Options{
		"a rule asks":              {Rules: (*gate.Rules)(nil).With(gate.For("search_notes", agent.Confirm))},
		"a rule denies":            {Rules: (*gate.Rules)(nil).With(gate.For("search_notes", agent.Deny))},
		"no model is connected":    {Server: &agenttest.Server{Name: "offline"}},
		"the message limits tools": {},
	} {
		t.Run(name, func(t *testing.T) {
			notes, message := search(), howOften
			if name == "the message limits tools" {
				message = agent.Message{Text: howOften, Tools: []string{"today"}}.String()
			}
			o.Model, o.History, o.Tools = &script{lines: []line{answered(byHeart)}}, &shelf{}, tools(notes)
			end := ended(t, collect(New(o).Ask(t.Context(), "c1", message), always(agent.AllowOnce)))
			if end.Answer != byHeart || end.Effects.String() != "changed nothing" || len(notes.ran()) > 0 {
				t.Errorf("%q, %q, searched %q", end.Answer, end.Effects, notes.ran())
			}
		})
	}
}

// An answer that is interrupted is saved.
func TestCutAnswerFromMemoryStays(t *testing.T) {
	cut := line{text: byHeart, err: llm.ErrCut}
	for mode, lines := range map[agent.Mode][]line{agent.LoopMode: {cut}, agent.PlanMode: {say(`{"steps":[]}`), cut}} {
		kept := &shelf{}
		collect(New(Options{
			Workers: workers, Model: &script{lines: lines}, History: kept, Tools: tools(search()),
			Session: inMode(mode),
		}).Ask(t.Context(), "c1", howOften), nil)
		if got := kept.last(); !strings.HasPrefix(got.Text, byHeart) || !got.Cut {
			t.Errorf("%s: saved %q, cut %t", mode, got.Text, got.Cut)
		}
	}
}

// doubtful is a search whose results hardly answer the question.
func doubtful() *fakeTool {
	return &fakeTool{name: "search_notes", result: agent.Result{
		Text:    fitness.Text,
		Sources: []agent.Source{fitness, tea}, Searched: true, Unlikely: true, Close: true,
	}}
}

const (
	dontSay = "Your notes don't say."
	near    = dontSay + " Related, but not an answer: `fitness.md:12 Running › Plan`, `kitchen/tea.md:1 Tea`."
)

func TestAbstentionComesFirst(t *testing.T) {
	both := say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2",` +
		`"tool":"brave_web_search","input":{"query":"a"}}]}`)
	tests := map[string]struct {
		message string
		tools   []agent.Tool
		plan    line
		says    string
		want    string // the answer
		holds   bool   // the notes have it
	}{
		"a search that doubts": {
			"Who am I?",
			[]agent.Tool{doubtful()},
			searchLine(), "You are Ana [1].",
			near + "\n\nYou are Ana [1].", false,
		},
		"a question in another language": {
			"我的名字是什么？",
			[]agent.Tool{doubtful()},
			searchLine(), "你跑步[1]。",
			near + "\n\n你跑步[1]。", false,
		},
		"nothing found": {
			"Who am I?",
			[]agent.Tool{&fakeTool{
				name:   "search_notes",
				result: agent.Result{Searched: true, Nothing: true, Unlikely: true},
			}},
			searchLine(), "I cannot tell.",
			dontSay + "\n\nI cannot tell.", false,
		},
		"a search that found it": {
			"Who am I?",
			[]agent.Tool{found(fitness)},
			searchLine(),
			"You run [1].", "You run [1].", true,
		},
		"a model that says so": {
			"Who am I?",
			[]agent.Tool{found(fitness)},
			searchLine(),
			"Your notes don't mention a name.", "Your notes don't mention a name.", true,
		},
		"another tool brought the answer": {
			"Who am I?",
			[]agent.Tool{doubtful(), web()},
			both, "The web says Ana.",
			"The web says Ana.", true,
		},
		"no search at all": {
			"Who am I?",
			[]agent.Tool{web()},
			say(`{"steps":[{"id":"1","tool":"brave_web_search","input":{"query":"a"}}]}`), "The web says Ana.",
			"The web says Ana.", true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			model := &script{lines: []line{tc.plan, say(tc.says)}}
			events := collect(New(Options{Model: model, History: &shelf{}, Tools: tools(tc.tools...)}).Ask(t.Context(),
				"c1", tc.message), nil)
			end := ended(t, events)
			if end.Answer != tc.want || end.Unanswered == tc.holds {
				t.Errorf("unanswered %v, answer\n%s\nwant\n%s", end.Unanswered, end.Answer, tc.want)
			}
			var text strings.Builder
			for _, piece := range bodies[agent.Said](events) {
				text.WriteString(piece.Content)
			}
			if text.String() != end.Answer {
				t.Errorf("streamed %q", text.String())
			}
			if last := model.requests[len(model.requests)-1].Messages[1].Text; strings.Contains(last,
				"already begins with") == tc.holds {
				t.Errorf("the prompt: %s", last)
			}
		})
	}
}

func found(sources ...agent.Source) *fakeTool {
	return &fakeTool{name: "search_notes", result: agent.Result{Text: "found", Sources: sources, Searched: true}}
}

// The best of several searches counts.
func TestOneGoodSearchIsEnough(t *testing.T) {
	model := &script{lines: []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2",` +
		`"tool":"look","input":{"query":"b"}}]}`), say("You run [1].")}}
	good := found(fitness)
	good.name = "look"
	end := ended(t, collect(New(Options{
		Model: model, History: &shelf{},
		Tools: tools(doubtful(), good),
	}).Ask(t.Context(), "c1", "Who am I?"), nil))
	if end.Unanswered || end.Answer != "You run [1]." {
		t.Errorf("answer %q", end.Answer)
	}
}

// If a tool failed and the notes have no answer, the failure comes first.
func TestFailureLeadsTheAnswer(t *testing.T) {
	model := &script{lines: []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2",` +
		`"tool":"look","input":{"query":"b"}}]}`), say("It does not answer.")}}
	broken := &fakeTool{name: "look", reads: true, err: errFake("no answer within 60s")}
	end := ended(t, collect(New(Options{
		Model: model, History: &shelf{}, Tools: tools(doubtful(), broken),
		Limits: Limits{Replans: -1},
	}).Ask(t.Context(), "c1", "Who am I?"), nil))
	if !strings.HasPrefix(end.Answer, "`look` failed. "+dontSay) {
		t.Errorf("answer %q", end.Answer)
	}
}

func TestOfflineAbstentionComesFirst(t *testing.T) {
	assistant := New(Options{Model: offline.New(), History: &shelf{}, Tools: tools(doubtful())})
	end := ended(t, collect(assistant.Ask(t.Context(), "c1", "When do I rest from the violin?"), nil))
	if !strings.HasPrefix(end.Answer, passages.NoModel+" Closest passages:\n\n**Running › Plan** · `fitness.md:12`\n> ") || !end.Unanswered || !end.Close {
		t.Errorf("answer %q", end.Answer)
	}
}

func TestHealthReportsOnlyProblems(t *testing.T) {
	for want, c := range map[string]agent.Coverage{
		"searched 1,284 notes":               {Indexed: 1284, Total: 1284, Age: 30, Embedder: "nomic"},
		"searched 1 note":                    {Indexed: 1, Total: 1},
		"searched 900 of 1,284 notes":        {Indexed: 900, Total: 1284},
		"searched 3 notes · indexed 3 h ago": {Indexed: 3, Total: 3, Age: 3 * 3600},
		"searched 3 notes · keyword search only: the embedder is down": {
			Indexed: 3, Total: 3,
			Embedder: "keyword search only: the embedder is down",
		},
	} {
		if got := c.Health(); got != want {
			t.Errorf("%+v is told as %q, not %q", c, got, want)
		}
	}
}
