// Command demo shows the screen with a made-up assistant: no model, no notes.
// It is for looking at panels by eye and for measuring the screen alone.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/tui"
	"lifehub/tui/backend"
	"lifehub/tui/plain"
)

func main() {
	theme := flag.String("theme", "auto", "as in /theme")
	lines := flag.Bool("plain", false, "lines instead of a screen")
	first := flag.Bool("first", false, "the first-run screen")
	pace := flag.Duration("pace", 30*time.Millisecond, "between two words of the answer")
	answer := flag.String("answer", "", "file with the answer")
	flag.Parse()

	status := make(chan backend.Status, 1)
	status <- backend.Status{Provider: "ollama", Model: "qwen3:8b", Window: 16384, Notes: 1284, Indexed: 1284}
	text := said
	if *answer != "" {
		file, err := os.ReadFile(*answer)
		if err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
			os.Exit(1)
		}
		text = string(file)
	}
	options := backend.Options{
		Assistant: assistant{*pace, text}, Conversations: conversations{}, Models: models{}, Notes: folders{},
		FindModel: func(context.Context) backend.FoundModel {
			return backend.FoundModel{Ready: true, Says: "qwen3:8b answers, from Ollama on this machine."}
		},
		Status: status, Screen: backend.Screen{Mode: "plan", Theme: backend.Theme{Name: *theme}, Editor: os.Getenv("EDITOR")}, FirstRun: *first,
		Prompt: strings.Join(flag.Args(), " "),
	}
	run := func() (backend.Ended, error) { return tui.Run(context.Background(), options) }
	if *lines {
		run = func() (backend.Ended, error) { return plain.Run(context.Background(), options, os.Stdin, os.Stdout) }
	}
	how, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
	if how == backend.Interrupted {
		os.Exit(130)
	}
}

// assistant plays a turn: a task asks for permission, anything else searches.
type assistant struct {
	pace time.Duration
	text string
}

func (a assistant) Ask(ctx context.Context, conversation, message string) <-chan agent.Event {
	events := make(chan agent.Event)
	go func() {
		defer close(events)
		turn := turn{ctx: ctx, events: events}
		turn.emit(agent.Started{Conversation: conversation, Message: message, Mode: "plan"})
		switch {
		case strings.Contains(message, "task"):
			turn.task()
		case strings.Contains(message, "missing"):
			turn.emit(agent.Failed{Message: `model "qwen3:8b" is not installed`, Hint: "ollama pull qwen3:8b", Err: &llm.NotFoundError{Model: "qwen3:8b"}})
			return
		case strings.Contains(message, "direct"):
		default:
			turn.search()
		}
		turn.answer(a)
	}()
	return events
}

type turn struct {
	ctx    context.Context // of the one goroutine that plays it
	events chan<- agent.Event
	seq    int
}

func (t *turn) emit(b agent.Body) {
	t.seq++
	t.events <- agent.Event{Seq: t.seq, Time: time.Now(), Body: b}
}

func (t *turn) wait(d time.Duration) bool {
	select {
	case <-t.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

var note = agent.Source{N: 1, Path: "fitness.md", Vault: os.TempDir(), Line: 10, EndLine: 20, Heading: "Running › Plan", Text: "I run three times a week."}

func (t *turn) search() {
	query := json.RawMessage(`{"query":"running"}`)
	web := json.RawMessage(`{"query":"marathon training tips","count":5}`)
	t.emit(agent.PhaseStarted{Agent: "planner"})
	t.emit(agent.Thought{Content: "The user asks about running notes and marathon tips. Search both in parallel."})
	t.wait(600 * time.Millisecond)
	t.emit(agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "search_notes", Input: query}, {ID: "2", Tool: "brave_web_search", Input: web}}})
	t.emit(agent.PhaseStarted{Agent: "worker"})
	t.emit(agent.StepChanged{Step: "1", Status: agent.Running})
	t.emit(agent.ToolStarted{Step: "1", Call: "a", Name: "search_notes", Input: query})
	t.emit(agent.StepChanged{Step: "2", Status: agent.Running})
	t.emit(agent.ToolStarted{Step: "2", Call: "b", Name: "brave_web_search", Input: web})
	t.wait(300 * time.Millisecond)
	t.emit(agent.ToolEnded{Step: "1", Call: "a", Name: "search_notes", Output: "[1] fitness.md:10 Running › Plan\nI run three times a week.", Sources: []agent.Source{note, note, note, note, note}, Took: 84})
	t.emit(agent.StepChanged{Step: "1", Status: agent.Done})
	t.wait(1500 * time.Millisecond)
	t.emit(agent.ToolEnded{Step: "2", Call: "b", Name: "brave_web_search", Error: "no network", Took: 1800})
	t.emit(agent.StepChanged{Step: "2", Status: agent.StepFailed, Reason: "no network"})
}

func (t *turn) task() {
	input := json.RawMessage(`{"text":"Buy milk","due":"2026-11-30"}`)
	t.emit(agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "add_task", Input: input}}})
	t.emit(agent.StepChanged{Step: "1", Status: agent.Running})
	replies := make(chan agent.Reply, 1)
	t.emit(agent.PermissionAsked{
		Step: "1", Call: "p", Name: "add_task", Input: input, Hash: "9f86d081884c7d65", Reason: "add_task changes your notes", Rule: "allow add_task",
		Preview: agent.Preview{Path: "tasks.md", Diff: "--- tasks.md\n+++ tasks.md\n@@ -1,4 +1,5 @@\n # Tasks\n \n-- [ ] Call Tom\n+- [x] Call Tom\n - [ ] Water the plants\n+- [ ] Buy milk 📅 2026-11-30\n"},
		Reply:   func(r agent.Reply) { replies <- r },
	})
	select {
	case <-t.ctx.Done():
	case r := <-replies:
		t.emit(agent.PermissionGiven{Step: "1", Call: "p", Decision: r.Decision, Reason: r.Reason})
		if r.Decision == agent.Refuse {
			t.emit(agent.StepChanged{Step: "1", Status: agent.Denied, Reason: r.Reason})
			return
		}
		t.emit(agent.ToolStarted{Step: "1", Call: "p", Name: "add_task", Input: input})
		t.emit(agent.ToolEnded{Step: "1", Call: "p", Name: "add_task", Output: "added to tasks.md, line 5", Took: 3})
		t.emit(agent.StepChanged{Step: "1", Status: agent.Done})
	}
}

func (t *turn) answer(a assistant) {
	t.emit(agent.PhaseStarted{Agent: "explainer"})
	t.emit(agent.ContextCounted{Agent: "explainer", Used: 2100, Allocated: 16384})
	var answer strings.Builder
	for _, word := range strings.SplitAfter(a.text, " ") {
		if !t.wait(a.pace) {
			t.emit(agent.Ended{Answer: answer.String(), Metrics: agent.Metrics{Interrupted: true}})
			return
		}
		answer.WriteString(word)
		t.emit(agent.Said{Content: word})
	}
	t.emit(agent.Used{Agent: "explainer", Prompt: 2050, Answer: 60, PerSecond: 43})
	t.emit(agent.Cited{Citation: agent.Citation{N: 1, Path: "fitness.md", Line: 12, Verdict: agent.Verified}, Source: note})
	t.emit(agent.Cited{Citation: agent.Citation{N: 2, Path: "log/2026-03.md", Line: 40, Verdict: agent.Cites}, Source: agent.Source{N: 2}})
	t.emit(agent.Cited{Citation: agent.Citation{N: 3, Path: "races.md", Line: 7, Verdict: agent.NotFound}, Source: agent.Source{N: 3, Heading: "Autumn"}})
	t.emit(agent.Ended{Answer: answer.String()})
}

const said = "You run **three times a week** [1] and raise the long run by 10 % a week [2].\n\n## What the web says\n\n- keep *easy* runs easy\n- sleep\n  - eight hours\n  - no screen\n\n" +
	"| Day | Run | km |\n|---|---|---:|\n| Tue | easy | 8 |\n| Sun | long | 24 |\n\n```go\nfunc pace(km float64, t time.Duration) time.Duration {\n\treturn time.Duration(float64(t) / km) // per km\n}\n```\n\n> Rest is training too.\n\nSee [the plan](https://example.org/plan) and `fitness.md` [3].\n"

type conversations struct{}

func (conversations) New(context.Context) (string, error) { return "c1", nil }

func (conversations) Recent(context.Context, int) ([]agent.Conversation, error) {
	return []agent.Conversation{
		{ID: "c2", Title: "Marathon training", Messages: 6, Updated: time.Now().Add(-time.Hour)},
		{ID: "c1", Title: "A week in Lisbon", Messages: 4, Updated: time.Now().Add(-80 * time.Hour)},
	}, nil
}

func (c conversations) Latest(ctx context.Context, id string, n int) ([]agent.Exchange, error) {
	list, err := c.Exchanges(ctx, id)
	return list[max(0, len(list)-n):], err
}

func (conversations) Exchanges(context.Context, string) ([]agent.Exchange, error) {
	var list []agent.Exchange
	for i := range 2000 {
		list = append(list, agent.Exchange{Question: fmt.Sprintf("Question %d?", i), Answer: agent.Answer{Text: said}})
	}
	return list, nil
}

type models struct{}

func (models) List(context.Context) <-chan llm.Listing {
	to := make(chan llm.Listing, 1)
	defer close(to)
	to <- llm.Listing{Models: []llm.Info{
		{Name: "qwen3:8b", Size: 5_200_000_000, Context: 40960, Parameters: "8.2B", Capabilities: []string{"completion", "tools", "thinking"}},
		{Name: "llama3.2:3b", Size: 2_000_000_000, Context: 131072, Parameters: "3.2B", Capabilities: []string{"completion", "tools"}},
	}}
	return to
}

func (models) Use(context.Context, string) error { return nil }

func (models) Pull(ctx context.Context, _ string, progress func(string, int64, int64)) error {
	for done := int64(0); done < 5_200_000_000; done += 100_000_000 {
		progress("pulling", done, 5_200_000_000)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

type folders struct{}

func (folders) Typed(context.Context, string) backend.TypedPath { return backend.TypedPath{} }

func (folders) Offers(context.Context) ([]backend.Offer, error) {
	return []backend.Offer{
		{Name: "Obsidian vault", Path: "~/Documents/Vault", Detail: "1,284 notes"},
		{Name: "Starter notes", Detail: "24 notes of a made-up life, to look around with"},
	}, nil
}

func (folders) Take(context.Context, backend.Offer) error { return nil }
