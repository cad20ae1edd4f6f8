package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// ServedModel is the name of the model that [Serve] serves.
const ServedModel = "scripted"

// Serve serves model over Ollama's protocol, for tests of a whole program, and
// returns the address. The server stops when the test ends. It has no embeddings.
// more are capabilities of the model besides completion and tools.
func Serve(t testing.TB, model llm.Model, more ...string) string {
	return ServeAs(t, model, ServedModel, more...)
}

// ServeAs is Serve with another name of the model.
func ServeAs(t testing.TB, model llm.Model, name string, more ...string) string {
	can := append([]string{"completion", "tools"}, more...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/chat" {
			serveChat(w, r, model)
		} else if !describeModel(w, r.URL.Path, name, 0, can...) {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func serveChat(w http.ResponseWriter, r *http.Request, model llm.Model) {
	var asked api.ChatRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, `{"error":"no request"}`, http.StatusBadRequest)
		return
	}
	req := llm.Request{Schema: asked.Format}
	for _, m := range asked.Messages {
		message := llm.Message{Role: llm.Role(m.Role), Text: m.Content, Tool: m.ToolName}
		for _, c := range m.ToolCalls {
			args, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				args = []byte("{}")
			}
			message.Calls = append(message.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: args})
		}
		for _, image := range m.Images {
			message.Images = append(message.Images, image)
		}
		req.Messages = append(req.Messages, message)
	}
	for _, tool := range asked.Tools {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: tool.Function.Name, Description: tool.Function.Description})
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	for delta, err := range model.Stream(r.Context(), req) {
		if err != nil {
			fmt.Fprintf(w, "{\"error\":%q}\n", err)
			return
		}
		if lines.Encode(ollamaLine(delta)) != nil {
			return
		}
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
	}
}

// ollamaLine converts a piece of an answer to a line of Ollama's protocol.
func ollamaLine(d llm.Delta) api.ChatResponse {
	line := api.ChatResponse{Model: ServedModel, Message: api.Message{
		Role:    "assistant",
		Content: d.Text, Thinking: d.Thinking,
	}}
	if d.Call != nil {
		call := api.ToolCall{ID: d.Call.ID, Function: api.ToolCallFunction{Name: d.Call.Name}}
		if json.Unmarshal(d.Call.Args, &call.Function.Arguments) == nil {
			line.Message.ToolCalls = []api.ToolCall{call}
		}
	}
	if d.Usage != nil {
		line.Done, line.DoneReason = true, "stop"
		if d.Usage.Stopped == llm.StopLength {
			line.DoneReason = "length"
		}
		line.PromptEvalCount, line.EvalCount, line.EvalDuration = d.Usage.Prompt, d.Usage.Answer, d.Usage.Generating
	}
	return line
}

// describeModel answers a client's requests about the server and its only model.
// It reports false for other paths. window is the context size of the loaded
// model; 0 means not loaded.
func describeModel(w http.ResponseWriter, path, model string, window int, can ...string) bool {
	switch path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.1.0"}`)
	case "/api/tags":
		fmt.Fprintf(w, `{"models":[{"name":"%s","model":"%s","size":1,"digest":"0123456789abcdef","details":{}}]}`,
			model, model)
	case "/api/show":
		capabilities, err := json.Marshal(can)
		if err != nil {
			capabilities = []byte("[]")
		}
		fmt.Fprintf(w, `{"details":{"family":"llama","parameter_size":"3.2B"},`+
			`"model_info":{"general.architecture":"llama","llama.context_length":131072},`+
			`"capabilities":%s}`, capabilities)
	case "/api/ps":
		fmt.Fprintf(w, `{"models":[{"name":"%s","context_length":%d}]}`, model, window)
	case "/v1/models":
		fmt.Fprintf(w, `{"data":[{"id":"%s"}]}`, model)
	default:
		return false
	}
	return true
}
