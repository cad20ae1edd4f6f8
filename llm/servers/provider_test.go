package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// planSchema resembles the schema that the planner requests.
const planSchema = `{"type":"object","properties":{"steps":{"type":"array","maxItems":8,"items":{"type":"object",` +
	`"properties":{"tool":{"type":"string","enum":["search_notes","list_tasks"]},"input":{"type":"object"}},` +
	`"required":["tool","input"]}},` +
	`"again":{"type":"boolean"}},"required":["steps"],"additionalProperties":false}`

var searchSpec = llm.ToolSpec{
	Name: "search_notes", Description: "Searches the notes.",
	Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},` +
		`"required":["query"]}`),
}

var tasksSpec = llm.ToolSpec{
	Name: "list_tasks", Description: "Lists tasks.",
	Schema: json.RawMessage(`{"type":"object","properties":{"status":{"type":"string"},"query":{"type":"string"}}}`),
}

// planRequest and explainRequest return the two requests of a turn, both as prose
// and as a task.
func planRequest(question string) llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "You plan how to answer."}, {Role: llm.User, Text: question}},
		Schema:   json.RawMessage(planSchema),
		Task: &llm.Task{
			Kind: llm.PlanTask, Question: question,
			Tools: []llm.ToolSpec{searchSpec, tasksSpec},
		},
	}
}

func explainRequest(question string) llm.Request {
	text := "# Running\n\nI run three times a week, and raise the long run by 10 % each time."
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "You answer from sources."},
			{Role: llm.User, Text: "[1] fitness.md:1\n" + text + "\n\n" + question},
		},
		Task: &llm.Task{
			Kind: llm.ExplainTask, Question: question,
		},
	}
}

// words returns a request that a provider answers with text: for the offline
// provider, which cannot write answers, a plan.
func words(p llm.Provider) llm.Request {
	if p.State().Provider == "offline" {
		return planRequest("What do my notes say about running?")
	}
	return explainRequest("How often do I run?")
}

// TestEveryProviderKeepsThePromisesOfAModel runs the same checks on all
// providers, using real servers.
func TestEveryProviderFulfilsTheModelContract(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	providers := map[string]llm.Settings{
		"ollama":  {Provider: "ollama", OllamaHost: server.URL, Model: "scripted-plan", Embedding: "tiny-bow"},
		"openai":  {Provider: "openai", OpenAIURL: server.URL + "/v1", Model: "scripted-plan", Embedding: "tiny-bow"},
		"auto":    {Provider: "auto", OllamaHost: server.URL, Model: "scripted-plan", Embedding: "tiny-bow"},
		"offline": {Provider: "offline"},
	}
	for name, settings := range providers {
		t.Run(name, func(t *testing.T) {
			p := open(t, settings)
			for what, keep := range promises {
				t.Run(what, func(t *testing.T) { keep(t, p) })
			}
		})
	}
}

var promises = map[string]func(*testing.T, llm.Provider){
	"an answer arrives in pieces and ends with usage": func(t *testing.T, p llm.Provider) {
		pieces, ends := 0, 0
		for d, err := range p.Stream(t.Context(), words(p)) {
			if err != nil {
				t.Fatal(err)
			}
			if ends > 0 {
				t.Errorf("%+v came after the end", d)
			}
			if d.Text != "" {
				pieces++
			}
			if d.Usage != nil {
				ends++
				if d.Usage.Stopped != llm.StopEnd {
					t.Errorf("it stopped by %q", d.Usage.Stopped)
				}
			}
		}
		if least := map[bool]int{true: 1, false: 3}[p.State().Provider == "offline"]; pieces < least || ends != 1 {
			t.Errorf("got %d pieces and %d ends", pieces, ends)
		}
	},
	"an answer cites its source": func(t *testing.T, p llm.Provider) {
		m, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?")))
		if p.State().Provider == "offline" {
			if !errors.Is(err, llm.ErrNoModel) {
				t.Errorf("got %q, %v", m.Text, err)
			}
		} else if err != nil || !strings.Contains(m.Text, "[1]") {
			t.Errorf("got %q, %v", m.Text, err)
		}
	},
	"a plan is JSON that matches its schema": func(t *testing.T, p llm.Provider) {
		m, _, err := llm.Collect(p.Stream(t.Context(), planRequest("What do my notes say about running?")))
		if err != nil {
			t.Fatal(err)
		}
		var plan struct {
			Steps []struct {
				Tool  string
				Input map[string]any
			}
		}
		if err := json.Unmarshal([]byte(m.Text), &plan); err != nil {
			t.Fatalf("%v in %q", err, m.Text)
		}
		if len(plan.Steps) == 0 || plan.Steps[0].Tool != "search_notes" ||
			!strings.Contains(fmt.Sprint(plan.Steps[0].Input["query"]), "running") {
			t.Errorf("got %s", m.Text)
		}
	},
	"a cancelled request yields its context's error": func(t *testing.T, p llm.Provider) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m, _, err := llm.Collect(p.Stream(ctx, words(p)))
		if !errors.Is(err, context.Canceled) || m.Text != "" {
			t.Errorf("got %q, %v", m.Text, err)
		}
	},
	"a reader may stop at any time": func(t *testing.T, p llm.Provider) {
		for range p.Stream(t.Context(), words(p)) {
			break
		}
		if _, _, err := llm.Collect(p.Stream(t.Context(), words(p))); err != nil {
			t.Error(err)
		}
	},
	"requests may run concurrently": func(t *testing.T, p llm.Provider) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, _, err := llm.Collect(p.Stream(t.Context(), words(p))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	},
	"vectors keep the order of texts across batches": func(t *testing.T, p llm.Provider) {
		e, err := p.Embedder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return // it has no embeddings
		}
		words := []string{"car", "garden", "tomato", "meeting", "running"}
		texts := make([]string, 150)
		for i := range texts {
			texts[i] = words[i%len(words)]
		}
		texts[7] = "" // an empty text is valid and has a vector
		vectors, err := e.Embed(t.Context(), texts)
		if err != nil || len(vectors) != len(texts) {
			t.Fatalf("got %d vectors, %v", len(vectors), err)
		}
		for i, v := range vectors {
			if i != 7 && !slices.Equal(v, vectors[i%len(words)]) {
				t.Fatalf("text %d has another vector than text %d", i, i%len(words))
			}
		}
		if e.Name() == "" || !strings.Contains(e.Name(), "/") {
			t.Errorf("its name is %q", e.Name())
		}
		if none, err := e.Embed(t.Context(), nil); err != nil || len(none) != 0 {
			t.Errorf("no text: got %v, %v", none, err)
		}
	},
	"the state names the provider": func(t *testing.T, p llm.Provider) {
		info, err := p.Info(t.Context(), "")
		if err != nil || info.Name == "" || info.Remote != "" {
			t.Errorf("got %+v, %v", info, err)
		}
		if s := p.State(); s.Provider == "" || s.Remote != "" || s.Sent != 0 {
			t.Errorf("got %+v", s)
		}
	},
	"an unknown model is an error that names it": func(t *testing.T, p llm.Provider) {
		_, err := p.Info(t.Context(), "nope")
		var missing *llm.NotFoundError
		if !errors.As(err, &missing) || missing.Model != "nope" {
			t.Errorf("got %v", err)
		}
		if err := p.SetModel(t.Context(), "nope"); err == nil {
			t.Error("it was set")
		}
	},
}

func TestMain(m *testing.M) {
	// Proxies configured on this machine must not affect the tests.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		if err := os.Unsetenv(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(m.Run())
}
