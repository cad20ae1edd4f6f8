//go:build unix

package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/agent/prompt"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/servers"
	"lifehub/store"
)

// TestRealOllamaRestartedInMidAnswerLosesNothing kills the server while it answers, asks again
// after its restart, and stops an answer with Esc.
func TestRealOllamaRestartedInMidAnswerLosesNothing(t *testing.T) {
	t.Parallel()
	restarts := 2
	if os.Getenv("LIFEHUB_SOAK") != "" {
		restarts = 50
	}
	server := llmtest.StartOllama(t)
	provider, err := servers.Open(llm.Settings{
		Provider: "ollama", OllamaHost: server.URL,
		Model: "scripted-endless", Window: 16384,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	kept, err := store.Open(filepath.Join(t.TempDir(), "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	a := turn.New(turn.Options{Model: provider, Server: prompt.ServerOf(provider), History: kept, Journal: kept})

	// answer asks a question and calls strike after a few words. It returns how long the turn then
	// took to end. The text so far must be saved.
	answer := func(conversation string, strike func(stop context.CancelFunc)) (last agent.Body, took time.Duration) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var text strings.Builder
		var struck time.Time
		pieces := 0
		for e := range a.Ask(ctx, conversation, "how often do I run?") {
			if piece, ok := e.Body.(agent.Said); ok {
				text.WriteString(piece.Content)
				if pieces++; pieces == 5 && strike != nil {
					struck = time.Now()
					strike(cancel)
				}
			}
			last = e.Body
		}
		if !struck.IsZero() {
			took = time.Since(struck)
		}
		list, err := kept.Exchanges(t.Context(), conversation)
		if err != nil || len(list) == 0 {
			t.Fatalf("%d turns were kept, %v", len(list), err)
		}
		turn := list[len(list)-1]
		if turn.Answer.Text != text.String() || turn.Answer.Text == "" || turn.Open {
			t.Errorf("kept is %.80q, said was %.80q", turn.Answer.Text, text.String())
		}
		if strike != nil && !turn.Answer.Cut && turn.Answer.Error == "" {
			t.Error("a cut answer is not marked")
		}
		return last, took
	}

	var ends, escapes, returns []time.Duration
	for range restarts {
		conversation := kept.NewConversation()
		if err := provider.SetModel(t.Context(), "scripted-endless"); err != nil {
			t.Fatal(err)
		}
		last, took := answer(conversation, func(context.CancelFunc) { server.Kill() })
		if failed, ok := last.(agent.Failed); !ok || failed.Hint == "" {
			t.Errorf("killed: the turn ended with %+v", last)
		}
		ends = append(ends, took)

		server.Restart()
		back := time.Now()
		if err := provider.SetModel(t.Context(), "scripted-plan"); err != nil {
			t.Fatal(err)
		}
		if _, ok := first(answer(conversation, nil)).(agent.Ended); !ok {
			t.Error("after the restart the question was not answered")
		}
		returns = append(returns, time.Since(back))

		if err := provider.SetModel(t.Context(), "scripted-endless"); err != nil {
			t.Fatal(err)
		}
		last, took = answer(conversation, func(stop context.CancelFunc) { stop() })
		if ended, ok := last.(agent.Ended); !ok || !ended.Interrupted {
			t.Errorf("Esc: the turn ended with %+v", last)
		}
		escapes = append(escapes, took)
	}
	t.Logf("%d restarts: killed, the turn ended after p50 %v max %v; asked after the restart, model loaded anew, p50 "+
		"%v max %v; Esc p50 %v p99 %v",
		restarts, percentile(ends, 50), percentile(ends, 100), percentile(returns, 50), percentile(returns, 100),
		percentile(escapes, 50), percentile(escapes, 99))
	// The time limits hold in the full count only; with fewer restarts the machine may be busy, so
	// check only that nothing hangs.
	ending, escape := 10*time.Second, 10*time.Second
	if os.Getenv("LIFEHUB_SOAK") != "" {
		ending, escape = time.Second, 100*time.Millisecond
	}
	if p := percentile(ends, 50); p > ending {
		t.Errorf("half of the turns took more than %v to end after the kill", p)
	}
	if p := percentile(escapes, 50); p > escape {
		t.Errorf("half of the Escs took more than %v", p)
	}
}

func first(body agent.Body, _ time.Duration) agent.Body { return body }
