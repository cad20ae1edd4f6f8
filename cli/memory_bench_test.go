package cli

import (
	"cmp"
	"context"
	"os"
	"slices"
	"testing"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/turn"
	"lifehub/internal/benches"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/ollama"
	"lifehub/rag/embed"
	"lifehub/store"
)

// Recall@1 on what five people said in several conversations and were asked about later. The
// figures are in docs/figures/memory.md.
func TestMemoryRecallsEarlierSessions(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	bench, err := benches.Load(testenv.Shared(t, "data/bench/bfcl-memory"))
	if err != nil {
		t.Fatal(err)
	}
	const reference = 0.7333 // S@1 of SQLite's BM25, the better of its two variants in data/bench/bm25.txt
	t.Run("offline", func(t *testing.T) {
		f := measureMemory(t, bench, llm.Ngrams{})
		f.log(t, reference)
		if f.words < reference || f.meaning < 0.5 || f.recall < 0.72 || f.needless > 0.4 {
			t.Errorf("worse than it was: %+v", f)
		}
	})
	t.Run("with a small embedding model on a real Ollama server", func(t *testing.T) {
		f := measureMemory(t, bench, smallEmbedder(t))
		f.log(t, reference)
		if f.recall < 0.72 || f.needless > 0.45 {
			t.Errorf("worse than it was: %+v", f)
		}
	})
}

// smallEmbedder returns a real embedding model of 8 MB on a real Ollama server.
func smallEmbedder(t *testing.T) llm.Embedder {
	t.Helper()
	weights, err := os.ReadFile(testenv.Shared(t, "ollama/models/m2v-static.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	server := llmtest.StartEmptyOllama(t)
	server.Create(llmtest.Model{Name: "m2v-static", GGUF: weights})
	provider, err := ollama.New(llm.Settings{OllamaHost: server.URL, Embedding: "m2v-static"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := provider.Embedder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// memoryFigures are shares of the questions.
type memoryFigures struct {
	words    float64 // the right exchange is first by keywords alone
	meaning  float64 // by vectors alone
	recall   float64 // it is recalled: recall@1 as in a turn
	needless float64 // something is recalled although the question is about a person who never said it
}

func (f memoryFigures) log(t *testing.T, reference float64) {
	t.Logf("recall@1: words %.4f, meaning %.4f, both above the threshold %.4f; BM25 reference %.4f; needless %.4f",
		f.words, f.meaning, f.recall, reference, f.needless)
}

func measureMemory(t *testing.T, bench benches.Bench, e llm.Embedder) (f memoryFigures) {
	t.Helper()
	s, documents := aPast(t, bench)
	a := turn.New(turn.Options{History: s, Limits: turn.Limits{Messages: 6}, Memory: memory.LongTerm{
		Store: s, Embedder: func(context.Context) llm.Embedder { return e }, Prefixes: embed.Prefixes,
	}})
	if err := a.Memory.EmbedAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	scopes := scopesOf(bench)
	for _, q := range bench.Questions {
		right := func(list []agent.Recollection) float64 {
			if len(list) > 0 && q.Relevant[documents[list[0].Turn]] > 0 {
				return 1 / float64(len(bench.Questions))
			}
			return 0
		}
		found, err := a.Recall(t.Context(), q.Scope, q.Text, 1)
		if err != nil {
			t.Fatal(err)
		}
		f.recall += right(found)
		vector, err := e.Embed(t.Context(), []string{q.Text})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Similar(t.Context(), agent.MemoryQuery{Conversation: q.Scope, Question: q.Text, Embedder: e.Name(), Vector: vector[0], Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(all, func(a, b agent.Recollection) int { return cmp.Compare(b.BM25, a.BM25) })
		f.words += right(all)
		slices.SortStableFunc(all, func(a, b agent.Recollection) int { return cmp.Compare(b.Cosine, a.Cosine) })
		f.meaning += right(all)

		other := scopes[(slices.Index(scopes, q.Scope)+1)%len(scopes)]
		if found, err = a.Recall(t.Context(), other, q.Text, 1); err != nil {
			t.Fatal(err)
		}
		f.needless += float64(len(found)) / float64(len(bench.Questions))
	}
	return f
}

func scopesOf(bench benches.Bench) (scopes []string) {
	for _, d := range bench.Documents {
		scopes = append(scopes, d.Scope)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// aPast returns a store in which each person of the benchmark has a conversation, with each
// document as a message and three later exchanges that fill the window, and the turn of each
// document.
func aPast(t *testing.T, bench benches.Bench) (s *store.Store, documents map[string]string) {
	t.Helper()
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	documents = map[string]string{}
	tell := func(conversation, text string) string {
		turn, err := s.Begin(t.Context(), conversation, text)
		if err == nil {
			err = s.Finish(t.Context(), turn, agent.Answer{Text: "I see."})
		}
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	for _, d := range bench.Documents {
		documents[tell(d.Scope, d.Text)] = d.ID
	}
	for _, scope := range scopesOf(bench) {
		for range 3 {
			tell(scope, "Hm.")
		}
		if _, err := s.Archive(t.Context(), scope, 6, false); err != nil {
			t.Fatal(err)
		}
	}
	return s, documents
}
