package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/prompt"
)

// pages is a History whose conversation can be summarised.
type pages struct {
	shelf
	path    []agent.Exchange
	summary agent.Summary
}

func newPages(exchanges, words int) *pages {
	p := &pages{}
	for i := range exchanges {
		e := agent.Exchange{Turn: fmt.Sprintf("c1.%d", i+1), Question: fmt.Sprintf("Q%d %s", i+1, manyWords(words, i))}
		e.Answer.Text = fmt.Sprintf("A%d %s", i+1, manyWords(words, -i))
		p.path = append(p.path, e)
	}
	return p
}

func (p *pages) Window(_ context.Context, _ string, limit int) (agent.Window, error) {
	from := max(0, len(p.path)-limit/2)
	for i, e := range p.path {
		if e.Turn == p.summary.Turn {
			from = max(from, i+1)
		}
	}
	return agent.Window{Summary: p.summary, Exchanges: p.path[from:], Before: 2 * from}, nil
}

func (p *pages) SaveSummary(_ context.Context, s agent.Summary) error {
	p.summary = s
	return nil
}

func TestOlderTurnsAreSummarisedWhenTheyDoNotFit(t *testing.T) {
	kept := newPages(3, 400)
	kept.path[0].Answer.Effects = agent.Effects{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}}
	model := &script{lines: []line{say("Q1 was about the boiler."), say(`{"reasoning":"","steps":[],"answer":"Yes."}`), say(`{"reasoning":"","steps":[],"answer":"Again."}`)}}
	a := New(Options{Model: model, History: kept, Summaries: kept, Server: &agenttest.Server{Tokens: 4096, Refuses: true}})
	a.meters.By[""] = agent.TokenRatio{Scale: 0.9}
	events := collect(a.Ask(t.Context(), "c1", "And now?"), nil)
	if end := ended(t, events); end.Answer != "Yes." || end.ModelCalls != 2 {
		t.Errorf("ended with %+v", end)
	}
	if notices := bodies[agent.Noticed](events); len(notices) != 1 || !strings.Contains(notices[0].Text, "2 older messages are now summarised") {
		t.Errorf("told %+v", notices)
	}
	if text := asked(model.requests[0]); !strings.Contains(text, "User: Q1 ") || !strings.Contains(text, "You: A1 ") || !strings.Contains(text, kept.path[0].Did()) || strings.Contains(text, "Q2") {
		t.Errorf("summarised was\n%.300s", text)
	}
	plan := model.requests[1].Messages
	plan = plan[len(planExamples):]
	if len(plan) != 6 || plan[1].Text != kept.path[1].Question || plan[4].Text != kept.path[2].Answer.Text {
		t.Errorf("the last four messages are not whole: %d messages", len(plan))
	}
	if !strings.Contains(asked(model.requests[1]), "Q1 was about the boiler.") {
		t.Errorf("the summary is missing in\n%.300s", asked(model.requests[1]))
	}
	collect(a.Ask(t.Context(), "c1", "And then?"), nil) // there is one summary
	if len(model.requests) != 3 || !strings.Contains(asked(model.requests[2]), "Q1 was about the boiler.") {
		t.Errorf("%d requests", len(model.requests))
	}
}

// All messages are in the prompt while they fit half of the window. Beyond that, the
// older half is summarised in one step, and later turns add to the rest.
func TestOlderHalfIsSummarisedWhenTooLong(t *testing.T) {
	kept := newPages(12, 60)
	model := &script{lines: []line{say(`{"reasoning":"","steps":[],"answer":"Yes."}`), say("The boiler."), say(`{"reasoning":"","steps":[],"answer":"Yes."}`), say(`{"reasoning":"","steps":[],"answer":"Yes."}`)}}
	server := &agenttest.Server{Tokens: 32768, Refuses: true}
	a := New(Options{Model: model, History: kept, Summaries: kept, Server: server})
	a.meters.By[""] = agent.TokenRatio{Scale: 0.9}
	collect(a.Ask(t.Context(), "c1", "And now?"), nil)
	if plan := model.requests[0].Messages[len(planExamples):]; len(plan) != 26 || plan[1].Text != kept.path[0].Question {
		t.Fatalf("%d messages in the first prompt", len(plan))
	}
	server.Tokens = 4096
	notices := bodies[agent.Noticed](collect(a.Ask(t.Context(), "c1", "And now?"), nil))
	if len(notices) != 1 || !strings.Contains(notices[0].Text, "older messages are now summarised") {
		t.Fatalf("told %+v", notices)
	}
	plan := model.requests[2].Messages[len(planExamples):]
	whole := len(plan) - 2 // without the instructions and the question
	if whole < 6 || whole > 14 || plan[len(plan)-2].Text != kept.path[11].Answer.Text {
		t.Errorf("%d messages stay whole", whole)
	}
	if last := asked(model.requests[2]); !strings.Contains(last, fmt.Sprintf("The first %d messages of this conversation, shortened", 24-whole)) || !strings.Contains(last, "The boiler.") {
		t.Errorf("the model is told\n%.300s", last)
	}
	collect(a.Ask(t.Context(), "c1", "And then?"), nil)
	if next := model.requests[3].Messages[len(planExamples):]; next[1].Text != plan[1].Text || len(model.requests) != 4 {
		t.Errorf("the history begins with %.20q after %.20q, %d requests", next[1].Text, plan[1].Text, len(model.requests))
	}
}

// Without a model nothing reads the conversation, and nothing has to fit.
func TestNothingIsSummarisedWithoutAModel(t *testing.T) {
	kept := newPages(40, 300)
	model := &script{lines: []line{say(`{"reasoning":"","steps":[],"answer":"Yes."}`)}}
	a := New(Options{Model: model, Server: &agenttest.Server{Name: noModel}, History: kept, Summaries: kept})
	events := collect(a.Ask(t.Context(), "c1", "And now?"), nil)
	if notices := bodies[agent.Noticed](events); len(notices) > 0 || kept.summary.Turn != "" || ended(t, events).Answer != "Yes." {
		t.Errorf("told %+v, kept a summary of %q", notices, kept.summary.Turn)
	}
	if n := len(model.requests[0].Messages) - len(planExamples); n != 2+lastMessages {
		t.Errorf("%d messages in the prompt", n)
	}
}

func TestLongConversationIsSummarisedInPieces(t *testing.T) {
	kept := newPages(12, 300)
	var lines []line
	for i := range maxSummaries + 2 {
		lines = append(lines, say(fmt.Sprintf("<think>hm</think>summary %d", i+1)))
	}
	model := &script{lines: lines}
	a := New(Options{Model: model, History: kept, Summaries: kept, Server: &agenttest.Server{Tokens: 8192}})
	a.meters.By[""] = agent.TokenRatio{Scale: 0.9}
	done, err := a.Compact(t.Context(), "c1", "the boiler")
	if err != nil || done.Messages != 20 || done.Text != fmt.Sprintf("summary %d", len(model.requests)) || done.After >= done.Before {
		t.Fatalf("got %+v, %v", done, err)
	}
	if n := len(model.requests); n < 2 || n > maxSummaries {
		t.Errorf("%d requests", n)
	}
	last := asked(model.requests[len(model.requests)-1])
	if !strings.Contains(last, fmt.Sprintf("summary %d", len(model.requests)-1)) || !strings.Contains(last, "Q10 ") || strings.Contains(last, "Q11 ") || !strings.HasSuffix(last, "the boiler") {
		t.Errorf("the last request was\n%.200s …%s", last, last[len(last)-100:])
	}
	for _, r := range model.requests {
		if n := prompt.Tokens(asked(r)); n > 8192*2/3 {
			t.Errorf("a request of %d tokens", n)
		}
	}
	if kept.summary.Turn != "c1.10" {
		t.Errorf("kept %+v", kept.summary)
	}
}
