package store

import (
	"fmt"
	"testing"

	"lifehub/agent"
)

// Recall compares all vectors; 10,000 exchanges are years of conversation.
func BenchmarkRecallAmongTenThousandExchanges(b *testing.B) {
	s, err := InMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const exchanges, dimension = 10_000, 768
	vector := make([]float32, dimension)
	vectors := map[string][]float32{}
	tx, err := s.file.Write.Begin()
	if err != nil {
		b.Fatal(err)
	}
	exec := func(query string, args ...any) {
		if _, err := tx.Exec(query, args...); err != nil {
			b.Fatal(err)
		}
	}
	for c := range exchanges / 20 {
		id := fmt.Sprintf("c%d", c)
		exec(`INSERT INTO conversations (id, title, created, updated) VALUES (?, '', 0, 0)`, id)
		for n := range 20 {
			turn := fmt.Sprintf("%s.%d", id, n+1)
			exec(`INSERT INTO turns (id, conversation, number, state, started) VALUES (?, ?, ?, 'done', 0)`, turn, id,
				n+1)
			exec(`INSERT INTO messages (conversation, parent, turn, role, text, created) VALUES (?, (SELECT nullif(head,
				0) FROM conversations WHERE id = ?), ?, 'user', ?, 0)`,
				id, id, turn, fmt.Sprintf("What of the boiler and the garden in week %d of talk %d?", n, c))
			exec(`INSERT INTO messages (conversation, parent, turn, role, text, created) VALUES (?, last_insert_rowid(),
				?, 'assistant', 'It was mended.', 0)`, id, turn)
			exec(`UPDATE conversations SET head = last_insert_rowid() WHERE id = ?`, id)
			vectors[turn] = vector
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	for i := range vector {
		vector[i] = float32(i)
	}
	if n, err := s.Archive(b.Context(), "", 0, true); err != nil || n != exchanges {
		b.Fatal(n, err)
	}
	if err := s.SaveVectors(b.Context(), "e", vectors); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		list, err := s.Similar(b.Context(), agent.MemoryQuery{
			Conversation: "c7", Everywhere: true, Window: 6, Question: "what was it about week 7 and the garden",
			Embedder: "e", Vector: vector, Limit: 12,
		})
		if err != nil || len(list) == 0 {
			b.Fatal(len(list), err)
		}
	}
}
