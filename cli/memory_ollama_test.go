package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent/prompt"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/turn"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/ollama"
	"lifehub/rag/encoder"
	"lifehub/store"
)

// The cat's name is recalled after three more exchanges, by keywords and by vectors of a real
// embedding model, and is in the prompt that a real server received.
func TestCatsNameIsRecalledWithRealOllama(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	weights, err := os.ReadFile(testenv.Shared(t, "ollama/models/m2v-static.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	server := llmtest.StartEmptyOllama(t)
	server.Create(llmtest.Model{Name: "m2v-static", GGUF: weights})
	server.Create(llmtest.Reading(llmtest.Planner("talker", `{"steps": []}`, "Noted, thank you.")))
	provider, err := ollama.New(llm.Settings{
		OllamaHost: server.URL, Model: "talker",
		Embedding: "m2v-static", Window: 8192,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(t.TempDir(), "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := turn.New(turn.Options{
		Model: provider, Server: prompt.ServerOf(provider), History: s, Summaries: s, TokenRatios: s,
		Limits: turn.Limits{Messages: 6},
		Memory: memory.LongTerm{Store: s, Embedding: embedsAs{t, provider}},
	})
	ask := func(question string) (found []agent.Recollection, inPrompt int) {
		t.Helper()
		for e := range a.Ask(t.Context(), "c", question) {
			switch body := e.Body.(type) {
			case agent.Remembered:
				found = body.Exchanges
			case agent.ContextCounted:
				inPrompt = body.Parts["memory"]
			case agent.Noticed:
				if !strings.Contains(body.Text, "model is loading") { // reported after a wait of 3 s
					t.Errorf("told %q", body.Text)
				}
			case agent.Failed:
				t.Fatal(body.Message)
			}
		}
		if err := a.Memory.EmbedAll(t.Context()); err != nil { // as the chat does in the background
			t.Fatal(err)
		}
		return found, inPrompt
	}
	for _, message := range []string{
		"My cat's name is Whiskers", "I have a peanut allergy",
		"My anniversary is June 17th", "I lived in Portugal for 3 years",
	} {
		if found, _ := ask(message); len(found) > 0 {
			t.Errorf("%q brought back %+v", message, found)
		}
	}
	found, inPrompt := ask("What's my cat's name?")
	if len(found) != 1 || found[0].Question != "My cat's name is Whiskers" || found[0].BM25 <= 0 ||
		found[0].Cosine < 0.2 || inPrompt == 0 {
		t.Errorf("found %+v, %d tokens of it in the prompt", found, inPrompt)
	}
	if g, err := s.TokenRatio(t.Context(), "talker"); err != nil || g.Scale == 0 {
		t.Errorf("nothing was learned of how the server counts: %+v, %v", g, err)
	} else {
		t.Logf("the server counted %.2f tokens for one of the estimate", g.Scale)
	}
}

// embedsAs makes memory searchable by a provider's model.
type embedsAs struct {
	t        *testing.T
	provider llm.Provider
}

func (a embedsAs) MemoryEmbedder(ctx context.Context) llm.Embedder {
	e, err := a.provider.Embedder(ctx)
	if err != nil {
		a.t.Error(err)
	}
	return e
}

func (embedsAs) Prefixes(embedder string) (question, text string) { return encoder.Prefixes(embedder) }

func (embedsAs) Archived() {}
