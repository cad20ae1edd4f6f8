package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/agent/turn"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
)

// The beginnings of the prompts, by which a scripted model knows who asks.
const (
	asksPlanner   = "You plan how to answer"
	asksExplainer = "You answer the user's last message from the sources"
	asksLoop      = "You answer the user's last message. The user keeps notes"
	asksFront     = "You are the front line"
	asksLead      = "You lead a team"
	asksJudge     = "You judge whether"
)

// The model of the figures: how many tokens it reads and writes a second, and
// how many bytes are one of them.
const (
	reads      = 500
	writes     = 30
	tokenBytes = 4
)

// use is a call that answers a question, and the worker whose work it is.
// Those of a later round need what an earlier one brought.
type use struct {
	round              int
	worker, tool, args string
}

// tenth is one of the ten questions with the calls that answer it, whatever the mode.
type tenth struct {
	question string
	uses     []use
	answer   string
	again    bool // the evaluator rejects the first attempt
}

var tenQuestions = []tenth{
	{"Good morning!", nil, "Good morning! What shall we look up?", false},
	{"How often do I run?", []use{{0, "notes", "search_notes", `{"query":"how often run a week"}`}}, "You run four times a week [1].", false},
	{"What do my notes say about running, and which tasks are open?", []use{
		{0, "notes", "search_notes", `{"query":"running"}`}, {0, "notes", "list_tasks", `{"status":"open"}`},
	}, "Your plan has four runs a week [1]. Open is, among others, what the list above shows.", false},
	{"What is 17 % of 2340?", []use{{0, "general", "calculate", `{"expression":"2340*17/100"}`}}, "397.8.", false},
	{"What time is it in Tokyo, and what is planned for the Azores?", []use{
		{0, "general", "today", `{"zone":"Asia/Tokyo"}`}, {0, "notes", "search_notes", `{"query":"Azores plan"}`},
	}, "It is evening in Tokyo. The plan of the Azores is in your notes [1].", false},
	{"Read me my sourdough recipe.", []use{
		{0, "notes", "search_notes", `{"query":"sourdough recipe"}`}, {1, "notes", "read_note", `{"path":"recipes/sourdough.md"}`},
	}, "Your sourdough [1]: mix, fold, rest over night, bake hot.", false},
	{"What did I write down this week?", []use{
		{0, "notes", "list_notes", `{"folder":"daily"}`}, {1, "notes", "read_note", `{"path":"daily/2026-11-20.md"}`}, {1, "notes", "read_note", `{"path":"daily/2026-11-19.md"}`},
	}, "On the 19th and 20th you wrote of your days [1][2].", false},
	{"What do my notes say about playing the violin?", []use{
		{0, "notes", "search_notes", `{"query":"violin"}`}, {1, "notes", "search_notes", `{"query":"music lessons instrument"}`},
	}, "Nothing is written of it.", false},
	{"Which shoes do I run in, and what needs mending on the bike?", []use{
		{0, "notes", "search_notes", `{"query":"running shoes"}`}, {0, "notes", "search_notes", `{"query":"bike mending"}`},
	}, "Shoes [1] and bike [2] each have a note.", true},
	{"Compare my races with my plan and tell what to change.", []use{
		{0, "notes", "search_notes", `{"query":"races"}`},
		{0, "notes", "search_notes", `{"query":"running plan"}`},
		{1, "notes", "read_note", `{"path":"running/races.md"}`},
		{1, "notes", "read_note", `{"path":"running/plan.md"}`},
		{2, "general", "calculate", `{"expression":"42.195/3.75"}`},
	}, strings.Repeat("The long run could grow a little earlier than the plan says [1]. ", 8), false},
}

// TestWhatTheModesCost asks ten questions in each mode: the real turn, tools
// and notes; the model's words are scripted, and its time is that of a stated
// rate on a clock of the test. docs/modes.md holds the table that it prints.
func TestWhatTheModesCost(t *testing.T) {
	t.Logf("the model reads %d and writes %d tokens a second; a token is %d bytes", reads, writes, tokenBytes)
	sums := map[agent.Mode]*agent.Metrics{}
	queued := map[agent.Mode]int64{}
	for i, q := range tenQuestions {
		row := fmt.Sprintf("| %2d %-64.64s |", i+1, q.question)
		for _, mode := range agent.Modes() {
			m := costOf(t, q, mode, 4)
			one := m
			if mode == agent.TeamMode { // only its workers ask side by side
				one = costOf(t, q, mode, 1)
			}
			if sums[mode] == nil {
				sums[mode] = &agent.Metrics{}
			}
			s := sums[mode]
			s.ModelCalls, s.PromptTokens, s.AnswerTokens, s.Latency = s.ModelCalls+m.ModelCalls, s.PromptTokens+m.PromptTokens, s.AnswerTokens+m.AnswerTokens, s.Latency+m.Latency
			queued[mode] += one.Latency
			row += fmt.Sprintf(" %d · %.1fk · %.0f s |", m.ModelCalls, float64(m.PromptTokens+m.AnswerTokens)/1000, float64(m.Latency)/1000)
			if q.uses == nil && m.ModelCalls != 1 {
				t.Errorf("small talk takes %d calls in mode %s", m.ModelCalls, mode)
			}
		}
		t.Log(row)
	}
	for _, mode := range agent.Modes() {
		s := sums[mode]
		t.Logf("%s: %.1f calls, %d tokens read, %d written, %.1f s a question; %.1f s where the server answers one at a time", mode,
			float64(s.ModelCalls)/10, s.PromptTokens/10, s.AnswerTokens/10, float64(s.Latency)/10_000, float64(queued[mode])/10_000)
	}
	if plan, loop, team := sums[agent.PlanMode], sums[agent.LoopMode], sums[agent.TeamMode]; plan.ModelCalls >= loop.ModelCalls || loop.ModelCalls >= team.ModelCalls {
		t.Errorf("calls: plan %d, loop %d, team %d; docs/modes.md says that each takes more than the one before", plan.ModelCalls, loop.ModelCalls, team.ModelCalls)
	}
}

// costOf asks one question; the server answers so many requests side by side.
func costOf(t *testing.T, q tenth, mode agent.Mode, slots int) (m agent.Metrics) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		folder, err := notes.Open("../examples/notes")
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		index, err := rag.Open(t.TempDir(), rag.Options{Vault: folder.Dir()})
		if err != nil {
			t.Fatal(err)
		}
		defer index.Close()
		if _, err := index.Sync(t.Context(), folder, nil, func(rag.Progress) {}); err != nil {
			t.Fatal(err)
		}
		kept, err := store.InMemory()
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		kit := tools.All(tools.Deps{Search: rag.Library{Indexes: []*rag.Index{index}}, Folders: func() []*notes.Folder { return []*notes.Folder{folder} }, Kept: kept})
		model := &paced{tenth: q, slots: make(chan struct{}, slots), judged: map[string]bool{}}
		a := turn.New(turn.Options{Model: model, History: kept, Tools: func() []agent.Tool { return kit }, Mode: func() agent.Mode { return mode }, Unattended: true})
		for e := range a.Ask(t.Context(), kept.NewConversation(), q.question) {
			switch body := e.Body.(type) {
			case agent.Ended:
				m = body.Metrics
			case agent.Failed:
				t.Errorf("%s in mode %s: %s", q.question, mode, body.Message)
			case agent.StepChanged:
				if body.Status == agent.StepFailed {
					t.Errorf("%s in mode %s: step %s %s: %s", q.question, mode, body.Step, body.Status, body.Reason)
				}
			}
		}
	})
	return m
}

// paced is a model that answers one question in any mode, at its rate.
type paced struct {
	tenth
	slots  chan struct{} // as many requests are answered at once
	judged map[string]bool
}

func (p *paced) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		p.slots <- struct{}{}
		defer func() { <-p.slots }()
		text, made := p.reply(req)
		read, written := 0, len(text)
		for _, m := range req.Messages {
			read += len(m.Text)
			for _, c := range m.Calls {
				read += len(c.Name) + len(c.Args)
			}
		}
		for _, tool := range req.Tools {
			read += len(tool.Name) + len(tool.Description) + len(tool.Schema)
		}
		for _, c := range made {
			written += len(c.Name) + len(c.Args)
		}
		usage := llm.Usage{Prompt: read/tokenBytes + 1, Answer: written/tokenBytes + 1, Stopped: llm.StopEnd}
		usage.Generating = time.Duration(usage.Answer) * time.Second / writes
		time.Sleep(time.Duration(usage.Prompt)*time.Second/reads + usage.Generating)
		if text != "" && !yield(llm.Delta{Text: text}, nil) {
			return
		}
		for _, c := range made {
			if !yield(llm.Delta{Call: &c}, nil) {
				return
			}
		}
		yield(llm.Delta{Usage: &usage}, nil)
	}
}

// reply is what is said to who asks.
func (p *paced) reply(req llm.Request) (text string, made []llm.ToolCall) {
	system := req.Messages[0].Text
	is := func(who string) bool { return strings.HasPrefix(system, who) }
	rounds := 0
	for _, m := range req.Messages {
		if len(m.Calls) > 0 {
			rounds++
		}
	}
	switch {
	case is(asksPlanner) && (req.Task != nil && len(req.Task.Results) > 0): // planned again
		return `{"reasoning":"there is no other way","steps":[]}`, nil
	case is(asksPlanner):
		return p.plan(), nil
	case is(asksLoop):
		if made = p.calls("", rounds); made != nil {
			return "", made
		}
		return p.answer, nil
	case is(asksFront) && p.uses == nil:
		return jsonOf(map[string]any{"reason": "small talk", "route": false, "answer": p.answer}), nil
	case is(asksFront):
		return `{"reason":"it needs notes or tools","route":true}`, nil
	case is(asksLead):
		return p.tasks(), nil
	case is(asksJudge):
		if p.again && !p.judged[p.question] {
			p.judged[p.question] = true
			return `{"passed":false,"score":0.5,"feedback":"It does not name the notes.","suggestions":"Name note and line."}`, nil
		}
		return `{"passed":true,"score":0.9,"feedback":"Each claim rests on a call."}`, nil
	case is("You are a member of a team. You do what"):
		if made = p.calls("general", rounds); made != nil {
			return "", made
		}
		return "The result of the tool is: " + p.answer, nil
	case is("You are a member of a team."):
		if made = p.calls("notes", rounds); made != nil {
			return "", made
		}
		return "The notes say, each with its line: " + p.answer, nil
	}
	return p.answer, nil
}

// calls are those of a round; "" is any worker.
func (p *paced) calls(worker string, round int) (made []llm.ToolCall) {
	rounds := map[int]bool{}
	first := 99
	for _, u := range p.uses {
		if worker == "" || u.worker == worker {
			rounds[u.round] = true
			first = min(first, u.round)
		}
	}
	for i, u := range p.uses {
		if (worker == "" || u.worker == worker) && u.round == first+round {
			made = append(made, llm.ToolCall{ID: fmt.Sprint("c", i), Name: u.tool, Args: json.RawMessage(u.args)})
		}
	}
	return made
}

// plan is one that makes all calls, those of a later round after the others.
func (p *paced) plan() string {
	steps := []map[string]any{}
	for i, u := range p.uses {
		after := []string{}
		for j, other := range p.uses {
			if other.round < u.round {
				after = append(after, fmt.Sprint(j+1))
			}
		}
		steps = append(steps, map[string]any{"id": fmt.Sprint(i + 1), "tool": u.tool, "input": json.RawMessage(u.args), "description": "what the question needs", "after": after})
	}
	if len(steps) == 0 {
		return jsonOf(map[string]any{"reasoning": "small talk", "steps": steps, "answer": p.answer})
	}
	return jsonOf(map[string]any{"reasoning": "these calls answer it", "steps": steps, "answer": ""})
}

// tasks is the lead's decision: a task for each worker that has calls.
func (p *paced) tasks() string {
	var list []map[string]any
	for _, worker := range []string{"notes", "general"} {
		for _, u := range p.uses {
			if u.worker == worker {
				list = append(list, map[string]any{
					"id": worker, "worker_type": worker, "task_description": "Find what is needed to answer: " + p.question, "success_criteria": "It names note and line, or says that nothing was found.",
				})
				break
			}
		}
	}
	return jsonOf(map[string]any{"reasoning": "as few as will do", "tasks": list})
}

func jsonOf(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(raw)
}
