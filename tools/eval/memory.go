package main

import (
	"cmp"
	"context"
	"slices"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/turn"
	"lifehub/llm"
	"lifehub/rag/encoder"
	"lifehub/store"
)

// recall prints recall@1 on what five people said in several conversations and were asked about later. With
// the n-grams of memory without a server it has bounds.
func recall(ctx context.Context) error {
	b, err := loadBench("bfcl-memory")
	if err != nil {
		return err
	}
	var missed misses
	printHead("embedder", "keyword", "semantic", "both, above the threshold", "needless")
	for _, c := range []struct {
		name     string
		embedder llm.Embedder
	}{{"n-grams", llm.Ngrams{}}, {"built-in", encoder.Encoder{}}} {
		f, err := measureMemory(ctx, b, c.embedder)
		if err != nil {
			return err
		}
		printRow(c.name, f.words, f.meaning, f.recall, f.needless)
		const reference = 0.7333 // S@1 of SQLite's BM25, the better of its two variants in data/bench/bm25.txt
		if c.name == "n-grams" && (f.words < reference || f.meaning < 0.5 || f.recall < 0.72 || f.needless > 0.4) {
			missed.add("worse than it was: %+v", f)
		}
	}
	return missed.err()
}

// memoryFigures are shares of the questions.
type memoryFigures struct {
	words    float64 // the right exchange is first by keywords alone
	meaning  float64 // by vectors alone
	recall   float64 // it is recalled: recall@1 as in a turn
	needless float64 // something is recalled although the question is about a person who never said it
}

func measureMemory(ctx context.Context, b bench, e llm.Embedder) (f memoryFigures, err error) {
	s, documents, err := aPast(ctx, b)
	if err != nil {
		return f, err
	}
	defer s.Close() //nolint:errcheck // in memory
	a := turn.New(turn.Options{History: s, Limits: turn.Limits{Messages: 6}, Memory: memory.LongTerm{
		Store: s, Embedding: embedding{e},
	}})
	if err := a.Memory.EmbedAll(ctx); err != nil {
		return f, err
	}
	scopes := scopesOf(b)
	for _, q := range b.Questions {
		right := func(list []agent.Recollection) float64 {
			if len(list) > 0 && q.Relevant[documents[list[0].Turn]] > 0 {
				return 1 / float64(len(b.Questions))
			}
			return 0
		}
		found, err := a.Recall(ctx, q.Scope, q.Text, 1)
		if err != nil {
			return f, err
		}
		f.recall += right(found)
		vector, err := e.Embed(ctx, []string{q.Text})
		if err != nil {
			return f, err
		}
		all, err := s.Similar(ctx, agent.MemoryQuery{
			Conversation: q.Scope, Question: q.Text, Embedder: e.Name(),
			Vector: vector[0], Limit: 20,
		})
		if err != nil {
			return f, err
		}
		slices.SortStableFunc(all, func(a, b agent.Recollection) int { return cmp.Compare(b.BM25, a.BM25) })
		f.words += right(all)
		slices.SortStableFunc(all, func(a, b agent.Recollection) int { return cmp.Compare(b.Cosine, a.Cosine) })
		f.meaning += right(all)

		other := scopes[(slices.Index(scopes, q.Scope)+1)%len(scopes)]
		if found, err = a.Recall(ctx, other, q.Text, 1); err != nil {
			return f, err
		}
		f.needless += float64(len(found)) / float64(len(b.Questions))
	}
	return f, nil
}

func scopesOf(b bench) (scopes []string) {
	for _, d := range b.Documents {
		scopes = append(scopes, d.Scope)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// aPast returns a store in which each person of the benchmark has a conversation, with each
// document as a message and three later exchanges that fill the window, and the turn of each
// document.
func aPast(ctx context.Context, b bench) (s *store.Store, documents map[string]string, err error) {
	if s, err = store.InMemory(); err != nil {
		return nil, nil, err
	}
	documents = map[string]string{}
	tell := func(conversation, text string) (string, error) {
		turn, err := s.Begin(ctx, conversation, text)
		if err == nil {
			err = s.Finish(ctx, turn, agent.Answer{Text: "I see."})
		}
		return turn, err
	}
	for _, d := range b.Documents {
		turn, err := tell(d.Scope, d.Text)
		if err != nil {
			return s, nil, err
		}
		documents[turn] = d.ID
	}
	for _, scope := range scopesOf(b) {
		for range 3 {
			if _, err := tell(scope, "Hm."); err != nil {
				return s, nil, err
			}
		}
		if _, err := s.Archive(ctx, scope, 6, false); err != nil {
			return s, nil, err
		}
	}
	return s, documents, nil
}

// embedding makes memory searchable by an embedder.
type embedding struct{ of llm.Embedder }

func (e embedding) MemoryEmbedder(context.Context) llm.Embedder { return e.of }

func (embedding) Prefixes(embedder string) (question, text string) { return encoder.Prefixes(embedder) }

func (embedding) Archived() {}
