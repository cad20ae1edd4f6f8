package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lifehub/agent/agenttest"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/turn"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/store"
)

// longConversation writes a database with a conversation of so many turns, all but the last ten of them summarised,
// archived and embedded.
func longConversation(t testing.TB, path string, turns int) {
	t.Helper()
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := store.Connect(path, 1, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO conversations (id, title, created, updated) VALUES ('c', 'boiler', 0, 0)`)
	read := strings.Repeat("The filter of the boiler was changed in March, and the garden was dug over. ", 20)
	for n := range turns {
		id := fmt.Sprintf("c.%d", n+1)
		exec(`INSERT INTO turns (id, conversation, number, state, started, detail) VALUES (?, 'c', ?, 'done', 0, ?)`,
			id, n+1,
			fmt.Sprintf(`{"sources":[{"n":1,"path":"home/%d.md","text":%[2]q}],"metrics":{},"effects":[],`+
				`"log":[{"action":"search_notes({})","result":%[2]q}],"course":[{"event":{"type":"text",`+
				`"content":%[2]q}}]}`, n, read))
		exec(`INSERT INTO messages (conversation, parent, turn, role, text, created) VALUES ('c', (SELECT nullif(head,
			0) FROM conversations), ?, 'user', ?, 0)`,
			id, fmt.Sprintf("What of the boiler and room %d in week %d of the year?", n, n%52))
		exec(`INSERT INTO messages (conversation, parent, turn, role, text, created) VALUES ('c', last_insert_rowid(),
			?, 'assistant', ?, 0)`,
			id, fmt.Sprintf("Room %d has its filter since March [1]. %s", n, read[:400]))
		exec(`UPDATE conversations SET head = last_insert_rowid()`)
	}
	exec(`INSERT INTO summaries (turn, text, created) VALUES (?, 'They talked about the boiler.', 0)`,
		fmt.Sprintf("c.%d", turns-10))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Archive(t.Context(), "c", 6, false); err != nil {
		t.Fatal(err)
	}
	if err := longTerm(s).EmbedAll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func longTerm(s *store.Store) memory.LongTerm {
	return memory.LongTerm{Store: s, Embedding: embedsNgrams{}}
}

// allocated returns how many bytes a turn after so many turns allocates, with the embedding of what it archives.
func allocated(t testing.TB, turns int) float64 {
	path := filepath.Join(t.TempDir(), "lifehub.db")
	longConversation(t, path, turns)
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := turn.New(turn.Options{
		Model:   llmtest.NewScript(llmtest.Answer{Text: "Not that I know.", Always: true}),
		Server:  &agenttest.Server{Name: "m", Tokens: 16 << 10},
		Session: agenttest.Session{In: agent.LoopMode}, History: s, Journal: s, Summaries: s, Memory: longTerm(s),
	})
	var before, after runtime.MemStats
	for i := range 4 {
		if i == 1 { // the first one opens files
			runtime.ReadMemStats(&before)
		}
		for event := range a.Ask(t.Context(), "c", "Which room had a new filter in week 7?") {
			if failed, ok := event.Body.(agent.Failed); ok {
				t.Fatal(failed)
			}
		}
		if err := a.Memory.EmbedAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / 3
}

// What grows is the search of the memory, by some hundred bytes for each turn. Not parallel: other tests allocate.
func TestTurnAllocatesWhatItsWindowHolds(t *testing.T) {
	testenv.WithoutRace(t)
	short, long := allocated(t, 20), allocated(t, 1000)
	t.Logf("a turn after 20 turns allocates %.0f kB, after 1,000 turns %.0f kB", short/1e3, long/1e3)
	if long > 2.5*short {
		t.Errorf("a turn after 1,000 turns allocates %.1f times as much as one after 20", long/short)
	}
}

// bytesRead returns what the process has read from files so far.
func bytesRead(t testing.TB) (n int) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// manyMessages writes a database with so many conversations of ten messages, each of size bytes.
func manyMessages(t testing.TB, path string, conversations, size int) {
	t.Helper()
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := store.Connect(path, 1, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range conversations {
		if _, err := db.Exec(`BEGIN; INSERT INTO conversations (id, title, created, updated) VALUES (?1, 'boiler', 0,
			0);
			WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5)
				INSERT INTO turns (id, conversation, number, state, started) SELECT ?1 || '.' || n, ?1, n, 'done', 0
				FROM n;
			INSERT INTO messages (conversation, turn, role, text, created) SELECT ?1, id, column1, printf('%.*c', ?2,
			'x'), 0 FROM turns, (VALUES ('user'), ('assistant')) WHERE conversation = ?1;
			COMMIT`, fmt.Sprintf("c%d", i), size); err != nil {
			t.Fatal(err)
		}
	}
}

// Not parallel: other tests read files.
func TestListOfConversationsReadsNoMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lifehub.db")
	manyMessages(t, path, 10, 1<<20)
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := bytesRead(t)
	list, err := s.Conversations(t.Context(), 0)
	if err != nil || len(list) != 10 || list[0].Messages != 10 {
		t.Fatal(len(list), list, err)
	}
	if read := bytesRead(t) - before; read > 2<<20 {
		t.Errorf("%d kB were read to list conversations with 100 MB of messages", read>>10)
	}
}

// took returns the processor time of the program on a folder of its own.
func took(b *testing.B, home string, args ...string) time.Duration {
	cmd := exec.CommandContext(b.Context(), os.Args[0], args...)
	cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// average runs the program as often as the benchmark asks, and reports its processor time.
func average(b *testing.B, home string, args ...string) (of time.Duration) {
	took(b, home, args...) // the first run indexes the notes
	for b.Loop() {
		of += took(b, home, args...)
	}
	of /= time.Duration(b.N)
	b.ReportMetric(float64(of.Microseconds())/1e3, "cpu-ms/op")
	return of
}

func BenchmarkTurnAfterManyTurns(b *testing.B) {
	var first time.Duration
	for _, turns := range []int{20, 2000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			home := b.TempDir()
			longConversation(b, filepath.Join(home, "lh", "data", "lifehub.db"), turns)
			used := average(b, home, "ask", "-c", "--notes", "../examples/notes", "which shoes for the long run?")
			if first == 0 {
				first = used
			}
			b.ReportMetric(float64(used)/float64(first), "ratio")
		})
	}
}

// 2 GB with LIFEHUB_SCALE=1.
func BenchmarkListOfManyMessages(b *testing.B) {
	size := 40 << 10
	if os.Getenv("LIFEHUB_SCALE") != "" {
		size *= 10
	}
	home := b.TempDir()
	manyMessages(b, filepath.Join(home, "lh", "data", "lifehub.db"), 500, size)
	average(b, home, "chats", "list")
}

// embedsNgrams makes memory searchable by n-grams.
type embedsNgrams struct{}

func (embedsNgrams) MemoryEmbedder(context.Context) llm.Embedder { return llm.Ngrams{} }

func (embedsNgrams) Prefixes(string) (question, text string) { return "", "" }

func (embedsNgrams) Archived() {}
