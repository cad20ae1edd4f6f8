package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

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

	t.Run("streams text and usage", func(t *testing.T) {
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
		req.Messages = append(req.Messages, m, llm.Message{
			Role: llm.ToolReply, Tool: "search_notes",
			CallID: m.Calls[0].ID, Text: "tomatoes",
		})
		if m, _ := collect(t, p, req); m.Text != llmtest.ScriptedAnswer || len(m.Calls) > 0 {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("thinks if requested and supported", func(t *testing.T) {
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
		req.Think = "on" // not sent to a model that cannot think
		if m, _ := collect(t, with(t, "scripted"), req); m.Text != llmtest.ScriptedAnswer {
			t.Errorf("a model that can't think: got %q", m.Text)
		}
	})
	t.Run("a random model follows a schema", func(t *testing.T) {
		req := say("hi")
		req.Schema = json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","enum":["search_notes",` +
			`"none"]},"limit":{"type":"integer","minimum":0,"maximum":9}},"required":["tool","limit"]}`)
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
	t.Run("a prompt beyond the window is an error", func(t *testing.T) {
		var status *llm.StatusError
		p := with(t, "scripted")
		_, _, err := llm.Collect(p.Stream(t.Context(), say(strings.Repeat("too long ", 1000))))
		if !errors.As(err, &status) || !status.Refused() {
			t.Errorf("got %v", err)
		}
		p.SetWindow(512)
		if p.Window() != 512 {
			t.Errorf("its window is %d, want 512", p.Window())
		}
		if _, _, err := llm.Collect(p.Stream(t.Context(), say(strings.Repeat("long ", 200)))); !errors.As(err,
			&status) || !status.Refused() {
			t.Errorf("in a window of 512: got %v", err)
		}
		long := say("hi " + llmtest.LoopMarker)
		if _, usage := collect(t, p, long); usage.Stopped != llm.StopLength || usage.Prompt+usage.Answer > 513 {
			t.Errorf("an answer beyond the window: got %+v", usage)
		}
	})
	t.Run("cancelling stops an endless answer", func(t *testing.T) {
		p := with(t, "scripted")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		n := 0
		for _, err := range p.Stream(ctx, say("go "+llmtest.LoopMarker)) {
			if n++; n == 20 {
				cancel()
			}
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("got %v", last)
		}
		if m, _ := collect(t, p, say("hi")); m.Text != llmtest.ScriptedAnswer {
			t.Errorf("afterwards: got %q", m.Text)
		}
	})
	t.Run("an unsupported capability is an error", func(t *testing.T) {
		var cannot *llm.UnsupportedError
		req := say("hi")
		req.Tools = []llm.ToolSpec{searchSpec}
		if _, _, err := llm.Collect(with(t, "tiny-random").Stream(t.Context(), req)); !errors.As(err, &cannot) ||
			cannot.Capability != "tools" {
			t.Errorf("tools: got %v", err)
		}
		if _, _, err := llm.Collect(with(t, "tiny-bow").Stream(t.Context(), say("hi"))); !errors.As(err, &cannot) ||
			cannot.Capability != "chat" {
			t.Errorf("chat with an embedding model: got %v", err)
		}
		if err := with(t, "scripted").SetModel(t.Context(), "tiny-bow"); !errors.As(err, &cannot) {
			t.Errorf("set to an embedding model: got %v", err)
		}
		req = say("what is this?")
		req.Messages[0].Images = [][]byte{{1}}
		if _, _, err := llm.Collect(with(t, "scripted").Stream(t.Context(), req)); !errors.As(err, &cannot) ||
			cannot.Capability != "images" {
			t.Errorf("images: got %v", err)
		}
	})
	t.Run("a missing model is an error that names it", func(t *testing.T) {
		var missing *llm.NotFoundError
		p := with(t, "nope")
		if _, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); !errors.As(err, &missing) ||
			missing.Model != "nope" {
			t.Errorf("chat: got %v", err)
		}
		p = open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL})
		if _, err := p.Embedder(t.Context()); !errors.As(err, &missing) || missing.Model != "embeddinggemma" {
			t.Errorf("embedder: got %v", err)
		}
	})
	t.Run("pulling an unknown model is an error", func(t *testing.T) {
		var pieces []string
		err := with(t, "scripted").Pull(t.Context(), "127.0.0.1:9/library/nope",
			func(p llm.Progress) { pieces = append(pieces, p.Status) })
		if err == nil || !slices.Contains(pieces, "pulling manifest") {
			t.Errorf("got %v after %q", err, pieces)
		}
	})
	t.Run("info describes the model", func(t *testing.T) {
		p := with(t, "scripted")
		info, err := p.Info(t.Context(), "")
		if err != nil || info.Family != "llama" || info.Context != 4096 || info.Allocated != 4096 ||
			!info.Can("tools") || info.Can("thinking") {
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
	t.Run("the default is the newest model with tools", func(t *testing.T) {
		p := open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL})
		info, err := p.Info(t.Context(), "")
		if err != nil || !info.Can("tools") || p.State().Model != info.Name {
			t.Errorf("got %+v, %v, state %+v", info, err, p.State())
		}
	})
	t.Run("synonyms have similar vectors", func(t *testing.T) {
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

func TestServerWithoutModelsSuggestsOne(t *testing.T) {
	server := llmtest.StartEmptyOllama(t)
	p := open(t, llm.Settings{Provider: "ollama", OllamaHost: server.URL})
	var missing *llm.NotFoundError
	if _, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); !errors.As(err, &missing) || missing.Model == "" {
		t.Errorf("got %v", err)
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot * dot / aa / bb // squared, which preserves the order
}
