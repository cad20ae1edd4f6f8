package turn

import (
	"errors"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/llm"
)

var fitness = agent.Source{
	Path: "fitness.md", Vault: "/vault", Line: 12, EndLine: 14, Heading: "Running › Plan", Score: 0.8,
	Text: "Run three times a week: Tuesday, Thursday, Sunday.\nRaise the long run by 10 % each week.\nRest on Monday.",
}

var tea = agent.Source{
	Path: "kitchen/tea.md", Line: 1, EndLine: 6, Heading: "Tea",
	Text: "# Tea\n\nSteep green tea for two minutes at 75 °C. Never use boiling water.\n\n- Black tea: four " +
		"minutes\n- Drink it *without* sugar",
}

func search() *fakeTool {
	return &fakeTool{name: "search_notes", reads: true, result: agent.Result{
		Text:    fitness.Text,
		Sources: []agent.Source{fitness}, Searched: true,
	}}
}

func web() *fakeTool {
	return &fakeTool{name: "brave_web_search", result: agent.Result{
		Text:      "1. Marathon guide: drink early.",
		Untrusted: true,
	}}
}

func addTask() *fakeTool {
	return &fakeTool{
		name: "add_task", level: agent.Confirm, schema: `{"type":"object","properties":{"text":{"type":"string"}},` +
			`"required":["text"]}`,
		bounds: []string{"note"}, result: agent.Result{Text: "added"},
		preview: agent.Preview{Path: "tasks.md", Diff: "+- [ ] buy shoes\n"},
	}
}

const (
	question = "What's in my notes about running? Also search the web for marathon training tips."
	errand   = "Running notes, and marathon tips" // by its form, nothing is searched for it as typed
	twoSteps = `{"reasoning":"notes and web","steps":[{"id":"1","tool":"search_notes","input":{"query":"running"},` +
		`"description":"running notes"},{"id":"2","tool":"brave_web_search","input":{"query":"marathon training ` +
		`tips"}}],"answer":""}`
	searchStep = `{"reasoning":"notes","steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`
	taskStep   = `{"reasoning":"a task","steps":[{"id":"1","tool":"add_task","input":{"text":"buy shoes"}}]}`
	goodAnswer = "You run three times a week [1]. The web says to drink early."
)

func TestStories(t *testing.T) {
	tests := map[string]struct {
		message string
		tools   []agent.Tool
		lines   []line
		replans []line
		reply   agent.Decision
		options Options
	}{
		"notes and web, two model calls": {
			message: question, tools: []agent.Tool{search(), web()},
			lines: []line{say(twoSteps), say(goodAnswer)},
		},
		"small talk, one model call": {
			message: "Nice day today!", tools: []agent.Tool{search()},
			lines: []line{say(`{"reasoning":"a greeting","steps":[],"answer":"Hello! What shall we\nlook up?"}`)},
		},
		"a plan that is repaired": {
			message: question, tools: []agent.Tool{search()},
			lines: []line{say("I would search."), say(searchStep), say(goodAnswer)},
		},
		"no plan, so it searches": {
			message: question, tools: []agent.Tool{search()},
			lines: []line{say("I would search."), say("Sorry."), say(goodAnswer)},
		},
		"an unknown tool is dropped": {message: question, tools: []agent.Tool{search()}, lines: []line{
			say(`{"reasoning":"","steps":[{"id":1,"tool":"fly","input":{}},{"id":2,"tool":"search_notes",` +
				`"input":{"query":"running"},"after":[1]}]}`),
			say(`{"reasoning":"","steps":[{"id":1,"tool":"fly","input":{}},{"id":2,"tool":"search_notes",` +
				`"input":{"query":"running"},"after":[1]}]}`), say(goodAnswer),
		}},
		"a failed step is kept": {
			message: question, tools: []agent.Tool{
				search(),
				&fakeTool{name: "brave_web_search", err: errors.New("no network")},
			},
			lines: []line{say(twoSteps), say(goodAnswer)},
		},
		"a permission is given": {
			message: "add a task", tools: []agent.Tool{addTask()}, reply: agent.AllowOnce,
			lines: []line{say(taskStep), say("Done.")},
		},
		"a permission is refused": {
			message: "add a task", tools: []agent.Tool{addTask()}, reply: agent.Refuse,
			lines: []line{say(taskStep), say("Not added, as you wish.")},
		},
		"nobody can be asked": {
			message: "add a task", tools: []agent.Tool{addTask()}, options: Options{Unattended: true},
			lines: []line{say(taskStep), say("I was not allowed to.")},
		},
		"the answer is cut": {
			message: question, tools: []agent.Tool{search()},
			lines: []line{say(searchStep), {text: "You run three times", err: llm.ErrCut}},
		},
		"the model is missing": {
			message: question, tools: []agent.Tool{search()},
			lines: []line{{err: &llm.NotFoundError{Model: "qwen3:8b"}}},
		},
		"the server is down": {
			message: question, tools: []agent.Tool{search()},
			lines: []line{{err: llm.ErrUnreachable}},
		},
		"a tool breaks": {message: question, tools: []agent.Tool{&fakeTool{
			name: "search_notes", reads: true,
			panics: true,
		}}, lines: []line{say(searchStep), say("The search broke.")}},
		"an empty message": {message: " \n"},
		"nothing was found": {
			message: question, tools: []agent.Tool{&fakeTool{
				name: "search_notes", reads: true,
				result: agent.Result{Text: "no passages", Nothing: true, Searched: true, Unlikely: true},
			}},
			lines: []line{say(searchStep), say("Nothing is written of running.")},
		},
		"nothing was found, so it is planned again": {
			message: question,
			tools: []agent.Tool{
				&fakeTool{
					name: "search_notes", reads: true,
					result: agent.Result{Text: "no passages", Nothing: true, Searched: true, Unlikely: true},
				}, web(),
				&fakeTool{name: "list_notes", reads: true, result: agent.Result{Text: "fitness.md"}},
			},
			lines: []line{say(twoSteps), say("There is a note on fitness.")},
			replans: []line{say(`{"reasoning":"by name","steps":[{"id":"3","tool":"list_notes",` +
				`"input":{"query":"{{2.text}} {{4.text}}"}},{"id":"4","tool":"brave_web_search",` +
				`"input":{"query":"marathon training tips"}}]}`)},
		},
		"planned again twice at most": {
			message: question, tools: []agent.Tool{&fakeTool{
				name: "search_notes", reads: true,
				err: errors.New("the index is locked"),
			}},
			lines: []line{say(searchStep), say("The search broke.")},
			replans: []line{
				say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"jogging"}}]}`),
				say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"trail"}}]}`),
				say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"shoes"}}]}`),
			},
		},
		"thoughts stay apart": {message: question, tools: []agent.Tool{search()}, lines: []line{
			{thinking: "Which tool?", text: searchStep}, say("<think>Three times, it says.</think>\n\n" + goodAnswer),
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := tc.options
			o.Model, o.History = &script{lines: tc.lines, replans: tc.replans}, &shelf{}
			o.Tools, o.Now, o.Limits.Parallel = tools(tc.tools...), fixedNow, 1
			events := collect(New(o).Ask(t.Context(), "c1", tc.message), always(tc.reply))
			golden.RequireEqual(t, story(t, events))
		})
	}
}
