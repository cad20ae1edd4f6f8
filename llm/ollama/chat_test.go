package ollama

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// Ollama's client treats an error status without a body as success.
func TestErrorStatusWithoutBodyIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	o, err := New(llm.Settings{OllamaHost: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var status *llm.StatusError
	if err := o.chat(t.Context(), &api.ChatRequest{}, func(llm.Delta) error { return nil }); !errors.As(err, &status) || status.Code != http.StatusServiceUnavailable {
		t.Errorf("chat: got %v, want status 503", err)
	}
	if err := o.Pull(t.Context(), "m", nil); !errors.As(err, &status) || status.Code != http.StatusServiceUnavailable {
		t.Errorf("pull: got %v, want status 503", err)
	}
}
