package turn

import (
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

// small returns options for a small model in auto mode.
// fences is a guide to add_task.
var fences = agent.Guide{
	Tools: []agent.Brief{{Name: "search_notes", Args: "query"}, {Name: "add_task", Args: "text"}},
	Examples: []agent.Example{{
		Message: "new task: paint the fence", Tool: "add_task",
		Input: `{"text":"paint the fence"}`,
	}},
	Words: []string{"fence"},
}

func small(model llm.Model, kit ...agent.Tool) Options {
	return Options{
		Model: model, History: &shelf{}, Tools: tools(kit...), Session: inMode(agent.AutoMode),
		Server: &agenttest.Server{Name: "tiny"},
		Traits: being{Small: true, Native: true}, Guide: fences,
	}
}

// An ordinary question takes one request, whose fixed part is short and which has the
// passages found for the question as typed; until something else is read, the model can
// answer or act, not read on.
func TestSmallModelAnswersInOneRequest(t *testing.T) {
	model := &script{lines: []line{say(`{"tool":"answer","input":{"text":"Three times a week."}}`)}}
	end := ended(t, collect(New(small(model, search(), addTask())).Ask(t.Context(), "c1", howOften), nil))
	asked := model.requests[0]
	if end.Answer != "Three times a week." || end.ModelCalls != 1 || len(end.Sources) != 1 || len(asked.Tools) > 0 {
		t.Errorf("%q after %d calls, sources %+v, %d tools", end.Answer, end.ModelCalls, end.Sources, len(asked.Tools))
	}
	if schema := string(asked.Schema); strings.Contains(schema, "search_notes") ||
		!strings.Contains(schema, "add_task") || !strings.Contains(schema, `"answer"`) {
		t.Errorf("the schema is %s", schema)
	}
	if last := asked.Messages[len(asked.Messages)-1].Text; !strings.Contains(last, fitness.Text) ||
		!strings.HasSuffix(last, howOften) {
		t.Errorf("the last message is %s", last)
	}
	if n := prompt.Tokens(asked.Messages[0].Text); n > 250 {
		t.Errorf("the system prompt has about %d tokens", n)
	}
}

// What a small model changed is reported by the program, and a reply made of an example
// is asked for once more.
func TestSmallModelActsOnceAndInvolvesNoExample(t *testing.T) {
	task := noteTool{addTask()}
	model := &script{lines: []line{
		say(`{"tool":"add_task","input":{"text":"paint the fence"}}`),
		say(`{"tool":"add_task","input":{"text":"buy shoes"}}`),
	}}
	end := ended(t, collect(New(small(model, search(), task)).Ask(t.Context(), "c1", "new task: buy shoes"),
		always(agent.AllowOnce)))
	if ran := task.ran(); len(ran) != 1 || end.ModelCalls != 2 ||
		strings.Contains(end.Answer, "fence") || end.Answer == "" {
		t.Errorf("ran %q, answered %q after %d calls", ran, end.Answer, end.ModelCalls)
	}
}

// The history of a model that writes its calls as JSON is in that notation, so that it
// goes on in it, and a server has read its answers already.
func TestHistoryIsInTheNotationOfTheModel(t *testing.T) {
	path := []agent.Exchange{
		{Question: "Where does the boat lie?", Answer: agent.Answer{
			Text: "At \"pier\" <4>.",
			Log:  []agent.Logged{{Action: `search_notes({"query":"boat"})`}},
		}},
		{Question: "note it", Answer: agent.Answer{
			Text: "added to tasks.md:9",
			Log: []agent.Logged{
				{Action: `search_notes({"query":"note it"})`},
				{Action: `add_task({"text":"boat"})`, Result: "added"},
			},
		}},
	}
	model := &script{lines: []line{say(`{"tool":"answer","input":{"text":"Well."}}`)}}
	o := small(model, search(), addTask())
	o.History = &before{exchanges: path}
	collect(New(o).Ask(t.Context(), "c1", "And now?"), nil)
	var got []string
	for _, m := range model.requests[0].Messages[1+len(smallExamples(fences)):] {
		if m.Role == llm.Assistant {
			got = append(got, m.Text)
		}
	}
	if want := []string{
		`{"tool":"answer","input":{"text":"At \"pier\" <4>."}}`,
		`{"tool":"add_task","input":{"text":"boat"}}`,
	}; !slices.Equal(got, want) {
		t.Errorf("the model said\n%q, want\n%q", got, want)
	}
}

// A small model that makes a call again is asked for an answer in the same prompt, with
// nothing else to choose.
func TestSmallModelThatRepeatsACallHasToAnswer(t *testing.T) {
	again := say(`{"tool":"list_tasks","input":{}}`)
	for name, lines := range map[string][]line{
		"once": {again, again, say(`{"tool":"answer","input":{"text":"Two tasks."}}`)},
		"on":   {again, again, again, say(`{"tool":"answer","input":{"text":"Two tasks."}}`)},
	} {
		list := &fakeTool{
			name: "list_tasks", schema: `{"type":"object"}`, reads: true,
			result: agent.Result{Text: "two tasks"},
		}
		model := &script{lines: lines}
		end := ended(t, collect(New(small(model, foundNothing(), list)).Ask(t.Context(), "c1",
			"What is there for me to do today?"), nil))
		first, last := model.requests[0], model.requests[len(model.requests)-1]
		if end.Answer != "Two tasks." || len(list.ran()) != 1 || strings.Contains(string(last.Schema), "list_tasks") {
			t.Errorf("%s: answer %q after %d calls, the last of %s", name, end.Answer, len(list.ran()), last.Schema)
		}
		if last.Messages[0].Text != first.Messages[0].Text {
			t.Errorf("%s: the system prompt changed to\n%s", name, last.Messages[0].Text)
		}
	}
}

// A small model that invents an answer, where neither the notes nor the conversation
// have one, is not believed; a text to work on, and what the conversation says, is.
func TestSmallModelDoesNotInvent(t *testing.T) {
	earlier := []agent.Exchange{{
		Question: "My blood group is zero negative.",
		Answer:   agent.Answer{Text: "Noted: zero negative."},
	}}
	for name, tc := range map[string]struct {
		history        agent.History
		question, want string
	}{
		"invented": {&shelf{}, "What is my blood group?", notThere},
		"from the talk": {
			&before{exchanges: earlier}, "What is my blood group?",
			"Your blood group is zero negative.",
		},
		"a text to change": {
			&shelf{}, "Put this into other words: your blood group is zero negative today",
			"Your blood group is zero negative.",
		},
	} {
		model := &script{lines: []line{say(`{"tool":"answer","input":{"text":"Your blood group is zero negative."}}`)}}
		o := small(model, foundNothing(), addTask())
		o.History = tc.history
		events := collect(New(o).Ask(t.Context(), "c1", tc.question), nil)
		said := ""
		for _, piece := range bodies[agent.Said](events) {
			if said = said[:len(said)-piece.Takes] + piece.Content; tc.want == notThere &&
				strings.Contains(said, "zero") {
				t.Errorf("%s: said %q", name, said)
			}
		}
		if end := ended(t, events); end.Answer != tc.want || said != tc.want {
			t.Errorf("%s: answer %q, want %q", name, end.Answer, tc.want)
		}
	}
}

func TestKindsOfMessagesAreRecognised(t *testing.T) {
	for message, want := range map[string]bool{
		"Hello!":               true,
		"Thanks, that helped!": true,
		"Guten Morgen":         true,
		"make it shorter":      true,
		"How are you?":         true, // none of its words has content
		"Why?":                 true,
		"你好！":                  true,
		"Translate into German: The boiler needs a service every year.":      true,
		"Wie sagt man “The boiler needs a service every year” auf Deutsch?":  true,
		"Shorten this for me, will you please?\nThe boiler needs a service.": true,

		"How often do I run?":                                   false,
		"Which pressure should my boiler have?":                 false,
		"When is Easter?":                                       false,
		"Tell me about the plan for the half marathon":          false,
		"What do my notes say about: boiler":                    false,
		"Remind me at 10:30 of the call with my physio, please": false,
		"我的锅炉的压力应该是多少？":                                         false,
		"Who said “never again” in my diary, and when was it?":  false,
	} {
		if got := needsNoNotes(message); got != want {
			t.Errorf("%q needs no notes: %t", message, got)
		}
	}
}

func TestAnswerMayRestOnTheLastOne(t *testing.T) {
	const last = "You run three times a week: Tuesday, Thursday and Sunday. The long run grows by 10 % each week."
	for answer, want := range map[string]bool{
		"Three runs a week: Tuesday, Thursday, Sunday.": true,
		"Tuesday.":                              true,
		"The boiler was serviced by Mr Okafor.": false,
		"Your boiler should have 1.5 bar when it is cold, as the manual says on Tuesday.": false,
		"": false,
	} {
		if got := restsOn(answer, last); got != want {
			t.Errorf("%q: %t", answer, got)
		}
	}
	if restsOn("Tuesday.", "") {
		t.Error("it rests on no answer")
	}
}

func TestCounterQuestionClaimsNothing(t *testing.T) {
	for answer, want := range map[string]bool{
		"Which one do you mean?":             true,
		"Which one? The boiler or the shed?": true,
		"どれのことですか？":                          true,
		"هل تقصد الاجتماع؟":                  true,
		"It is 1.5 bar. Anything else?":      false,
		"It is 1.5 bar.":                     false,
		"":                                   false,
	} {
		if got := onlyAsks(answer); got != want {
			t.Errorf("%q only asks: %t", answer, got)
		}
	}
}

func TestSumIsNotFromMemory(t *testing.T) {
	for _, c := range []struct {
		answer, result, question string
		want                     bool
	}{
		{"That is 19.", "15% of 80 + 7 = 19", "How much is 15 % of 80, plus 7?", true},
		{"Es ist Mittwoch, der 25.", "Wednesday, 25 November 2026", "Welcher Tag ist heute?", true},
		{
			"Your boiler should have 1.5 bar.", "Wednesday, 25 November 2026",
			"Which pressure should my boiler have?", false,
		},
		{"I do not know.", "15% of 80 + 7 = 19", "How much is 15 % of 80, plus 7?", false},
	} {
		if got := hasNewWord(c.answer, c.result, c.question); got != c.want {
			t.Errorf("%q after %q: %t", c.answer, c.result, got)
		}
	}
}

func TestAnswerMayRestOnAnExchange(t *testing.T) {
	const told = "You wanted to call Pucher about the pressure; I answered that it is done, in the garden list, on " +
		"Saturday."
	history := []llm.Message{
		{Role: llm.User, Text: "Call Pucher about the pressure"},
		{Role: llm.Assistant, Text: "Done: garden list, Saturday."},
	}
	notes := search()
	a := New(Options{
		Model: &script{lines: []line{say(told)}}, History: &shelf{messages: history}, Tools: tools(notes),
		Session: inMode(agent.LoopMode),
	})
	if end := ended(t, collect(a.Ask(t.Context(), "c1", "What did I want first, and what did you do?"),
		nil)); end.Answer != told || end.Effects.String() != "changed nothing" {
		t.Errorf("answer %q, effects %q", end.Answer, end.Effects)
	}
}
