package servers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

func TestServerKilledWhileAnsweringYieldsErrCut(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	for _, s := range []llm.Settings{
		{Provider: "ollama", OllamaHost: server.URL, Model: "scripted"},
		{Provider: "openai", OpenAIURL: server.URL + "/v1", Model: "scripted"},
	} {
		t.Run(s.Provider, func(t *testing.T) {
			p := open(t, s)
			var text strings.Builder
			var last error
			for d, err := range p.Stream(t.Context(), say("go "+llmtest.LoopMarker)) {
				if text.Len() == 0 && d.Text != "" {
					server.Kill()
				}
				text.WriteString(d.Text)
				last = err
			}
			if !errors.Is(last, llm.ErrCut) || !strings.HasPrefix(text.String(), "la ") {
				t.Errorf("got %.40q, %v", text.String(), last)
			}
			if _, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); !errors.Is(err, llm.ErrUnreachable) {
				t.Errorf("while it is down: got %v", err)
			}
			server.Restart()
			if m, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); err != nil ||
				m.Text != llmtest.ScriptedAnswer {
				t.Errorf("after its restart: got %q, %v", m.Text, err)
			}
		})
	}
}

func TestAutoFallsBackToOfflineAndRecovers(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	states := make(watching, 16)
	p := open(t, llm.Settings{OllamaHost: server.URL, Model: "scripted-plan", Embedding: "tiny-bow", Watcher: states})
	embedder := func() string {
		e, err := p.Embedder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return ""
		}
		return e.Name()
	}
	if s := <-states; s.Provider != "ollama" || s.Model != "scripted-plan" {
		t.Fatalf("at first: got %+v", s)
	}
	if !strings.HasPrefix(embedder(), "ollama/tiny-bow") {
		t.Errorf("its embedder is %s", embedder())
	}

	server.Kill()
	m, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?")))
	if !errors.Is(err, llm.ErrNoModel) {
		t.Errorf("with the server gone: got %q, %v", m.Text, err)
	}
	if s := <-states; s.Provider != "offline" || s.Text == "" {
		t.Errorf("then: got %+v", s)
	}
	if embedder() != "" {
		t.Errorf("offline its embedder is %s", embedder())
	}

	server.Restart()
	select {
	case s := <-states:
		if s.Provider != "ollama" || !strings.Contains(s.Text, "scripted-plan") {
			t.Errorf("after the restart: got %+v", s)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it did not come back")
	}
	if m, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?"))); err != nil ||
		m.Text != llmtest.ScriptedExplanation {
		t.Errorf("after the restart: got %q, %v", m.Text, err)
	}
}

func TestOpeningAutoDoesNotBlock(t *testing.T) {
	f := llmtest.NewFaults(t)
	f.Set(llmtest.Refuse, 0)
	begun := time.Now()
	p := open(t, llm.Settings{OllamaHost: f.URL})
	if s := p.State(); s.Provider != "offline" {
		t.Errorf("got %+v", s)
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("opening took %v", took)
	}
	if m, _, err := llm.Collect(p.Stream(t.Context(), planRequest("how often do I run?"))); err != nil ||
		!strings.Contains(m.Text, `"steps"`) {
		t.Errorf("got %q, %v", m.Text, err)
	}
	if _, err := p.Models(t.Context()); !errors.Is(err, llm.ErrUnreachable) {
		t.Errorf("models of a server that is down: got %v", err)
	}
}

func TestAutoSuggestsAModelAndUsesItOncePulled(t *testing.T) {
	t.Parallel()
	server := llmtest.StartEmptyOllama(t)
	states := make(watching, 16)
	p := open(t, llm.Settings{OllamaHost: server.URL, Watcher: states})
	if m, _, err := llm.Collect(p.Stream(t.Context(), planRequest("how often do I run?"))); err != nil ||
		!strings.Contains(m.Text, `"steps"`) {
		t.Errorf("got %q, %v", m.Text, err)
	}
	<-states
	if s := p.State(); s.Provider != "offline" || !strings.Contains(s.Text, "lifehub models pull ") {
		t.Errorf("without a model: got %+v", s)
	}
	server.Create(llmtest.Planner("mine", llmtest.ScriptedPlan, "The answer [1]."))
	select {
	case s := <-states:
		if s.Provider != "ollama" || s.Model != "mine:latest" || !strings.Contains(s.Text, "embeddinggemma") {
			t.Errorf("with one: got %+v", s)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it did not take the model")
	}
	if m, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?"))); err != nil ||
		m.Text != "The answer [1]." {
		t.Errorf("got %q, %v", m.Text, err)
	}
}
