package store

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"lifehub/agent"
)

// turnWith saves a finished turn with figures at the given time.
func turnWith(t *testing.T, s *Store, at time.Time, answer agent.Answer) {
	t.Helper()
	s.now = func() time.Time { return at }
	turn, err := s.Begin(t.Context(), "c", "how are the figures?")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), turn, answer); err != nil {
		t.Fatal(err)
	}
}

func figuresBy(t *testing.T, s *Store, by string, since time.Time, limit int) []agent.Figures {
	t.Helper()
	list, err := s.Figures(t.Context(), by, since, limit)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFiguresAreAggregatedByDayModelAndTurn(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	monday := time.Date(2026, 3, 2, 12, 0, 0, 0, time.Local)
	for i := 1; i <= 100; i++ {
		turnWith(t, s, monday, agent.Answer{Text: "a", Metrics: agent.Metrics{
			Model: "qwen3:8b", Latency: int64(i * 10), FirstToken: int64(i), Generating: 500, ModelCalls: 2,
			PromptTokens: 100, AnswerTokens: 20,
			Searches: 1, RAGHits: 5, Cited: 2, ToolCalls: 3, ToolsFailed: 1, ToolsDenied: 1, Asked: 1,
		}})
	}
	tuesday := monday.AddDate(0, 0, 1)
	turnWith(t, s, tuesday, agent.Answer{
		Text: "a", Cut: true,
		Metrics: agent.Metrics{Model: "small", Latency: 7, AnswerTokens: 9, ModelCalls: 1},
	})
	if _, err := s.Begin(t.Context(), "c", "killed"); err != nil {
		t.Fatal(err)
	}
	second := agent.Figures{
		Of: "2026-03-03", Turns: 2, Cut: 2, Latency50: 7, Latency95: 7,
		AnswerTokens: 9, ModelCalls: 1,
	}
	first := agent.Figures{
		Of: "2026-03-02", Turns: 100, Latency50: 500, Latency95: 950, FirstToken50: 50, FirstToken95: 95,
		PromptTokens: 10_000, AnswerTokens: 2000, PerSecond: 40, ModelCalls: 200, Searches: 100,
		Passages: 500, Cited: 200,
		ToolsOK: 200, ToolsFailed: 100, ToolsDenied: 100, Asked: 100,
	}
	if got, want := figuresBy(t, s, "day", time.Time{}, 0), []agent.Figures{
		second,
		first,
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("by day: got\n%+v, want\n%+v", got, want)
	}
	if got := figuresBy(t, s, "day", tuesday.Add(-time.Hour), 0); len(got) != 1 || got[0].Of != "2026-03-03" {
		t.Errorf("since tuesday: got %+v", got)
	}
	models := ""
	for _, f := range figuresBy(t, s, "model", time.Time{}, 0) {
		models += fmt.Sprintf("%q %d, ", f.Of, f.Turns)
	}
	if want := `"" 1, "small" 1, "qwen3:8b" 100, `; models != want {
		t.Errorf("by model: got %s, want %s", models, want)
	}
	turns := figuresBy(t, s, "turn", time.Time{}, 2)
	if len(turns) != 2 || turns[0].Of != "c.102" || turns[0].Title != "killed" || turns[0].Cut != 1 ||
		turns[1].Latency95 != 7 {
		t.Errorf("by turn: got %+v", turns)
	}
	if _, err := s.Figures(t.Context(), "week", time.Time{}, 0); err == nil {
		t.Error("by week: got no error")
	}
}

func TestMigrationTakesOverFiguresOfOlderTurns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.db")
	old, err := Connect(path, 1, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	if err := Migrate(old, path, migrations[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec(`
		INSERT INTO conversations VALUES ('c', 'title', 1, 1, 2);
		INSERT INTO turns VALUES ('c.1', 'c', 1, 'done', '',
		'{"metrics":{"latency_ms":70,"model_calls":2,"prompt_tokens":5,"answer_tokens":6,"searches":1,"rag_hits":4,"tool_calls":1,"interrupted":false}}', 1, 2),
			('c.2', 'c', 2, 'open', '', '{}', 3, NULL), ('c.3', 'c', 3, 'failed', 'x', '{}', 3, 4);
		INSERT INTO messages VALUES (1, 'c', NULL, 'c.1', 'user', 'q', 1), (2, 'c', 1, 'c.1', 'assistant', 'a', 1),
			(3, 'c', 2, 'c.2', 'user', 'q', 1), (4, 'c', 3, 'c.2', 'assistant', '', 1), (5, 'c', 4, 'c.3', 'user', 'q',
			1), (6, 'c', 5, 'c.3', 'assistant', '', 1)`); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := agent.Figures{
		Of: "", Turns: 3, Cut: 2, Latency50: 70, Latency95: 70, PromptTokens: 5, AnswerTokens: 6,
		ModelCalls: 2, Searches: 1, Passages: 4, ToolsOK: 1,
	}
	if got := figuresBy(t, s, "model", time.Time{}, 0); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// BenchmarkFigures aggregates 10,000 turns.
func BenchmarkFigures(b *testing.B) {
	s, err := InMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.file.Write.Exec(`
		INSERT INTO conversations (id, title, created, updated) VALUES ('c', 'title', 1, 1);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
		INSERT INTO turns (id, conversation, number, state, started) SELECT 'c.' || i, 'c', i, 'done',
		1700000000000 + i * 3600000 FROM n;
		INSERT INTO messages (conversation, turn, role, text, created) SELECT 'c', id, 'user', 'question', 1 FROM turns;
		INSERT INTO figures SELECT id, 'model' || number % 3, abs(random()) % 60000, abs(random()) % 3000, 100, 1000,
		100, 2, 1, 5, 2, 1, 0, 0, 0 FROM turns`); err != nil {
		b.Fatal(err)
	}
	for by := range keys {
		b.Run(by, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Figures(b.Context(), by, time.Time{}, 30); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
