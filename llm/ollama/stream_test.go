package ollama

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// Streaming a short answer takes memory as its lines do: Ollama's client takes
// 8 MB for each.
func TestAShortAnswerTakesLittleMemory(t *testing.T) {
	o, receive := streamed(t, http.StatusOK, `{"message":{"content":"hi"},"done":true}`+"\n")
	const rounds = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		if err := o.streamChat(t.Context(), &api.ChatRequest{}, receive); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > 1<<20 {
		t.Errorf("an answer of two letters takes %d kB", each>>10)
	}
}

// A refusal is told as one even if the server says nothing.
func TestARefusalWithoutWords(t *testing.T) {
	o, receive := streamed(t, http.StatusServiceUnavailable, "")
	err := o.streamChat(t.Context(), &api.ChatRequest{}, receive)
	var status api.StatusError
	if !errors.As(err, &status) || status.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("err = %v, want status 503", err)
	}
}

// streamed returns a provider whose server gives one reply to everything.
func streamed(t *testing.T, code int, reply string) (*Provider, api.ChatResponseFunc) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, reply)
	}))
	t.Cleanup(server.Close)
	o, err := New(llm.Settings{OllamaHost: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return o, func(api.ChatResponse) error { return nil }
}
