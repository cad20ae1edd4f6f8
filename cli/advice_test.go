package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/servers"
)

func TestAdviceFitsTheMissingServer(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for kind, serve := range map[string]bool{"ollama": true, "openai": false} {
		p, err := servers.Open(llm.Settings{
			Provider: kind, OllamaHost: gone.URL,
			OpenAIURL: gone.URL + "/v1", Model: "m",
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Models(t.Context())
		if hint := agent.FailedFrom(err).Hint; strings.Contains(hint, "ollama serve") != serve ||
			!strings.Contains(hint, "Start") {
			t.Errorf("%s: %v: %q", kind, err, hint)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
