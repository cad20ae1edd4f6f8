//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/llm"
	"lifehub/llm/llmtest"

	"lifehub/internal/testenv"
)

// The scripted plans and decisions used by several turns.
const (
	planSearch = `{"reasoning":"the notes may say","steps":[{"id":"1","tool":"search_notes","input":{"query":"how ` +
		`often I run"},"description":"what the plan says"}]}`
	planTwice = `{"reasoning":"the plan, and what is to be done","steps":[{"id":"1","tool":"search_notes",` +
		`"input":{"query":"long run at the end of January"}},` +
		`{"id":"2","tool":"read_note","input":{"path":"running/plan.md"}},{"id":"3","tool":"list_tasks",` +
		`"input":{"query":"Spring Half"}},{"id":"4","tool":"fly","input":{}}]}`
	planTask = `{"reasoning":"a task","steps":[{"id":"1","tool":"add_task","input":{"text":"physio",` +
		`"due":"2026-11-27"},"description":"add it"}]}`
	runReport = "The user runs three times a week: intervals on Tuesday, an easy hour on Thursday, the long run on " +
		"Sunday (running/plan.md:8)."
	runAnswer = "You run three times a week: “I run three times a week: intervals on Tuesday, an easy hour on " +
		"Thursday, the long run on Sunday.” [1]"
)

// promptedTurn is a message of the user and the scripted replies of the model.
type promptedTurn struct {
	message string
	says    []llmtest.Answer
	compact bool // summarise the conversation first
}

func inWords(texts ...string) (says []llmtest.Answer) {
	for _, text := range texts {
		says = append(says, llmtest.Answer{Text: text})
	}
	return says
}

// calling returns an answer that calls tools: name, arguments, name, arguments …
func calling(pairs ...string) llmtest.Answer { return calls("", pairs...) }

func smallTalk(reply string) string {
	return string(must(json.Marshal(map[string]any{"reasoning": "small talk", "steps": []any{}, "answer": reply})))
}

// TestPrompts records every prompt that a model gets in some turns on the starter notes, so that
// each change of wording shows in the diff. The clock is set to a Sunday; only the model is
// scripted.
func TestPrompts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		mode  agent.Mode
		turns []promptedTurn
		facts string
		specs bool // record complete tool descriptions
		small bool // the window has 8,192 tokens
	}{
		"plan, a question about the notes": {
			mode:  agent.PlanMode,
			turns: []promptedTurn{{message: "How often do I run?", says: inWords(planSearch, runAnswer)}},
		},
		"plan, a small window": {
			mode: agent.PlanMode, small: true,
			turns: []promptedTurn{{message: "Wie oft laufe ich?", says: inWords(
				`{"reasoning":"the notes may say","steps":[{"id":"1","tool":"search_notes","input":{}}]}`, planSearch,
				runAnswer,
			)}},
		},
		"plan, thanks": {mode: agent.PlanMode, turns: []promptedTurn{{
			message: "Thanks, that helped",
			says:    inWords(smallTalk("You are welcome.")),
		}}},
		"plan, overlapping results": {
			mode: agent.PlanMode, turns: []promptedTurn{{message: "How long is the long run at the end of January, " +
				"and what is to be done for the Spring Half?", says: inWords(planTwice, planTwice, runAnswer)}},
		},
		"plan, repaired and planned again": {
			mode: agent.PlanMode,
			turns: []promptedTurn{{message: "What does note running/plans say?", says: inWords(
				"I would read it.", `{"steps":[{"id":"1","tool":"read_note","input":{"path":"running/plans.md"}},`+
					`{"id":"2","tool":"search_notes","input":{"query":"xyzzy"}}]}`,
				`{"steps":[{"id":"3","tool":"read_note","input":{"path":"running/plan.md"}}]}`, runAnswer,
			)}},
		},
		"plan, a task is added": {mode: agent.PlanMode, turns: []promptedTurn{{message: "Add a task: physio, due on " +
			"27 November", says: inWords(planTask, "It is on your list.")}}},
		"plan, a longer conversation": {
			mode:  agent.PlanMode,
			facts: "# Memory\n\n- I run in the morning (2026-01-01, you)\n", turns: []promptedTurn{
				{message: "What is my half marathon called?", says: inWords(
					`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"half marathon"}}]}`,
					"It is the Spring Half [1].")},
				{message: "Hello, it is me", says: inWords(smallTalk("Hello."))},
				{message: "Nice weather", says: inWords(smallTalk("It is."))},
				{message: "How often do I run?", says: inWords(planSearch, runAnswer)},
				{
					message: "And what is my half marathon called again?\n\n" +
						agent.Message{Attached: []agent.Attachment{{Name: "stdin", Text: "Spring Half: 14 February"}}}.String(),
					says: inWords(
						planSearch, runAnswer),
				},
				{message: "And when is it?", compact: true, says: inWords("The user runs three times a week.", planSearch,
					runAnswer)},
			},
		},
		"loop, search and read": {mode: agent.LoopMode, turns: []promptedTurn{{message: "How often do I run, and " +
			"when is the Spring Half?", says: []llmtest.Answer{
			calling("search_notes", `{"query":"how often I run"}`),
			calling("read_note", `{"path":"running/plan.md"}`, "search_notes", `{"query":"Spring Half"}`),
			{Text: runAnswer},
		}}}},
		"loop, printed calls, rounds used up": {
			mode: agent.LoopMode,
			turns: []promptedTurn{{message: "How often do I run?", says: []llmtest.Answer{
				{Text: "I will look.\n<tool_call>\n{\"name\": \"search_notes\", \"arguments\": {\"query\": \"how often I " +
					"run\"}}\n</tool_call>"},
				calling("search_notes", `{"query":"how often I run"}`),
				calling("search_notes", `{"query":"how often I run"}`),
				{Text: runAnswer},
			}}},
		},
		"loop, thanks": {mode: agent.LoopMode, specs: true, turns: []promptedTurn{{
			message: "Thanks, that helped",
			says:    inWords("You are welcome."),
		}}},
		"team, small talk": {mode: agent.TeamMode, turns: []promptedTurn{
			{message: "Thanks, that helped", says: inWords("You are welcome.")},
		}},
		"team, rejected, then accepted": {
			mode: agent.TeamMode,
			turns: []promptedTurn{{message: "How often do I run?", says: []llmtest.Answer{
				calling("delegate", `{"worker_type":"notes","task_description":"How often does the user run, and on `+
					`which days?","success_criteria":"It names the days."}`),
				calling("search_notes", `{"query":"how often I run"}`),
				{Text: "Often."},
				{Text: `{"passed":false,"score":0.2,"feedback":"It does not name the days.","suggestions":"Name them."}`},
				{Text: runReport},
				{Text: passes},
				{Text: runAnswer},
			}}},
		},
		"team, a report that goes on": {
			mode: agent.TeamMode,
			turns: []promptedTurn{{
				message: "Add a task to bake the apple cake a week before Marta's birthday",
				says: []llmtest.Answer{
					calling("delegate", `{"worker_type":"notes","task_description":"READ: when is Marta's birthday?",`+
						`"success_criteria":"It names the day."}`),
					calling("search_notes", `{"query":"Marta birthday"}`),
					{Text: "Marta's birthday is on 8 December (people/marta.md:6)."},
					{Text: passes},
					calling("delegate", `{"worker_type":"notes","task_description":"WRITE: add the task to bake the apple `+
						`cake a week before: {{1.text}}","success_criteria":"It was added."}`),
					calling("add_task", `{"text":"bake the apple cake","due":"2026-12-01"}`),
					{Text: "The task was added."},
					{Text: "It is on your list."},
				},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)))
				a := openStarterNotes(t, tc.facts)
				recorder := &promptRecorder{
					Provider: a.Provider, first: map[string]int{},
					specs: tc.specs, small: tc.small,
				}
				a.Provider = recorder
				a.Mode.Use(tc.mode)
				const conversation = "c1" // the mark of a turn depends on it
				for _, turn := range tc.turns {
					recorder.script = llmtest.NewScript(turn.says...)
					if turn.compact {
						must(a.Agent().Compact(t.Context(), conversation, ""))
					}
					for e := range a.Agent().Ask(t.Context(), conversation, turn.message) {
						recorder.heard(t, e)
					}
				}
				golden.RequireEqual(t, recorder.text.String())
			})
		})
	}
}

// TestFixedPrefixesHaveTheirBudget bounds what is sent with every message, whatever it says: the
// system prompt and the built-in tools. The estimate is above what tokenizers count, most of all
// for JSON.
func TestFixedPrefixesHaveTheirBudget(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode           agent.Mode
		window, budget int
		says           string
	}{
		"planner":                {agent.PlanMode, 32768, 266, `{"steps":[]}`},
		"loop of a large model":  {agent.LoopMode, 32768, 2250, "Hello."},
		"auto with a small one":  {agent.AutoMode, 4096, 250, `{"tool":"answer","input":{"text":"Hello."}}`},
		"what the explainer has": {agent.PlanMode, 32768, 400, `{"steps":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := openStarterNotes(t, "")
			model := &budgeted{
				Provider: a.Provider, window: tc.window,
				script: llmtest.NewScript(inWords(tc.says, "Hello.")...),
			}
			a.Provider = model
			a.Mode.Use(tc.mode)
			for range a.Agent().Ask(t.Context(), "c1", "Nice day today!") { //nolint:revive // until it ends
			}
			req := model.sent[0]
			if name == "what the explainer has" {
				req = model.sent[1]
			}
			system, _, _ := strings.Cut(req.Messages[0].Text, "\n\nToday is ")
			tokens := prompt.Tokens(system)
			for _, tool := range req.Tools {
				tokens += prompt.SpecTokens(tool)
			}
			if tokens > tc.budget {
				t.Errorf("about %d tokens are fixed, of %d:\n%s", tokens, tc.budget, req.Messages[0].Text)
			}
		})
	}
}

// budgeted is a scripted model with a window that keeps its requests.
type budgeted struct {
	llm.Provider
	script *llmtest.Script
	window int
	sent   []llm.Request
}

func (b *budgeted) Window() int { return b.window }

func (b *budgeted) State() llm.State {
	s := b.Provider.State()
	s.Model, s.Tools = "scripted", true
	return s
}

func (b *budgeted) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	b.sent = append(b.sent, req)
	return b.script.Stream(ctx, req)
}

// openStarterNotes returns LifeHub on a copy of the starter notes, without a model and without
// saving.
func openStarterNotes(t *testing.T, facts string) *app.App {
	t.Helper()
	home, vault := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	if err := os.CopyFS(vault, os.DirFS("../examples/notes")); err != nil {
		t.Fatal(err)
	}
	for _, file := range must(filepath.Glob(filepath.Join(vault, "*/*"))) {
		if err := os.Chtimes(file, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	a := must(app.Open(t.Context(), apptest.Process(home), app.RunFlags{Notes: []string{vault}, NoSave: true}))
	t.Cleanup(a.Close)
	if facts != "" {
		apptest.Write(t, filepath.Join(a.Paths.MemoryFolder(), "memory.md"), facts)
	}
	for _, v := range a.OpenVaults() {
		must(a.Sync(t.Context(), v, nil))
	}
	return a
}

// promptRecorder is a scripted model that records its requests. Text that an earlier request had in
// the same place is not repeated.
type promptRecorder struct {
	llm.Provider
	script *llmtest.Script
	specs  bool
	small  bool

	mu    sync.Mutex
	asked int
	first map[string]int // the request in which a text first occurred
	text  strings.Builder
}

func (p *promptRecorder) Window() int {
	if p.small {
		return 8192
	}
	return 16384
}

func (p *promptRecorder) State() llm.State {
	s := p.Provider.State()
	s.Model, s.Tools = "scripted", true // so that it counts as a model
	return s
}

func (p *promptRecorder) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	tokens := prompt.Prompt{
		System: req.Messages[0].Text, After: req.Messages[1:],
		Request: req,
	}.Tokens() - prompt.PerMessage
	fmt.Fprintf(&p.text, "━━━ Request %d, %d tokens\n", p.asked, tokens)
	if len(req.Schema) > 0 {
		p.once("schema", string(req.Schema))
	}
	var names, specs []string
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
		specs = append(specs, fmt.Sprintf("%s: %s\n    %s", tool.Name, tool.Description, tool.Schema))
	}
	if len(names) > 0 {
		fmt.Fprintf(&p.text, "── tools: %s\n", strings.Join(names, " "))
	}
	if p.specs {
		p.once("what is said of them", strings.Join(specs, "\n"))
	}
	for _, m := range req.Messages {
		text := m.Text
		for _, c := range m.Calls {
			text += fmt.Sprintf("\n→ %s %s", c.Name, c.Args)
		}
		p.once(strings.TrimSpace(string(m.Role)+" "+m.Tool), text)
	}
	message, usage, err := llm.Collect(p.script.Stream(ctx, req))
	fmt.Fprintf(&p.text, "━━━ Reply %d\n", p.asked)
	if message.Text != "" {
		fmt.Fprintln(&p.text, message.Text)
	}
	for _, c := range message.Calls {
		fmt.Fprintf(&p.text, "→ %s %s\n", c.Name, c.Args)
	}
	p.text.WriteByte('\n')
	return func(yield func(llm.Delta, error) bool) {
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for _, c := range message.Calls {
			if !yield(llm.Delta{Call: &c}, nil) {
				return
			}
		}
		_ = yield(llm.Delta{Text: message.Text}, nil) && yield(llm.Delta{Usage: &usage}, nil)
	}
}

// turnMark matches the mark around untrusted text, which differs per turn.
var turnMark = regexp.MustCompile("«[0-9a-f]{8}»")

// once writes a text, or the request that contained it before.
func (p *promptRecorder) once(what, text string) {
	text = turnMark.ReplaceAllString(text, "«mark»")
	if before := p.first[what+text]; before > 0 {
		fmt.Fprintf(&p.text, "── %s, as in request %d\n", what, before)
		return
	}
	p.first[what+text] = p.asked
	fmt.Fprintf(&p.text, "── %s\n%s\n", what, text)
}

// heard grants each permission and fails the test if the turn fails.
func (p *promptRecorder) heard(t *testing.T, e agent.Event) {
	switch body := e.Body.(type) {
	case agent.PermissionAsked:
		body.Reply(agent.Reply{Decision: agent.AllowOnce})
	case agent.Failed:
		t.Errorf("the turn failed: %+v", body)
	case agent.Noticed:
		t.Logf("noticed: %s", body.Text)
	case agent.Ended:
		p.mu.Lock()
		fmt.Fprintf(&p.text, "━━━ Answer\n%s\n\n", body.Answer)
		p.mu.Unlock()
	}
}
