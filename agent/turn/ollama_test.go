package turn

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lifehub/agent/prompt"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/ollama"
)

// Whole turns with a real Ollama server and tiny scripted models.
func TestTurnWithARealOllamaServer(t *testing.T) {
	server := llmtest.StartOllama(t)
	running := agent.Source{Path: "running.md", Line: 3, EndLine: 3, Text: "Your notes speak of running."}
	notes := &fakeTool{name: "search_notes", result: agent.Result{
		Text: running.Text, Sources: []agent.Source{running},
		Searched: true,
	}, reads: true, takes: 50 * time.Millisecond}
	tasks := &fakeTool{
		name: "list_tasks", schema: `{"type":"object","properties":{"status":{"type":"string"}}}`,
		result: agent.Result{Text: "- [ ] buy shoes"}, reads: true, takes: 50 * time.Millisecond,
	}
	ask := func(t *testing.T, model string, kept *shelf) *Agent {
		provider, err := ollama.New(llm.Settings{OllamaHost: server.URL, Model: model, Window: 8192})
		if err != nil {
			t.Fatal(err)
		}
		return New(Options{
			Model: provider, History: kept, Tools: tools(notes, tasks),
			Server: prompt.ServerOf(provider),
		})
	}

	t.Run("plans, calls two tools side by side, streams and cites", func(t *testing.T) {
		events := collect(ask(t, "scripted-plan", &shelf{}).Ask(t.Context(), "c1", "Running, and my tasks"), nil)
		end := ended(t, events)
		if end.Answer != llmtest.ScriptedExplanation || end.ModelCalls != 2 ||
			end.ToolCalls != 2 || end.PromptTokens == 0 {
			t.Errorf("end %+v", end)
		}
		var order []string
		for _, e := range events {
			if e.Type == "tool_start" || e.Type == "tool_end" {
				order = append(order, e.Type)
			}
		}
		if got := strings.Join(order, " "); got != "tool_start tool_start tool_end tool_end" {
			t.Errorf("the calls went %s", got)
		}
		if pieces := bodies[agent.Said](events); len(pieces) < 3 {
			t.Errorf("%d pieces", len(pieces))
		}
		if cited := bodies[agent.Cited](events); len(cited) != 1 || cited[0].Verdict != agent.Verified { // verbatim
			t.Errorf("citations %+v", cited)
		}
	})

	t.Run("stops in the middle of an answer", func(t *testing.T) {
		ctx, esc := contextWithCancel(t)
		kept := &shelf{}
		var pressed time.Time
		var last agent.Event
		said := 0
		for e := range ask(t, "scripted-endless", kept).Ask(ctx, "c1", "Tell me.") {
			last = e
			if e.Type == "token" {
				if said++; said == 20 {
					pressed = time.Now()
					esc()
				}
			}
		}
		// the limit of 100 ms is tested with a fake clock in TestEscEndsTheTurnAtOnce
		t.Logf("it stopped %s after Esc", time.Since(pressed))
		if end, ok := last.Body.(agent.Ended); !ok || !end.Interrupted || !strings.HasPrefix(end.Answer, "la ") ||
			kept.last().Text != end.Answer {
			t.Errorf("last event %#v", last.Body)
		}
	})

	t.Run("offers to get a missing model", func(t *testing.T) {
		events := collect(ask(t, "nowhere", &shelf{}).Ask(t.Context(), "c1", "Nice day today!"), nil)
		failed, _ := events[len(events)-1].Body.(agent.Failed)
		var missing *llm.NotFoundError
		if !errors.As(failed.Err, &missing) || !strings.Contains(failed.Hint, "lifehub models pull nowhere") {
			t.Errorf("failed with %+v", failed)
		}
	})

	t.Run("keeps what arrived before the server died", func(t *testing.T) {
		kept := &shelf{}
		said := 0
		var last agent.Event
		for e := range ask(t, "scripted-endless", kept).Ask(t.Context(), "c1", "Tell me.") {
			last = e
			if e.Type == "token" {
				if said++; said == 20 {
					server.Kill()
				}
			}
		}
		failed, _ := last.Body.(agent.Failed)
		if got := kept.last(); !errors.Is(failed.Err, llm.ErrCut) || !got.Cut ||
			!strings.HasPrefix(got.Text, "la ") || got.Error == "" {
			t.Errorf("failed with %+v, kept %.40q", failed, got.Text)
		}
		events := collect(ask(t, "scripted-plan", kept).Ask(t.Context(), "c1", "Nice day today!"), nil)
		if failed, _ := events[len(events)-1].Body.(agent.Failed); !errors.Is(failed.Err, llm.ErrUnreachable) {
			t.Errorf("afterwards it fails with %+v", failed)
		}
	})
}
