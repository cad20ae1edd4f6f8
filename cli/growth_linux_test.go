package cli

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// heapEnv names the folder in which the program under test reports its memory.
const heapEnv = "LIFEHUB_TEST_HEAP"

func init() { beforeMain = tellsHeap }

// tellsHeap makes the program, on each SIGUSR1, collect garbage and write numbered files with the
// bytes of the heap, the memory of the process in KiB, and a heap profile.
func tellsHeap() {
	dir := os.Getenv(heapEnv)
	if dir == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for n := 1; ; n++ {
			<-asked
			debug.FreeOSMemory()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			name := filepath.Join(dir, strconv.Itoa(n))
			if f, err := os.Create(name + ".pb.gz"); err == nil {
				_ = pprof.Lookup("heap").WriteTo(f, 0)
				f.Close()
			}
			status, _ := os.ReadFile("/proc/self/status")
			_, rss, _ := strings.Cut(string(status), "VmRSS:")
			_ = os.WriteFile(name+".part", fmt.Appendf(nil, "%d %s", m.HeapAlloc, strings.Fields(rss + " ?")[0]), 0o600)
			_ = os.Rename(name+".part", name)
		}
	}()
}

// talker plans a search for each question and answers with random prose.
type talker struct{ said atomic.Int64 }

func (m *talker) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	holds := func(what string) bool {
		for _, message := range req.Messages {
			if strings.Contains(message.Text, what) {
				return true
			}
		}
		return false
	}
	text := "A title"
	switch {
	case holds(asksPlanner):
		text = fmt.Sprintf(`{"reasoning":"The notes tell.","steps":[{"id":"1","tool":"search_notes",`+
			`"input":{"query":"subject %d"},"description":"look it up"}]}`, m.said.Load()%40)
	case holds(asksExplainer):
		n := int(m.said.Add(1))
		text = fmt.Sprintf("## Answer %d\n\n%s [1]\n\n- %s\n- %s\n", n, prose(3*n, 140),
			prose(3*n+1, 20), prose(3*n+2, 20))
	}
	return func(yield func(llm.Delta, error) bool) {
		for _, piece := range strings.SplitAfter(text, " ") {
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
		}
		yield(llm.Delta{Usage: &llm.Usage{Prompt: 1, Answer: 100, Stopped: llm.StopEnd}}, nil)
	}
}

// prose returns text of a number of words out of 4,000, the same for the same seed.
func prose(seed, words int) string {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	var b strings.Builder
	for i := range words {
		word := rand.New(rand.NewPCG(uint64(4000*random.Float64()*random.Float64()), 2)) // some words are frequent
		for range 2 + word.IntN(7) {
			b.WriteByte(byte('a' + word.IntN(26)))
		}
		if i%12 == 11 {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// held is the memory and disk use of a chat after some turns.
type held struct {
	turns              int
	heap, rss          int // bytes, of the process after a garbage collection
	said, saved, trace int // bytes: of the conversation, of the database, and of the traces in it
}

// weigh measures the memory of the chat and the size of its database. The conversation is the
// messages and the passages used by answers.
func weigh(t *testing.T, term *terminal, turns int) held {
	t.Helper()
	h := held{turns: turns}
	dir := filepath.Join(term.home, "heap")
	seen, err := filepath.Glob(filepath.Join(dir, "*.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := term.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	var report []byte
	for end := time.Now().Add(patience); report == nil; <-time.After(10 * time.Millisecond) {
		report, _ = os.ReadFile(filepath.Join(dir, strconv.Itoa(len(seen)+1))) // nil until it exists
		if time.Now().After(end) {
			t.Fatal("the program does not tell what it holds")
		}
	}
	if _, err := fmt.Sscan(string(report), &h.heap, &h.rss); err != nil {
		t.Fatalf("%q: %v", report, err)
	}
	h.rss <<= 10
	db, err := sql.Open("sqlite", "file:"+filepath.Join(term.home, ".lifehub", "data", "lifehub.db")+
		"?mode=ro&_pragma=busy_timeout(30000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT (SELECT sum(length(CAST(text AS BLOB))) FROM messages), (SELECT sum(pgsize)
		FROM dbstat),
		(SELECT coalesce(sum(pgsize), 0) FROM dbstat
		WHERE name = 'traces')`).Scan(&h.said, &h.saved, &h.trace); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT detail -> 'sources' FROM turns WHERE detail -> 'sources' IS NOT NULL`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var list []agent.Source
		var text []byte
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		for _, source := range list { // the text of uncited sources is not saved
			note, err := os.ReadFile(filepath.Join(source.Vault, source.Path))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(note), "\n")
			h.said += len(strings.Join(lines[source.Line-1:source.EndLine], ""))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return h
}

// A long chat does not use more and more memory, and its database grows by at most three times the
// conversation. LIFEHUB_SOAK=1 runs 1,000 turns.
func TestChatThatGoesOnDoesNotGrow(t *testing.T) {
	testenv.WithoutRace(t)
	at := []int{5, 15}
	soak := os.Getenv("LIFEHUB_SOAK") != ""
	if soak {
		at = []int{100, 300, 500, 1000}
	}
	vault := t.TempDir()
	for i := range 40 {
		apptest.Write(t, filepath.Join(vault, fmt.Sprintf("note %d.md", i)),
			fmt.Sprintf("# Subject %d\n\n%s\n\n## More of subject %d\n\n%s\n", i, prose(-i, 80), i, prose(-i-1000, 80)))
	}
	model := &talker{}
	heaps := filepath.Join(t.TempDir(), "heap")
	if err := os.Mkdir(heaps, 0o700); err != nil {
		t.Fatal(err)
	}
	term := startTerminal(t, 100, 30, []string{
		"OLLAMA_HOST=" + llmtest.Serve(t, model),
		"LIFEHUB_MODEL=" + llmtest.ServedModel, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none", heapEnv + "=" + heaps,
	},
		"chat", "--notes", vault)
	if err := os.Symlink(heaps, filepath.Join(term.home, "heap")); err != nil {
		t.Fatal(err)
	}
	term.sees("40 notes")
	var all []held
	for turn := 1; turn <= at[len(at)-1]; turn++ {
		term.types(fmt.Sprintf("question %d of subject %d: %s?\r", turn, turn%40, prose(-turn-2000, 10)))
		term.waits(func(screen string) bool {
			return model.said.Load() == int64(turn) && strings.Contains(screen, "ctrl+p commands") &&
				!strings.Contains(screen, "esc stop")
		}, fmt.Sprintf("ends turn %d", turn))
		if turn == at[len(all)] {
			h := weigh(t, term, turn)
			all = append(all, h)
			t.Logf("after %4d turns: heap %.1f MB, memory of the process %.1f MB; said %.1f KB a turn, database %.1f "+
				"KB a turn, of it traces %.1f KB",
				turn, float64(h.heap)/1e6, float64(h.rss)/1e6, float64(h.said)/1e3/float64(turn),
				float64(h.saved)/1e3/float64(turn), float64(h.trace)/1e3/float64(turn))
		}
	}
	first, last := all[0], all[len(all)-1]
	if soak {
		first = all[1] // memory is flat from there on
		if last.rss > first.rss*11/10 {
			t.Errorf("the process takes %d bytes after %d turns and %d after %d", first.rss,
				first.turns, last.rss, last.turns)
		}
		if last.saved > 3*last.said {
			t.Errorf("the database takes %d bytes with its traces, for %d that were said", last.saved, last.said)
		}
	}
	grown := (last.saved - last.trace) - (first.saved - first.trace)
	if said := last.said - first.said; grown > 3*said {
		t.Errorf("between turns %d and %d %d bytes were said, and %d saved", first.turns, last.turns, said, grown)
	}
	term.types("\x04")
	term.exits()
}
