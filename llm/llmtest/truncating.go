package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Truncating is a model server that silently truncates a prompt longer than its
// window, as Ollama does: it first drops whole messages, except the first and
// last, then tokens from the front. If the request has truncate:false, it returns
// an error instead. It speaks Ollama's protocol at URL and OpenAI's at URL/v1.
type Truncating struct {
	URL string
	// Count is the tokenizer.
	Count func(text string) int
	// Window is the server's window in tokens; 0: the num_ctx of the request.
	Window int
	// Answer returns the reply to a system prompt.
	Answer func(system string) string

	mu   sync.Mutex
	seen []string
	cuts int
}

// Start starts the server. It stops when the test ends.
func (s *Truncating) Start(t testing.TB) {
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
}

// Cuts returns the number of prompts truncated so far.
func (s *Truncating) Cuts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cuts
}

// Seen returns the prompts so far, as truncated.
func (s *Truncating) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

type truncatingRequest struct {
	Messages []struct{ Role, Content string }
	Truncate *bool
	Options  struct {
		Window int `json:"num_ctx"`
	}
}

// size returns the size of the whole prompt in bytes.
func (r truncatingRequest) size() int {
	n := len(r.Messages) - 1
	for _, m := range r.Messages {
		n += len(m.Content)
	}
	return n
}

func (s *Truncating) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/api/chat" || r.URL.Path == "/v1/chat/completions":
		s.chat(w, r)
	case !describeModel(w, r.URL.Path, FaultModel, s.Window, "completion"):
		http.NotFound(w, r)
	}
}

func (s *Truncating) chat(w http.ResponseWriter, r *http.Request) {
	var req truncatingRequest
	raw, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(raw, &req); err != nil || len(req.Messages) == 0 {
		http.Error(w, `{"error":"no messages"}`, http.StatusBadRequest)
		return
	}
	window := s.Window
	if window == 0 {
		window = req.Options.Window
	}
	system := req.Messages[0].Content
	prompt, counted := s.cut(req, window)
	if len(prompt) < req.size() && req.Truncate != nil && !*req.Truncate {
		http.Error(w, `{"error":"the input length exceeds the context length"}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, prompt)
	if len(prompt) < req.size() {
		s.cuts++
	}
	s.mu.Unlock()
	quoted, _ := json.Marshal(s.Answer(system))
	if strings.HasPrefix(r.URL.Path, "/v1") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", quoted)
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":9}}\n\ndata: "+
			"[DONE]\n\n", counted)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false}\n", quoted)
	fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":%d,\"eval_count\":9}\n", counted)
}

// cut drops messages after the first until the rest fits, then the beginning of
// the text.
func (s *Truncating) cut(req truncatingRequest, window int) (prompt string, counted int) {
	var texts []string
	for _, m := range req.Messages {
		texts = append(texts, m.Content)
	}
	join := func() string { return strings.Join(texts, "\n") }
	for len(texts) > 2 && s.Count(join()) > window {
		texts = append(texts[:1], texts[2:]...)
	}
	prompt = join()
	counted = s.Count(prompt)
	for counted > window {
		over := max(1, len(prompt)*(counted-window)/counted)
		prompt = prompt[min(over, len(prompt)):]
		if counted = s.Count(prompt); counted < window {
			counted = window // the previous step removed a few bytes too many
		}
	}
	return prompt, counted
}
