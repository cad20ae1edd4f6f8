package llm_test

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
	"time"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// planSchema is a shape such as the planner asks for.
const planSchema = `{"type":"object","properties":{"reasoning":{"type":"string"},"steps":{"type":"array","maxItems":8,"items":{"type":"object",` +
	`"properties":{"id":{"type":"string"},"tool":{"type":"string","enum":["search_notes","list_tasks"]},"input":{"type":"object"},"description":{"type":"string"},` +
	`"after":{"type":"array","items":{"type":"string"}}},"required":["id","tool","input"]}},"answer":{"type":"string"}},"required":["reasoning","steps"]}`

var searchSpec = llm.ToolSpec{
	Name: "search_notes", Description: "Searches the notes.",
	Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`),
}

var tasksSpec = llm.ToolSpec{
	Name: "list_tasks", Description: "Lists tasks.",
	Schema: json.RawMessage(`{"type":"object","properties":{"status":{"type":"string"},"query":{"type":"string"}}}`),
}

// planRequest and explainRequest are the two requests of a turn, as prose and
// as a task.
func planRequest(question string) llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "You plan how to answer."}, {Role: llm.User, Text: question}},
		Schema:   json.RawMessage(planSchema),
		Task: &llm.Task{
			Kind: llm.PlanTask, Question: question, Today: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
			Tools: []llm.ToolSpec{searchSpec, tasksSpec},
		},
	}
}

func explainRequest(question string) llm.Request {
	text := "# Running\n\nI run three times a week, and raise the long run by 10 % each time."
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "You answer from sources."}, {Role: llm.User, Text: "[1] fitness.md:1\n" + text + "\n\n" + question}},
		Task: &llm.Task{
			Kind: llm.ExplainTask, Question: question,
			Sources: []llm.Source{{N: 1, Title: "fitness.md:1 Running", Text: text}},
			Results: []llm.Result{{Step: "1", Tool: "search_notes", Status: "done", Cited: true}},
		},
	}
}

// TestEveryProviderKeepsThePromisesOfAModel is the one table that all
// providers go through, those with a server against a real one.
func TestEveryProviderKeepsThePromisesOfAModel(t *testing.T) {
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
	"an answer comes in pieces and ends with what it cost": func(t *testing.T, p llm.Provider) {
		pieces, ends := 0, 0
		for d, err := range p.Stream(t.Context(), explainRequest("How often do I run?")) {
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
		if pieces < 3 || ends != 1 {
			t.Errorf("got %d pieces and %d ends", pieces, ends)
		}
	},
	"an answer cites its source": func(t *testing.T, p llm.Provider) {
		m, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?")))
		if err != nil || !strings.Contains(m.Text, "[1]") {
			t.Errorf("got %q, %v", m.Text, err)
		}
	},
	"a plan is JSON of its shape": func(t *testing.T, p llm.Provider) {
		m, _, err := llm.Collect(p.Stream(t.Context(), planRequest("What do my notes say about running? Also list my tasks.")))
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
		if len(plan.Steps) != 2 || plan.Steps[0].Tool != "search_notes" || plan.Steps[0].Input["query"] != "running" || plan.Steps[1].Tool != "list_tasks" {
			t.Errorf("got %s", m.Text)
		}
	},
	"a cancelled request yields the error of its context": func(t *testing.T, p llm.Provider) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m, _, err := llm.Collect(p.Stream(ctx, explainRequest("How often do I run?")))
		if !errors.Is(err, context.Canceled) || m.Text != "" {
			t.Errorf("got %q, %v", m.Text, err)
		}
	},
	"a reader may leave at any time": func(t *testing.T, p llm.Provider) {
		for range p.Stream(t.Context(), explainRequest("How often do I run?")) {
			break
		}
		if _, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?"))); err != nil {
			t.Error(err)
		}
	},
	"requests may run side by side": func(t *testing.T, p llm.Provider) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?"))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	},
	"vectors keep the order of their texts over many batches": func(t *testing.T, p llm.Provider) {
		e, err := p.Embedder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		words := []string{"car", "garden", "tomato", "meeting", "running"}
		texts := make([]string, 150)
		for i := range texts {
			texts[i] = words[i%len(words)]
		}
		texts[7] = "" // may be, and has a vector
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
	"it tells who answers": func(t *testing.T, p llm.Provider) {
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

func TestOllama(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	with := func(t *testing.T, model string) llm.Provider {
		return open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL, Model: model, Embedding: "tiny-bow"})
	}
	collect := func(t *testing.T, p llm.Provider, req llm.Request) (llm.Message, llm.Usage) {
		t.Helper()
		m, usage, err := llm.Collect(p.Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		return m, usage
	}

	t.Run("says what the model says and what it cost", func(t *testing.T) {
		m, usage := collect(t, with(t, "scripted"), say("hi"))
		if m.Text != llmtest.ScriptedAnswer || usage.Prompt == 0 || usage.Answer == 0 || usage.Generating == 0 {
			t.Errorf("got %q, %+v", m.Text, usage)
		}
	})
	t.Run("calls a tool, and answers after its reply", func(t *testing.T) {
		p := with(t, "scripted")
		req := say("what about my garden?")
		req.Tools = []llm.ToolSpec{searchSpec}
		m, _ := collect(t, p, req)
		var args struct {
			Query string
			Limit int
		}
		if len(m.Calls) != 1 || m.Calls[0].Name != "search_notes" || m.Calls[0].ID == "" {
			t.Fatalf("got %+v", m)
		}
		if err := json.Unmarshal(m.Calls[0].Args, &args); err != nil || args.Query != "garden" || args.Limit != 3 {
			t.Errorf("got arguments %s", m.Calls[0].Args)
		}
		req.Messages = append(req.Messages, m, llm.Message{Role: llm.ToolReply, Tool: "search_notes", CallID: m.Calls[0].ID, Text: "tomatoes"})
		if m, _ := collect(t, p, req); m.Text != llmtest.ScriptedAnswer || len(m.Calls) > 0 {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("thinks when it is asked to and can", func(t *testing.T) {
		p := with(t, "scripted-think")
		var thinking, text strings.Builder
		req := say("hi")
		for _, think := range []string{"on", "high"} {
			thinking.Reset()
			text.Reset()
			req.Think = think
			for d, err := range p.Stream(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				thinking.WriteString(d.Thinking)
				text.WriteString(d.Text)
			}
			if thinking.String() != llmtest.ThinkingText || text.String() != llmtest.ThinkingAnswer {
				t.Errorf("%s: got %q, then %q", think, thinking.String(), text.String())
			}
		}
		req.Think = "off"
		if m, _ := collect(t, p, req); m.Text != llmtest.ScriptedAnswer {
			t.Errorf("off: got %q", m.Text)
		}
		req.Think = "on" // a model that can't is not asked to
		if m, _ := collect(t, with(t, "scripted"), req); m.Text != llmtest.ScriptedAnswer {
			t.Errorf("a model that can't think: got %q", m.Text)
		}
	})
	t.Run("a random model keeps to a schema", func(t *testing.T) {
		req := say("hi")
		req.Schema = json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","enum":["search_notes","none"]},"limit":{"type":"integer","minimum":0,"maximum":9}},"required":["tool","limit"]}`)
		req.MaxTokens = 1000
		m, usage := collect(t, with(t, "tiny-random"), req)
		var got struct {
			Tool  string
			Limit int
		}
		if err := json.Unmarshal([]byte(m.Text), &got); err != nil || usage.Stopped != llm.StopEnd || got.Tool == "" {
			t.Errorf("got %q, %+v, %v", m.Text, usage, err)
		}
		req.MaxTokens = 3
		if _, usage := collect(t, with(t, "tiny-random"), req); usage.Stopped != llm.StopLength {
			t.Errorf("a JSON of 3 tokens: got %+v", usage)
		}
	})
	t.Run("a prompt beyond the window is an error, not cut", func(t *testing.T) {
		p := with(t, "scripted")
		_, _, err := llm.Collect(p.Stream(t.Context(), say(strings.Repeat("too long ", 1000))))
		if !errors.Is(err, llm.ErrTooLong) {
			t.Errorf("got %v", err)
		}
		p.SetWindow(512)
		if p.Window() != 512 {
			t.Errorf("its window is %d, want 512", p.Window())
		}
		if _, _, err := llm.Collect(p.Stream(t.Context(), say(strings.Repeat("long ", 200)))); !errors.Is(err, llm.ErrTooLong) {
			t.Errorf("in a window of 512: got %v", err)
		}
		long := say("hi " + llmtest.LoopMarker)
		if _, usage := collect(t, p, long); usage.Stopped != llm.StopLength || usage.Prompt+usage.Answer > 513 {
			t.Errorf("an answer beyond the window: got %+v", usage)
		}
	})
	t.Run("cancelling stops an endless answer within 100 ms", func(t *testing.T) {
		p := with(t, "scripted")
		soon(t, func() time.Duration {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var begun time.Time
			var last error
			n := 0
			for _, err := range p.Stream(ctx, say("go "+llmtest.LoopMarker)) {
				if n++; n == 20 {
					begun = time.Now()
					cancel()
				}
				last = err
			}
			if !errors.Is(last, context.Canceled) {
				t.Errorf("got %v", last)
			}
			return time.Since(begun)
		})
		if m, _ := collect(t, p, say("hi")); m.Text != llmtest.ScriptedAnswer {
			t.Errorf("afterwards: got %q", m.Text)
		}
	})
	t.Run("what a model cannot do is told", func(t *testing.T) {
		var cannot *llm.UnsupportedError
		req := say("hi")
		req.Tools = []llm.ToolSpec{searchSpec}
		if _, _, err := llm.Collect(with(t, "tiny-random").Stream(t.Context(), req)); !errors.As(err, &cannot) || cannot.Capability != "tools" {
			t.Errorf("tools: got %v", err)
		}
		if _, _, err := llm.Collect(with(t, "tiny-bow").Stream(t.Context(), say("hi"))); !errors.As(err, &cannot) || cannot.Capability != "chat" {
			t.Errorf("chat with an embedding model: got %v", err)
		}
		if err := with(t, "scripted").SetModel(t.Context(), "tiny-bow"); !errors.As(err, &cannot) {
			t.Errorf("set to an embedding model: got %v", err)
		}
		req = say("what is this?")
		req.Messages[0].Images = [][]byte{{1}}
		if _, _, err := llm.Collect(with(t, "scripted").Stream(t.Context(), req)); !errors.As(err, &cannot) || cannot.Capability != "images" {
			t.Errorf("images: got %v", err)
		}
	})
	t.Run("a missing model is named", func(t *testing.T) {
		var missing *llm.NotFoundError
		p := with(t, "nope")
		if _, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); !errors.As(err, &missing) || missing.Model != "nope" {
			t.Errorf("chat: got %v", err)
		}
		p = open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL})
		if _, err := p.Embedder(t.Context()); !errors.As(err, &missing) || missing.Model != "nomic-embed-text" {
			t.Errorf("embedder: got %v", err)
		}
	})
	t.Run("a pull that can't be is an error", func(t *testing.T) {
		var said []string
		err := with(t, "scripted").Pull(t.Context(), "127.0.0.1:9/library/nope", func(p llm.Progress) { said = append(said, p.Status) })
		if err == nil || !slices.Contains(said, "pulling manifest") {
			t.Errorf("got %v after %q", err, said)
		}
	})
	t.Run("show tells what a model is and can", func(t *testing.T) {
		p := with(t, "scripted")
		info, err := p.Info(t.Context(), "")
		if err != nil || info.Family != "llama" || info.Context != 4096 || info.Allocated != 4096 || !info.Can("tools") || info.Can("thinking") {
			t.Errorf("got %+v, %v", info, err)
		}
		list, err := p.Models(t.Context())
		if err != nil || len(list) != len(llmtest.Models()) {
			t.Fatalf("got %d models, %v", len(list), err)
		}
		for _, m := range list {
			if m.Size == 0 || len(m.Capabilities) == 0 {
				t.Errorf("got %+v", m)
			}
		}
	})
	t.Run("by default the newest model that can use tools answers", func(t *testing.T) {
		p := open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL})
		info, err := p.Info(t.Context(), "")
		if err != nil || !info.Can("tools") || p.State().Model != info.Name {
			t.Errorf("got %+v, %v, state %+v", info, err, p.State())
		}
	})
	t.Run("synonyms are alike", func(t *testing.T) {
		e, err := with(t, "scripted").Embedder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Embed(t.Context(), []string{"car", "automobile", "garden"})
		if err != nil {
			t.Fatal(err)
		}
		if alike, not := cosine(v[0], v[1]), cosine(v[0], v[2]); alike < 0.95 || not > 0.5 {
			t.Errorf("car and automobile %.2f, car and garden %.2f", alike, not)
		}
		if !strings.HasPrefix(e.Name(), "ollama/tiny-bow:latest@") {
			t.Errorf("its name is %q", e.Name())
		}
	})
}

func TestAServerThatHasNoModelSuggestsOne(t *testing.T) {
	server := llmtest.StartEmptyOllama(t)
	p := open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL})
	var missing *llm.NotFoundError
	if _, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); !errors.As(err, &missing) || missing.Model == "" {
		t.Errorf("got %v", err)
	}
}

func TestAServerKilledInTheMiddleCutsTheAnswer(t *testing.T) {
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
			if m, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); err != nil || m.Text != llmtest.ScriptedAnswer {
				t.Errorf("after its restart: got %q, %v", m.Text, err)
			}
		})
	}
}

func TestAutoGoesOfflineAndComesBack(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	states := make(chan llm.State, 16)
	p := open(t, llm.Settings{OllamaHost: server.URL, Model: "scripted-plan", Embedding: "tiny-bow", Changed: func(s llm.State) { states <- s }})
	embedder := func() string {
		e, err := p.Embedder(t.Context())
		if err != nil {
			t.Fatal(err)
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
	if err != nil || !strings.Contains(m.Text, "“I run three times a week") {
		t.Errorf("with the server gone: got %q, %v", m.Text, err)
	}
	if s := <-states; s.Provider != "offline" || s.Text == "" {
		t.Errorf("then: got %+v", s)
	}
	if embedder() != (llm.Ngrams{}).Name() {
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
	if m, _, err := llm.Collect(p.Stream(t.Context(), explainRequest("How often do I run?"))); err != nil || m.Text != llmtest.ScriptedExplanation {
		t.Errorf("after the restart: got %q, %v", m.Text, err)
	}
}

func TestAutoNeverWaitsAtItsStart(t *testing.T) {
	f := llmtest.NewFaults(t)
	f.Set(llmtest.Refuse, 0)
	begun := time.Now()
	p := open(t, llm.Settings{OllamaHost: f.URL})
	if s := p.State(); s.Provider != "offline" {
		t.Errorf("got %+v", s)
	}
	if took := time.Since(begun); took > 50*time.Millisecond {
		t.Errorf("opening took %v", took)
	}
	if m, _, err := llm.Collect(p.Stream(t.Context(), planRequest("hello"))); err != nil || !strings.Contains(m.Text, "Hello!") {
		t.Errorf("got %q, %v", m.Text, err)
	}
	if _, err := p.Models(t.Context()); !errors.Is(err, llm.ErrUnreachable) {
		t.Errorf("models of a server that is down: got %v", err)
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot * dot / aa / bb // squared: enough to compare
}

func TestMain(m *testing.M) {
	// No proxy of the machine stands between the tests and their servers.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		if err := os.Unsetenv(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(m.Run())
}
