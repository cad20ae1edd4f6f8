package rag

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/servers"
)

// queued answers a batch only while another one waits, except the first and the last.
type queued struct {
	*bagEmbedder
	batches int // expected in total

	changed *sync.Cond
	late    bool
	come    int
	inside  int
	most    int // largest number of concurrent batches
}

func (q *queued) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) < embedBatch { // a question, or the rest for the last batch
		return q.bagEmbedder.Embed(ctx, texts)
	}
	q.changed.L.Lock()
	q.come++
	q.inside++
	q.most = max(q.most, q.inside)
	q.changed.Broadcast()
	// two may come in any order
	for mine := q.come; mine > 1 && mine < q.batches && q.come == mine && q.inside < 2 && !q.late; {
		q.changed.Wait()
	}
	q.changed.L.Unlock()
	defer func() {
		q.changed.L.Lock()
		q.inside--
		q.changed.L.Unlock()
	}()
	return q.bagEmbedder.Embed(ctx, texts)
}

// While an embedding server works on a batch, the next one waits there; only one, since
// a question comes after them. The first batch is sent alone, because its answer gives
// the size of the vectors.
func TestNextBatchIsSentBeforeTheAnswer(t *testing.T) {
	const batches = 6
	files := map[string]string{}
	for i := range batches * embedBatch {
		files[fmt.Sprintf("note%03d.md", i)] = fmt.Sprintf("# Note %d\n\nmarker%d %s\n", i, i, prose(i, 30))
	}
	folder, x := vault(t, files)
	q := &queued{bagEmbedder: &bagEmbedder{name: "bag"}, batches: batches, changed: sync.NewCond(new(sync.Mutex))}
	timer := time.AfterFunc(30*time.Second, func() {
		q.changed.L.Lock()
		defer q.changed.L.Unlock()
		q.late = true
		q.changed.Broadcast()
	})
	defer timer.Stop()
	changes := syncNow(t, x, folder, q)
	if q.late || q.most != 2 || changes.Embedded != len(files) {
		t.Errorf("a batch waited for no other: %v; %d at the same time, want 2; embedded %d of %d", q.late, q.most,
			changes.Embedded, len(files))
	}
}

// busyTimes records the requests to an embedder, and how long it was idle.
type busyTimes struct {
	llm.Embedder

	mu      sync.Mutex
	batches [][]string
	inside  int
	first   time.Time
	last    time.Time
	busy    time.Duration
	since   time.Time // inside is not 0
}

func (e *busyTimes) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 1 {
		return e.Embedder.Embed(ctx, texts)
	}
	e.mu.Lock()
	e.batches = append(e.batches, texts)
	if e.inside++; e.inside == 1 {
		e.since = time.Now()
	}
	if e.first.IsZero() {
		e.first = e.since
	}
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.last = time.Now()
		if e.inside--; e.inside == 0 {
			e.busy += e.last.Sub(e.since)
		}
	}()
	return e.Embedder.Embed(ctx, texts)
}

// BenchmarkEmbedding indexes notes with a real Ollama server and a small model. It
// reports for how much of the time the server had a request, and the time that the same
// requests take one after the other.
func BenchmarkEmbedding(b *testing.B) {
	gguf, err := os.ReadFile(testenv.Shared(b, "ollama/models/m2v-static.gguf"))
	if err != nil {
		b.Fatal(err)
	}
	server := llmtest.StartEmptyOllama(b)
	server.Create(llmtest.Model{Name: "m2v-static", GGUF: gguf})
	provider, err := servers.Open(llm.Settings{Provider: "ollama", OllamaHost: server.URL, Embedding: "m2v-static"})
	if err != nil {
		b.Fatal(err)
	}
	defer provider.Close()
	embedder, err := provider.Embedder(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := embedder.Embed(b.Context(), []string{"load it"}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x, folder := openScale(b, testenv.Shared(b, "data/corpora/til-jbranchaud"), b.TempDir())
		e := &busyTimes{Embedder: embedder}
		began := time.Now()
		changes, err := x.Sync(b.Context(), folder, e, nil)
		if err != nil {
			b.Fatal(err)
		}
		all := time.Since(began)
		began = time.Now()
		for _, texts := range e.batches {
			embedder.Embed(b.Context(), texts) //nolint:errcheck // what it refuses now it refused then
		}
		alone, phase := time.Since(began), e.last.Sub(e.first)
		b.Logf("%d passages in %d requests, sync %v: from the first to the last request %v, in which the server had "+
			"one for %.1f %% (of the sync %.1f %%); it alone %v = %.1f %% of that",
			changes.Embedded, len(e.batches), all, phase, 100*e.busy.Seconds()/phase.Seconds(),
			100*e.busy.Seconds()/all.Seconds(), alone, 100*alone.Seconds()/phase.Seconds())
	}
}

// saving is an embedder in whose requests an editor saves the notes, and another LifeHub indexes them.
type saving struct {
	*bagEmbedder
	save func()
}

func (s *saving) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if s.save != nil {
		save := s.save
		s.save = nil
		save()
	}
	return s.bagEmbedder.Embed(ctx, texts)
}

// A search ranks the index as it is at one moment, and keeps nobody from writing while
// the embedder answers.
func TestASearchReadsOneSnapshot(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("note%d.md", i)] = fmt.Sprintf("# Note %d\n\nThe boiler was serviced. %s\n", i, prose(i, 60))
	}
	folder, x := vault(t, files)
	e := &saving{bagEmbedder: &bagEmbedder{name: "bag"}}
	syncNow(t, x, folder, e)
	e.save = func() {
		saved := map[string]string{}
		for name := range files {
			saved[name] = "# Other\n\nshort\n"
		}
		write(t, folder.Dir(), saved)
		options := x.options
		options.Embedder = e.bagEmbedder
		other, err := Open(x.dir, options)
		if err != nil {
			t.Fatal(err)
		}
		syncNow(t, other, folder, e.bagEmbedder)
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
	if found, err := x.Search(t.Context(), Query{Text: "boiler serviced short", Limit: 10}); err != nil ||
		len(found.Passages) == 0 ||
		slices.ContainsFunc(found.Passages, func(p Passage) bool { return !strings.Contains(p.Text, "short") }) {
		t.Errorf("%+v, %v", found.Passages, err)
	}
}
