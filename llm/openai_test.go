package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// wire is a server that answers each path with what a real one once wrote.
func wire(t *testing.T, answers map[string]http.HandlerFunc) llm.Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.URL.Path]; ok {
			answer(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return open(t, llm.Settings{Provider: "openai", OpenAIURL: server.URL + "/v1", OpenAIKey: "sk-1", Model: "m", Embedding: "e"})
}

// says answers with a status and a body.
func says(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

const chatPath = "/v1/chat/completions"

func TestStreamedCompletionsAreReadAsServersWriteThem(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		text     string
		thinking string
		calls    string
		usage    llm.Usage
	}{
		"words and what they cost": {
			body: "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n: ping\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
			text: "hello", usage: llm.Usage{Prompt: 3, Answer: 2, Stopped: llm.StopEnd},
		},
		"thoughts of vLLM and of routers": {
			body:     "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm \"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
			thinking: "hm so", text: "yes", usage: llm.Usage{Stopped: llm.StopLength},
		},
		"calls in pieces, by number": {
			body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"search_notes\",\"arguments\":\"{\\\"que\"}}]}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"today\",\"arguments\":\"\"}}]}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"ry\\\":\\\"x\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
			calls: `a search_notes {"query":"x"}; b today {}`, usage: llm.Usage{Stopped: llm.StopEnd},
		},
		"calls without numbers": {
			body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":\"{}\"}},{\"id\":\"b\",\"function\":{\"name\":\"two\",\"arguments\":\"{}\"}}]}}]}\n\n" +
				"data: [DONE]\n\n",
			calls: "a one {}; b two {}", usage: llm.Usage{Stopped: llm.StopEnd},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := wire(t, map[string]http.HandlerFunc{chatPath: says(200, c.body)})
			var text, thinking strings.Builder
			var calls []string
			var usage llm.Usage
			for d, err := range p.Stream(t.Context(), say("hi")) {
				if err != nil {
					t.Fatal(err)
				}
				text.WriteString(d.Text)
				thinking.WriteString(d.Thinking)
				if d.Call != nil {
					calls = append(calls, fmt.Sprintf("%s %s %s", d.Call.ID, d.Call.Name, d.Call.Args))
				}
				if d.Usage != nil {
					usage = *d.Usage
					usage.Generating = 0
				}
			}
			if text.String() != c.text || thinking.String() != c.thinking || strings.Join(calls, "; ") != c.calls || usage != c.usage {
				t.Errorf("got %q, thinking %q, calls %q, %+v", text.String(), thinking.String(), calls, usage)
			}
		})
	}
}

func TestRefusalsAreToldByTheirKind(t *testing.T) {
	var missing *llm.NotFoundError
	var status *llm.StatusError
	for name, c := range map[string]struct {
		code int
		body string
		want func(error) bool
	}{
		"too long, by code":   {400, `{"error":{"message":"no","code":"context_length_exceeded"}}`, func(err error) bool { return errors.Is(err, llm.ErrTooLong) }},
		"too long, in words":  {400, `{"error":{"message":"This model's maximum context length is 4096 tokens."}}`, func(err error) bool { return errors.Is(err, llm.ErrTooLong) }},
		"too long, llama.cpp": {400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, func(err error) bool { return errors.Is(err, llm.ErrTooLong) }},
		"no such model":       {404, `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`, func(err error) bool { return errors.As(err, &missing) && missing.Model == "m" }},
		"no such address":     {404, `404 page not found`, func(err error) bool { return errors.As(err, &status) && status.Code == 404 }},
		"a bad key":           {401, `{"error":{"message":"Incorrect API key provided"}}`, func(err error) bool { return errors.As(err, &status) && status.Code == 401 }},
		"an error that is text": {500, `{"error":"boom\u001b[31m"}`, func(err error) bool {
			return errors.As(err, &status) && status.Message == "boom [31m"
		}},
		"an error in place of the stream": {200, "data: {\"error\":{\"message\":\"the worker died\"}}\n\n", func(err error) bool {
			return errors.As(err, &status) && status.Message == "the worker died"
		}},
		"an error in the stream": {200, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"message\":\"the worker died\"}}\n\n", func(err error) bool {
			return errors.Is(err, llm.ErrCut) && strings.Contains(err.Error(), "the worker died")
		}},
		"an unknown address, LM Studio": {200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`, func(err error) bool {
			return errors.As(err, &status) && strings.HasPrefix(status.Message, "Unexpected endpoint")
		}},
		"too long, older llama.cpp": {500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing it","type":"exceed_context_size_error"}}`, func(err error) bool { return errors.Is(err, llm.ErrTooLong) }},
		"a call that is not JSON":     {200, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]}}]}\n\ndata: [DONE]\n\n", func(err error) bool { return errors.Is(err, llm.ErrCut) }},
		"a call of an absurd number":  {200, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":99999999,\"id\":\"a\"}]}}]}\n\ndata: [DONE]\n\n", func(err error) bool { return errors.Is(err, llm.ErrCut) }},
		"a call of a negative number": {200, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"a\"}]}}]}\n\ndata: [DONE]\n\n", func(err error) bool { return errors.Is(err, llm.ErrCut) }},
		"an end without a reason":     {200, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", func(err error) bool { return errors.Is(err, llm.ErrCut) }},
	} {
		p := wire(t, map[string]http.HandlerFunc{chatPath: says(c.code, c.body)})
		m, _, err := llm.Collect(p.Stream(t.Context(), say("hi")))
		if err == nil || !c.want(err) || len(m.Calls) > 0 {
			t.Errorf("%s: got %v (%T) and %d calls", name, err, err, len(m.Calls))
		}
	}
}

func TestARequestIsWrittenAsTheProtocolWantsIt(t *testing.T) {
	var body, key string
	p := wire(t, map[string]http.HandlerFunc{chatPath: func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, key = string(b), r.Header.Get("Authorization")
		says(200, "data: [DONE]\n\n")(w, r)
	}})
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "s"},
			{Role: llm.User, Text: "what is this?", Images: [][]byte{[]byte("\x89PNG\r\n\x1a\n")}},
			{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "today", Args: json.RawMessage(`{"zone":"UTC"}`)}}},
			{Role: llm.ToolReply, CallID: "a", Tool: "today", Text: "Saturday"},
		},
		Tools:  []llm.ToolSpec{{Name: "today", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}},
		Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 9, Think: "low",
	}
	if _, _, err := llm.Collect(p.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","messages":[{"role":"system","content":"s"},` +
		`{"role":"user","content":[{"text":"what is this?","type":"text"},{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="},"type":"image_url"}]},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"today","arguments":"{\"zone\":\"UTC\"}"}}]},` +
		`{"role":"tool","content":"Saturday","tool_call_id":"a"}],` +
		`"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"today","description":"d","parameters":{"type":"object"}}}],` +
		`"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":false,"schema":{"type":"object"}}},"max_tokens":9,"reasoning_effort":"low"}`
	if body != want || key != "Bearer sk-1" {
		t.Errorf("got key %q and\n%s\nwant\n%s", key, body, want)
	}
}

func TestAServerThatKnowsNoSchemaIsAskedWithoutOne(t *testing.T) {
	var shaped []bool
	p := wire(t, map[string]http.HandlerFunc{chatPath: func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		has := strings.Contains(string(b), "response_format")
		shaped = append(shaped, has)
		if has {
			says(400, `{"error":{"message":"unknown field response_format"}}`)(w, r)
			return
		}
		says(200, "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"}}]}\n\ndata: [DONE]\n\n")(w, r)
	}})
	req := say("hi")
	req.Schema = json.RawMessage(`{"type":"object"}`)
	for range 2 {
		if m, _, err := llm.Collect(p.Stream(t.Context(), req)); err != nil || m.Text != "{}" {
			t.Fatalf("got %q, %v", m.Text, err)
		}
	}
	if want := []bool{true, false, false}; !slices.Equal(shaped, want) {
		t.Errorf("it was asked with a schema: %v, want %v", shaped, want)
	}
}

func TestVectorsAreSortedAndChecked(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"out of order":         {`{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`, "[[1 0] [0 1]]"},
		"one missing":          {`{"data":[{"index":1,"embedding":[0,1]}]}`, ""},
		"one twice":            {`{"data":[{"index":0,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`, ""},
		"one of another index": {`{"data":[{"index":0,"embedding":[0,1]},{"index":7,"embedding":[1,0]}]}`, ""},
		"of two lengths":       {`{"data":[{"index":0,"embedding":[0,1]},{"index":1,"embedding":[1,0,0]}]}`, ""},
		"of zeros":             {`{"data":[{"index":0,"embedding":[0,1]},{"index":1,"embedding":[0,0]}]}`, ""},
		"no JSON":              {`<html>`, ""},
	} {
		p := wire(t, map[string]http.HandlerFunc{"/v1/embeddings": says(200, c.body)})
		e, err := p.Embedder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Embed(t.Context(), []string{"a", "b"})
		if c.want == "" && err == nil || c.want != "" && fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestTheWindowIsWhatTheServerTells(t *testing.T) {
	p := wire(t, map[string]http.HandlerFunc{"/v1/models": says(200, `{"data":[{"id":"text-embed"},{"id":"m","max_model_len":4096},{"id":"n","meta":{"n_ctx_train":512}}]}`)})
	if info, err := p.Info(t.Context(), ""); err != nil || info.Context != 4096 || info.Allocated != 4096 {
		t.Errorf("got %+v, %v", info, err)
	}
	if err := p.SetModel(t.Context(), "n"); err != nil || p.Window() != 512 || p.State().Model != "n" {
		t.Errorf("got window %d, %v", p.Window(), err)
	}
	p.SetWindow(100)
	if p.Window() != 100 {
		t.Errorf("with a setting of 100: got %d", p.Window())
	}
}

func TestOllamasOwnCompletionsWork(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	with := func(model string) llm.Provider {
		return open(t, llm.Settings{Provider: "openai", OpenAIURL: server.URL + "/v1", Model: model})
	}
	req := say("what about my garden?")
	req.Tools = []llm.ToolSpec{searchSpec}
	m, usage, err := llm.Collect(with("scripted").Stream(t.Context(), req))
	if err != nil || len(m.Calls) != 1 || m.Calls[0].Name != "search_notes" || !strings.Contains(string(m.Calls[0].Args), "garden") || usage.Prompt == 0 {
		t.Errorf("tools: got %+v, %+v, %v", m, usage, err)
	}
	thought := ""
	think := say("hi")
	think.Think = "high"
	for d, err := range with("scripted-think").Stream(t.Context(), think) {
		if err != nil {
			t.Fatal(err)
		}
		thought += d.Thinking
	}
	if thought != llmtest.ThinkingText {
		t.Errorf("thinking: got %q", thought)
	}
	var missing *llm.NotFoundError
	if _, _, err := llm.Collect(with("nope").Stream(t.Context(), say("hi"))); !errors.As(err, &missing) {
		t.Errorf("an unknown model: got %v", err)
	}
}
