package servers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// wire starts a server that answers each path with a recorded response.
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
	return open(t, llm.Settings{
		Provider: "openai", OpenAIURL: server.URL + "/v1", OpenAIKey: "sk-1",
		Model: "m", Embedding: "e",
	})
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

func TestStreamedCompletionsOfRealServersAreParsed(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		text     string
		thinking string
		calls    string
		usage    llm.Usage
	}{
		"text and usage": {
			body: "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n: " +
				"ping\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":\"stop\"}]}\n\ndata: " +
				"{\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
			text: "hello", usage: llm.Usage{Prompt: 3, Answer: 2, Stopped: llm.StopEnd},
		},
		"thinking of vLLM and of routers": {
			body: "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm \"}}]}\n\ndata: " +
				"{\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\ndata: " +
				"{\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
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
		"arguments as an object, numbered from one": {
			body:  "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":{\"q\":1}}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
			calls: `a one {"q":1}`, usage: llm.Usage{Stopped: llm.StopEnd},
		},
		"a call that is no list": {
			body:  "data: {\"choices\":[{\"delta\":{\"tool_calls\":{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":\"{}{\\\"q\\\":1}\"}}},\"finish_reason\":\"tool_calls\"}]}\n\n",
			calls: `a one {"q":1}`, usage: llm.Usage{Stopped: llm.StopEnd},
		},
		"a call of an older server": {
			body: "data: {\"choices\":[{\"delta\":{\"function_call\":{\"name\":\"one\",\"arguments\":\"\"}}}]}\n\ndata: " +
				"{\"choices\":[{\"delta\":{\"function_call\":{\"arguments\":\"{\\\"q\\\":\"}}}]}\n\ndata: " +
				"{\"choices\":[{\"delta\":{\"function_call\":{\"arguments\":\"1}\"}},\"finish_reason\":\"function_call\"}]}\n\n",
			calls: ` one {"q":1}`, usage: llm.Usage{Stopped: llm.StopEnd},
		},
		"a call that is not JSON beside one that is": {
			body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":\"{}}\"}}," +
				"{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"two\",\"arguments\":\"{}\"}}]}}]}\n\ndata: " +
				"[DONE]\n\n",
			calls: "a one (a fault); b two {}", usage: llm.Usage{Stopped: llm.StopEnd},
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
				if d.Call != nil && d.Call.Fault != "" {
					d.Call.Args = json.RawMessage("(a fault)")
				}
				if d.Call != nil {
					calls = append(calls, fmt.Sprintf("%s %s %s", d.Call.ID, d.Call.Name, d.Call.Args))
				}
				if d.Usage != nil {
					usage = *d.Usage
					usage.Generating = 0
				}
			}
			if text.String() != c.text || thinking.String() != c.thinking ||
				strings.Join(calls, "; ") != c.calls || usage != c.usage {
				t.Errorf("got %q, thinking %q, calls %q, %+v", text.String(), thinking.String(), calls, usage)
			}
		})
	}
}

// A complete call is run whatever the server calls its end, unless that is a failure.
func TestCompleteCallsEndAnAnswer(t *testing.T) {
	for reason, complete := range map[string]bool{
		"tool_use": true, "tool_call": true, "function_calls": true, "TOOL_CALL": true, "<|call|>": true,
		"content_filter": false, "error": false, "Error": false,
	} {
		for args, whole := range map[string]bool{`{}`: true, `{\"q\":\"x\"}`: true, `{\"q\":\"x`: false} {
			p := wire(t, map[string]http.HandlerFunc{chatPath: says(200,
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"`+
					args+`"}}]}}]}`+"\n\n"+`data: {"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`+
					"\n\ndata: [DONE]\n\n")})
			m, _, err := llm.Collect(p.Stream(t.Context(), say("hi")))
			if want := complete && whole; (err == nil) != want || (len(m.Calls) == 1) != want ||
				err != nil && !strings.Contains(err.Error(), reason) {
				t.Errorf("%s of %s: got %+v, %v", reason, args, m.Calls, err)
			}
		}
	}
}

func TestErrorsAreClassified(t *testing.T) {
	var missing *llm.NotFoundError
	var status *llm.StatusError
	for name, c := range map[string]struct {
		code int
		body string
		want func(error) bool
	}{
		"too long, in any words": {
			400, `{"error":{"message":"no","code":"context_length_exceeded"}}`,
			func(err error) bool { return errors.As(err, &status) && status.Refused() },
		},
		"no such model": {
			404, `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`,
			func(err error) bool { return errors.As(err, &missing) && missing.Model == "m" },
		},
		"no such path": {
			404, `404 page not found`,
			func(err error) bool { return errors.As(err, &status) && status.Code == 404 },
		},
		"a bad key": {
			401, `{"error":{"message":"Incorrect API key provided"}}`,
			func(err error) bool { return errors.As(err, &status) && status.Code == 401 },
		},
		"an error that is text": {500, `{"error":"boom\u001b[31m"}`, func(err error) bool {
			return errors.As(err, &status) && status.Message == "boom [31m"
		}},
		"an error in a list, Gemini": {400, `[{"error":{"code":400,"message":"boom"}}]`, func(err error) bool {
			return errors.As(err, &status) && status.Message == "boom"
		}},
		"details, FastAPI": {422, `{"detail":"boom"}`, func(err error) bool {
			return errors.As(err, &status) && status.Message == "boom"
		}},
		"an error in place of the stream": {
			200, "data: {\"error\":{\"message\":\"the worker died\"}}\n\n",
			func(err error) bool {
				return errors.As(err, &status) && status.Message == "the worker died"
			},
		},
		"an error in the stream": {200, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: " +
			"{\"error\":{\"message\":\"the worker died\"}}\n\n", func(err error) bool {
			return errors.Is(err, llm.ErrCut) && strings.Contains(err.Error(), "the worker died")
		}},
		"an unknown address, LM Studio": {
			200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`,
			func(err error) bool {
				return errors.As(err, &status) && strings.HasPrefix(status.Message, "Unexpected endpoint")
			},
		},
		"an end without a reason": {
			200, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n",
			func(err error) bool { return errors.Is(err, llm.ErrCut) },
		},
	} {
		p := wire(t, map[string]http.HandlerFunc{chatPath: says(c.code, c.body)})
		m, _, err := llm.Collect(p.Stream(t.Context(), say("hi")))
		if err == nil || !c.want(err) || len(m.Calls) > 0 {
			t.Errorf("%s: got %v (%T) and %d calls", name, err, err, len(m.Calls))
		}
	}
}

func TestRequestFollowsTheProtocol(t *testing.T) {
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
			{Role: llm.Assistant, Calls: []llm.ToolCall{{
				ID: "a", Name: "today",
				Args: json.RawMessage(`{"zone":"UTC"}`),
			}}},
			{Role: llm.ToolReply, CallID: "a", Tool: "today", Text: "Saturday"},
		},
		Tools:  []llm.ToolSpec{{Name: "today", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}},
		Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 9, Think: "low",
	}
	if _, _, err := llm.Collect(p.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	want := `{"max_tokens":9,"messages":[{"role":"system","content":"s"},` +
		`{"role":"user","content":[{"text":"what is this?","type":"text"},{"image_url":{"url":"data:image/png;base64,` +
		`iVBORw0KGgo="},"type":"image_url"}]},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"today",` +
		`"arguments":"{\"zone\":\"UTC\"}"}}]},` +
		`{"role":"tool","content":"Saturday","tool_call_id":"a"}],"model":"m","reasoning_effort":"low",` +
		`"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":false,` +
		`"schema":{"type":"object"}}},` +
		`"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function",` +
		`"function":{"name":"today","description":"d","parameters":{"type":"object"}}}]}`
	if body != want || key != "Bearer sk-1" {
		t.Errorf("got key %q and\n%s\nwant\n%s", key, body, want)
	}
}

func TestServerWithoutSchemasIsAskedWithoutOne(t *testing.T) {
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

func TestVectorsAreSortedAndValidated(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"out of order": {
			`{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`,
			"[[1 0] [0 1]]",
		},
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

func TestWindowIsTheOneTheServerReports(t *testing.T) {
	p := wire(t, map[string]http.HandlerFunc{"/v1/models": says(200,
		`{"data":[{"id":"text-embed"},{"id":"m","max_model_len":4096},{"id":"n","meta":{"n_ctx_train":512,`+
			`"n_params":1543714304}}]}`)})
	if info, err := p.Info(t.Context(), ""); err != nil || info.Context != 4096 || info.Allocated != 4096 {
		t.Errorf("got %+v, %v", info, err)
	}
	if err := p.SetModel(t.Context(), "n"); err != nil || p.Window() != 512 || p.State().Model != "n" ||
		p.State().Parameters != 1543714304 {
		t.Errorf("got window %d, %v", p.Window(), err)
	}
	p.SetWindow(100)
	if p.Window() != 100 {
		t.Errorf("with a setting of 100: got %d", p.Window())
	}
}

func TestOllamasCompletionsEndpointWorks(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	with := func(model string) llm.Provider {
		return open(t, llm.Settings{Provider: "openai", OpenAIURL: server.URL + "/v1", Model: model})
	}
	req := say("what about my garden?")
	req.Tools = []llm.ToolSpec{searchSpec}
	scripted := with("scripted")
	if err := scripted.Ready(t.Context()); err != nil || scripted.State().RejectsLongPrompts {
		t.Errorf("a window of %d tokens, %+v, %v", scripted.Window(), scripted.State(), err)
	}
	m, usage, err := llm.Collect(scripted.Stream(t.Context(), req))
	if err != nil || len(m.Calls) != 1 || m.Calls[0].Name != "search_notes" ||
		!strings.Contains(string(m.Calls[0].Args), "garden") || usage.Prompt == 0 {
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

func TestAnswerIsCompleteWithEveryKindOfEnd(t *testing.T) {
	const chunk, end = "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\n",
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	for name, answer := range map[string]http.HandlerFunc{
		"as specified":     says(200, chunk+end+"data: [DONE]\n\n"),
		"no end marker":    says(200, chunk+end),
		"no finish reason": says(200, chunk+"data: [DONE]\n\n"),
		"a whole body": says(200, `{"object":"chat.completion",`+
			`"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`),
		"a whole body in many lines": says(200, "\n{\n \"choices\": [\n  {\"message\": {\"content\": \"hello\"}, "+
			"\"finish_reason\": \"stop\"}\n ]\n}\n"),
		"a document a line": says(200, `{"choices":[{"delta":{"content":"hel"}}]}`+"\n"+
			`{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`+"\n"),
		"a broken connection": func(w http.ResponseWriter, r *http.Request) {
			says(200, chunk+end)(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		p := wire(t, map[string]http.HandlerFunc{chatPath: answer})
		if m, usage, err := llm.Collect(p.Stream(t.Context(), say("hi"))); err != nil || m.Text != "hello" ||
			usage.Stopped != llm.StopEnd {
			t.Errorf("%s: got %q, %+v, %v", name, m.Text, usage, err)
		}
	}
}

func TestPromptTokensIncludeCachedOnes(t *testing.T) {
	for usage, want := range map[string]int{
		`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,` +
			`"prompt_tokens_details":{"cached_tokens":1920}}`: 2006,
		`{"prompt_tokens":86,"completion_tokens":300},"timings":{"cache_n":1920,` +
			`"prompt_n":86}`: 2006,
		`{"prompt_tokens":86,"completion_tokens":300,` +
			`"prompt_tokens_details":null}`: 86,
		`null`: 0,
	} {
		p := wire(t, map[string]http.HandlerFunc{chatPath: says(200,
			"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: "+
				"{\"choices\":[],\"usage\":"+usage+"}\n\ndata: [DONE]\n\n")})
		if _, got, err := llm.Collect(p.Stream(t.Context(), say("hi"))); err != nil || got.Prompt != want {
			t.Errorf("%s: got %d tokens, %v, want %d", usage, got.Prompt, err, want)
		}
	}
}

// refuser rejects requests that hold one of the options.
func refuser(asked *[]string, status int, message string, options ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var has []string
		for _, option := range []string{"stream_options", "response_format", "tools", "max_tokens", "temperature"} {
			if option == "temperature" && !slices.Contains(options, option) {
				continue // it is in each request
			}
			if strings.Contains(string(raw), `"`+option+`"`) {
				has = append(has, option)
			}
		}
		*asked = append(*asked, strings.Join(has, " "))
		for _, option := range options {
			if slices.Contains(has, option) {
				says(status, fmt.Sprintf(`{"error":{"message":%q}}`, strings.ReplaceAll(message, "OPTION", option)))(w,
					r)
				return
			}
		}
		says(200, "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"}}]}\n\ndata: [DONE]\n\n")(w, r)
	}
}

func TestRejectedOptionsAreOmitted(t *testing.T) {
	var asked []string
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string // the options of each request, for two calls
	}{
		"named": {
			refuser(&asked, 400, "Unknown parameter: 'OPTION'", "stream_options"),
			[]string{
				"stream_options response_format max_tokens", "response_format max_tokens",
				"response_format max_tokens",
			},
		},
		"named by FastAPI": {refuser(&asked, 422, `[{"type":"extra_forbidden","loc":["body","OPTION"]}]`,
			"max_tokens"), []string{
			"stream_options response_format max_tokens", "stream_options response_format",
			"stream_options response_format",
		}},
		"not named": {
			refuser(&asked, 400, "bad request", "response_format"),
			[]string{"stream_options response_format max_tokens", "stream_options response_format max_tokens"},
		},
		"a temperature": {refuser(&asked, 400, "Unsupported value: 'OPTION' does not support 0.1 with this model",
			"temperature"), []string{
			"stream_options response_format max_tokens temperature",
			"stream_options response_format max_tokens", "stream_options response_format max_tokens",
		}},
		"two, one after one": {
			refuser(&asked, 400, "no OPTION here", "stream_options", "response_format"),
			[]string{
				"stream_options response_format max_tokens", "response_format max_tokens",
				"max_tokens", "max_tokens",
			},
		},
		"located by FastAPI": {func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			if strings.Contains(string(raw), "stream_options") {
				asked = append(asked, "stream_options")
				says(422, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}`)(w, r)
				return
			}
			asked = append(asked, "")
			says(200, "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"}}]}\n\ndata: [DONE]\n\n")(w, r)
		}, []string{"stream_options", "", ""}},
	} {
		asked = nil
		p := wire(t, map[string]http.HandlerFunc{chatPath: c.answer})
		req := say("hi")
		req.Schema, req.MaxTokens = json.RawMessage(`{"type":"object"}`), 9
		for range 2 {
			if m, _, err := llm.Collect(p.Stream(t.Context(), req)); (err != nil || m.Text != "{}") &&
				name != "not named" {
				t.Errorf("%s: got %q, %v", name, m.Text, err)
			}
		}
		if !slices.Equal(asked, c.want) {
			t.Errorf("%s: asked with %q, want %q", name, asked, c.want)
		}
	}
}

// A request may be refused for its tools. That they are the reason is known once a request without
// them, which is no shorter, is answered.
func TestRefusedToolsAreLeftOut(t *testing.T) {
	for message, status := range map[string]int{
		`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`: 400,
		"No endpoints found that support tool use.":                                              404,
		"`tool calling` is not supported with this model":                                        400,
		"Function calling is not enabled for this model":                                         422,
		"Not implemented": 501,
		"Conversation roles must alternate user/assistant/": 400,
	} {
		var asked []string
		p := wire(t, map[string]http.HandlerFunc{chatPath: refuser(&asked, status, message, "tools")})
		with, short, long := say("hi"), say("hi"), say(strings.Repeat("as long ", 100))
		with.Tools = []llm.ToolSpec{searchSpec}
		for _, c := range []struct {
			req     llm.Request
			refused bool
			tools   bool // still believed to work
		}{{with, true, true}, {short, false, true}, {with, true, true}, {long, false, false}, {with, true, false}} {
			var unsupported *llm.UnsupportedError
			_, _, err := llm.Collect(p.Stream(t.Context(), c.req))
			if (err != nil) != c.refused || errors.As(err, &unsupported) == (c.tools || !c.refused) ||
				p.State().Tools != c.tools {
				t.Errorf("%s: got %v, tools %v", message, err, p.State().Tools)
			}
		}
		if want := []string{
			"stream_options tools", "stream_options", "stream_options tools", "stream_options",
		}; !slices.Equal(asked, want) {
			t.Errorf("%s: asked with %q, want %q", message, asked, want)
		}
	}
}

// Nothing about tools is concluded from a longer request, of which they are a part, from
// one that is not signed in, or from a server that fails.
func TestRefusalForAnotherReasonKeepsTools(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		text   string
	}{
		"a long one": {400, strings.Repeat("long ", 20_000)}, "too large": {413, "hi"}, "a failure": {500, "hi"},
		"no key": {401, "hi"}, "not paid": {402, "hi"}, "forbidden": {403, "hi"}, "too slow": {408, "hi"},
	} {
		var asked []string
		p := wire(t, map[string]http.HandlerFunc{chatPath: refuser(&asked, c.status, "messages and tools", "tools")})
		req := say(c.text)
		req.Tools = []llm.ToolSpec{searchSpec}
		var status *llm.StatusError
		if _, _, err := llm.Collect(p.Stream(t.Context(), req)); !errors.As(err, &status) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, _, err := llm.Collect(p.Stream(t.Context(), say(strings.Repeat("as long ", 100)))); err != nil ||
			!p.State().Tools {
			t.Errorf("%s: got %v, tools %v", name, err, p.State().Tools)
		}
	}
}

func TestRejectionNotDueToOptionsIsReported(t *testing.T) {
	var status *llm.StatusError
	p := wire(t, map[string]http.HandlerFunc{chatPath: says(400, `{"error":{"message":"roles must alternate"}}`)})
	if _, _, err := llm.Collect(p.Stream(t.Context(), say("hi"))); !errors.As(err, &status) ||
		status.Message != "roles must alternate" {
		t.Errorf("got %v", err)
	}
}

func TestLongRetryAfterIsReportedWithoutWaiting(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for header, want := range map[string]struct{ least, most time.Duration }{
		"3600":                          {time.Hour, time.Hour},
		"90":                            {90 * time.Second, 90 * time.Second},
		"61":                            {61 * time.Second, 61 * time.Second},
		"2300000000":                    {week, math.MaxInt64},
		"Tue, 31 Dec 2999 00:00:00 GMT": {week, math.MaxInt64},
		time.Now().Add(26 * time.Hour).UTC().Format(http.TimeFormat): {25 * time.Hour, 26 * time.Hour},
		"Thu, 31 Dec 2099 00:00:00 GMT":                              {week, math.MaxInt64},
	} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			asked := 0
			p := wire(t, map[string]http.HandlerFunc{chatPath: func(w http.ResponseWriter, r *http.Request) {
				asked++
				w.Header().Set("Retry-After", header)
				says(status, `{"error":{"message":"Rate limit reached"}}`)(w, r)
			}})
			_, _, err := llm.Collect(p.Stream(t.Context(), say("hi")))
			refused := (*llm.StatusError)(nil)
			if !errors.As(err, &refused) || refused.Message != "Rate limit reached" || asked != 1 ||
				refused.RetryAfter < want.least || refused.RetryAfter > want.most {
				t.Errorf("%s with %d: asked %d times, got %v", header, status, asked, err)
			}
		}
	}
}

// A server that was restarted with another model or window is queried again.
func TestRestartedServerIsQueriedAgain(t *testing.T) {
	model, window := "first", 8192
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/v1/models":
			says(200, fmt.Sprintf(`{"data":[{"id":%q,"max_model_len":%d}]}`, model, window))(w, r)
		case r.URL.Path != chatPath:
			http.NotFound(w, r)
		case !strings.Contains(string(raw), `"`+model+`"`):
			says(404, `{"error":{"message":"The model does not exist."}}`)(w, r)
		case len(raw) > window:
			says(400, `{"error":{"message":"This model's maximum context length is exceeded"}}`)(w, r)
		default:
			says(200, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n")(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p := open(t, llm.Settings{Provider: "openai", OpenAIURL: server.URL + "/v1"})
	named := open(t, llm.Settings{Provider: "openai", OpenAIURL: server.URL + "/v1", Model: "other"})
	_, _, err := llm.Collect(named.Stream(t.Context(), say("hi")))
	var missing *llm.NotFoundError
	if !errors.As(err, &missing) || !missing.Fixed || missing.Model != "other" {
		t.Errorf("a model that the user named and the server has not: %v", err)
	}
	for _, c := range []struct {
		model  string
		window int
		fails  bool // the first request fails, before the server is queried again
	}{{"first", 8192, false}, {"second", 8192, true}, {"second", 100, true}} {
		model, window = c.model, c.window
		for try := range 2 {
			if err := p.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, _, err := llm.Collect(p.Stream(t.Context(), say("hi")))
			if fails := err != nil; try == 0 && fails != c.fails {
				t.Errorf("%+v: got %v", c, err)
			}
		}
		if err := p.Ready(t.Context()); err != nil || p.State().Model != c.model || p.Window() != c.window {
			t.Errorf("%+v: got %s with %d tokens, %v", c, p.State().Model, p.Window(), err)
		}
	}
}

// Only llama.cpp's server is asked for its progress, which comes before the answer and
// is no part of it.
func TestReadingProgressIsReported(t *testing.T) {
	for advert, asks := range map[string]bool{
		`{"id":"m","meta":{"n_ctx":4096,"n_ctx_train":8192}}`: true,
		`{"id":"m","max_model_len":4096}`:                     false,
	} {
		var body string
		p := wire(t, map[string]http.HandlerFunc{
			"/v1/models": says(200, `{"data":[`+advert+`]}`),
			chatPath: func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				body = string(raw)
				says(200, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"prompt_progress\":{\"total\":3490,\"cache\":100,\"processed\":2148,\"time_ms\":29000}}\n\n"+
					"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: "+
					"{\"choices\":[],\"timings\":{\"cache_n\":100,\"prompt_n\":3390}}\n\ndata: [DONE]\n\n")(w, r)
			},
		})
		if err := p.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		var reading llm.Reading
		var usage llm.Usage
		text := ""
		for d, err := range p.Stream(t.Context(), say("hi")) {
			switch {
			case err != nil:
				t.Fatal(err)
			case d.Reading != nil && text == "":
				reading = *d.Reading
			case d.Usage != nil:
				usage = *d.Usage
			}
			text += d.Text
		}
		if want := (llm.Reading{Total: 3490, Cached: 100, Read: 2148, Took: 29 * time.Second}); reading != want ||
			text != "hi" || usage.Cached != 100 || usage.Prompt != 3490 {
			t.Errorf("got %+v, %q, %+v", reading, text, usage)
		}
		if strings.Contains(body, `"return_progress":true`) != asks {
			t.Errorf("%s: sent %s", advert, body)
		}
	}
}
