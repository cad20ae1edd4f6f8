package ollama

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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
	if err := o.chat(t.Context(), &api.ChatRequest{}, func(llm.Delta) error { return nil }); !errors.As(err, &status) ||
		status.Code != http.StatusServiceUnavailable {
		t.Errorf("chat: got %v, want status 503", err)
	}
	if err := o.Pull(t.Context(), "m", nil); !errors.As(err, &status) || status.Code != http.StatusServiceUnavailable {
		t.Errorf("pull: got %v, want status 503", err)
	}
}

// Arguments as text are read as those of an object; arguments that cannot be read do
// not end the answer.
func TestArgumentsMayBeText(t *testing.T) {
	o := &Provider{base: &url.URL{Scheme: "http", Host: "127.0.0.1"}, http: (&llm.Transport{
		Proxy: http.ProxyFromEnvironment,
		Base: replay(`{"message":{"tool_calls":[{"function":{"name":"a","arguments":"{\"q\":1}"}},{"function":{"name":"b","arguments":"{"}},{"id":"x","function":{"name":"c","arguments":{"q":2}}}]}}
{"done":true}`),
	}).Client()}
	var got []string
	ends := false
	if err := o.chat(t.Context(), &api.ChatRequest{}, func(d llm.Delta) error {
		if d.Call != nil {
			got = append(got, fmt.Sprint(d.Call.ID, d.Call.Name, string(d.Call.Args), d.Call.Fault != ""))
		}
		ends = d.Usage != nil
		return nil
	}); err != nil || !ends || !slices.Equal(got, []string{`a{"q":1}false`, "btrue", `xc{"q":2}false`}) {
		t.Errorf("got %q, ended %v, %v", got, ends, err)
	}
}
