//go:build unix

package cli

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// reused is a message of the conversation that measures the reuse of prompts, and the scripted
// replies of the model in each mode.
type reused struct {
	message          string
	plan, loop, team []llmtest.Answer
}

// reuseTurns returns ten messages: small talk, one search, two rounds, a change, an invalid answer,
// and a search that finds nothing.
func reuseTurns() []reused {
	const (
		nothing = `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"xyzzy"}}]}`
		read    = `{"steps":[{"id":"2","tool":"read_note","input":{"path":"running/plan.md"}}]}`
	)
	lead := calling("delegate", `{"worker_type":"notes","task_description":"Find out how often the user runs.",`+
		`"success_criteria":"It names the days.","whole_message":true}`)
	write := calling("delegate", `{"worker_type":"notes","task_description":"Add the task physio.",`+
		`"success_criteria":"It was added.","whole_message":true}`)
	search := calling("search_notes", `{"query":"how often I run"}`)
	reads := calling("read_note", `{"path":"running/plan.md"}`)
	adds := calling("add_task", `{"text":"physio","due":"2026-11-27"}`)
	answer, added := llmtest.Answer{Text: runAnswer}, llmtest.Answer{Text: "It is on your list."}
	again := `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"how often I run"}}],"again":true}`
	broken := llmtest.Answer{Text: `<tool_call>{"name": "search_notes", "arguments": {"query": </tool_call>`}
	half := []reused{
		{"Nice day today!", inWords(smallTalk("Hello.")), inWords("Hello."), inWords("Hello.")},
		{
			"How often do I run?", inWords(planSearch, runAnswer),
			[]llmtest.Answer{search, answer},
			[]llmtest.Answer{lead, search, answer, answer},
		},
		{
			"Und was steht genau in meinem Trainingsplan?", inWords(again, read, runAnswer),
			[]llmtest.Answer{search, reads, answer},
			[]llmtest.Answer{lead, search, reads, answer, answer},
		},
		{
			"Add a task: physio, due on 27 November", inWords(planTask, "It is on your list."),
			[]llmtest.Answer{adds, added},
			[]llmtest.Answer{write, adds, added, added},
		},
		{
			"What does my training look like?", inWords("I would look.", planSearch, runAnswer),
			[]llmtest.Answer{broken, search, answer},
			[]llmtest.Answer{lead, search, answer, answer},
		},
		{
			"Which shoes do I wear?", inWords(nothing, read, runAnswer),
			[]llmtest.Answer{calling("search_notes", `{"query":"xyzzy"}`), reads, answer},
			[]llmtest.Answer{lead, reads, answer, answer},
		},
		{
			"Thanks, that helps", inWords(smallTalk("You are welcome.")), inWords("You are welcome."),
			inWords("You are welcome."),
		},
		{
			"What's the weather at Henrik's address?", inWords(planSearch, runAnswer),
			[]llmtest.Answer{search, answer},
			[]llmtest.Answer{lead, search, answer, answer},
		},
		{
			"Mark the radiators as done, and when do I run?", inWords(planSearch, runAnswer),
			[]llmtest.Answer{search, reads, answer},
			[]llmtest.Answer{lead, search, reads, answer, answer},
		},
		{"Danke, das hilft!", inWords(smallTalk("Gerne.")), inWords("Gerne."), inWords("Gerne.")},
	}
	return append(half, half...)
}

// sentPrompt is a request as a model reads it, with its role.
type sentPrompt struct {
	agent, step, text string
}

// reusable returns the share of a request's tokens with which the next one begins.
func (a sentPrompt) reusable(next sentPrompt) float64 {
	same := 0
	for same < min(len(a.text), len(next.text)) && a.text[same] == next.text[same] {
		same++
	}
	return float64(prompt.Tokens(a.text[:same])) / float64(prompt.Tokens(a.text))
}

// requestRecorder is a scripted model that records its requests.
type requestRecorder struct {
	llm.Provider
	script *llmtest.Script

	mu   sync.Mutex
	read []string
}

func (p *requestRecorder) Window() int { return 65536 }

func (p *requestRecorder) State() llm.State {
	s := p.Provider.State()
	s.Model, s.Tools = "scripted", true
	return s
}

// Stream records a request in the order in which model templates render it.
func (p *requestRecorder) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%+v\n", req.Messages[0].Text, req.Tools)
	for _, m := range req.Messages[1:] {
		fmt.Fprintf(&b, "<%s>\n%s\n%+v\n", m.Role, m.Text, m.Calls)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = append(p.read, b.String())
	return p.script.Stream(ctx, req)
}

// TestPromptsCanBeReused measures, in 60 turns on the starter notes, 20 per mode, how much of a
// request a server that caches it can reuse for the next round of the turn and for the first
// request of the next turn.
func TestPromptsCanBeReused(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, mode := range []agent.Mode{agent.PlanMode, agent.LoopMode, agent.TeamMode} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)))
				a := openStarterNotes(t, "")
				model := &requestRecorder{Provider: a.Provider}
				a.Provider = model
				a.Mode.Use(mode)
				// a short prompt has less to reuse
				rounds, turns, last := share{least: 0.95}, share{least: map[agent.Mode]float64{
					agent.PlanMode: 0.60,
					agent.LoopMode: 0.80, agent.TeamMode: 0.60,
				}[mode]}, share{}
				var before []sentPrompt
				for _, turn := range reuseTurns() {
					says := map[agent.Mode][]llmtest.Answer{
						agent.PlanMode: turn.plan, agent.LoopMode: turn.loop,
						agent.TeamMode: turn.team,
					}[mode]
					model.script, model.read = llmtest.NewScript(append([]llmtest.Answer{{
						Match: asksJudge,
						Text:  passes, Always: true,
					}}, says...)...), nil
					now := askReading(t, a.Agent().Ask(t.Context(), "c1", turn.message), model)
					for i := range now[:max(0, len(now)-1)] {
						if from, to := now[i], now[i+1]; from.agent == to.agent && from.step == to.step {
							rounds.add(t, turn.message, from.reusable(to))
						}
					}
					if before != nil {
						turns.add(t, turn.message, before[0].reusable(now[0]))
						last.add(t, turn.message, before[len(before)-1].reusable(now[0]))
					}
					before = now
				}
				t.Logf("%s: between rounds %s; between the first requests of two turns %s; from a turn's last "+
					"request to the next turn's first %s", mode, rounds, turns, last)
			})
		})
	}
}

// askReading reads a turn to its end and returns its requests.
func askReading(t *testing.T, events <-chan agent.Event, model *requestRecorder) (list []sentPrompt) {
	t.Helper()
	for e := range events {
		switch body := e.Body.(type) {
		case agent.ContextCounted:
			list = append(list, sentPrompt{agent: body.Agent, step: body.Step})
		case agent.PermissionAsked:
			body.Reply(agent.Reply{Decision: agent.AllowOnce})
		case agent.Failed:
			t.Errorf("the turn failed: %+v", body)
		}
	}
	if len(list) != len(model.read) {
		t.Fatalf("%d requests were counted, %d sent", len(list), len(model.read))
	}
	for i, text := range model.read {
		list[i].text = text
	}
	return list
}

// share is how much of requests can be reused.
type share struct {
	least float64 // minimum for each
	all   []float64
}

func (s *share) add(t *testing.T, message string, of float64) {
	t.Helper()
	s.all = append(s.all, of)
	if of < s.least {
		t.Errorf("%q: %.2f of a request can be reused, at least %.2f should be", message, of, s.least)
	}
}

func (s share) String() string {
	if len(s.all) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(s.all))
	return fmt.Sprintf("%.2f to %.2f, median %.2f (%d)", sorted[0], sorted[len(sorted)-1],
		sorted[len(sorted)/2], len(sorted))
}
