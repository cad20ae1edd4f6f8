package rag

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag/words"
)

const (
	// fewNotes are read before a question is answered, whatever is in them: that takes a second.
	fewNotes = 1000
	// maxFirst is how many notes with the words of a question are read before it is answered.
	maxFirst = 200
	// maxWished is how many words of a question are looked for in files.
	maxWished = 32
	// maxRawText is the size of a file in bytes up to which it is searched unread.
	maxRawText = 1 << 20
)

// wish is a question that waits for its notes to be read.
type wish struct {
	words []string // folded
	ready chan struct{}
}

// First makes the sync that runs, or the next one, read the notes with the words of a question before all
// others. It returns true when they can be searched and others are left, and false when ctx is done.
func (x *Index) First(ctx context.Context, question string) bool {
	w := &wish{ready: make(chan struct{})}
	in := text.Language(question)
	for word := range text.Words(question) {
		folded := text.Fold(word.Text)
		if len(w.words) < maxWished && !text.StopWord(folded, in) && !slices.Contains(w.words, folded) {
			w.words = append(w.words, folded)
		}
	}
	if older := x.wish.Swap(w); older != nil {
		close(older.ready) // it is answered with what there is
	}
	select {
	case <-w.ready:
		return true
	case <-ctx.Done():
		return false
	}
}

// grant puts the notes with the words of a question to the front of those that are still to be read, rarest words
// first, and returns how many these are. The files are searched as they are.
func (s *syncRun) grant(ctx context.Context, w *wish, todo []notes.Entry) (first int, err error) {
	in := notes.Reader{Folder: s.folder}
	defer in.Close()
	has := make([][]bool, len(todo))
	count := make([]int, len(w.words))
	for i, e := range todo {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if !notes.IsText(e.Path) || e.Size > maxRawText {
			continue
		}
		raw, _, err := in.Load(ctx, e.Path)
		if err != nil {
			continue // the sync says why
		}
		body := text.Fold(e.Path + "\n" + string(bytes.ToValidUTF8(raw, nil)))
		for j, word := range w.words {
			if strings.Contains(body, word) {
				if has[i] == nil {
					has[i] = make([]bool, len(w.words))
				}
				has[i][j] = true
				count[j]++
			}
		}
	}
	type ranked struct {
		entry  notes.Entry
		weight float64
	}
	all := make([]ranked, len(todo))
	for i, e := range todo {
		all[i].entry = e
		for j, yes := range has[i] {
			if yes {
				all[i].weight += math.Log(1 + float64(len(todo))/float64(count[j]))
			}
		}
		if all[i].weight > 0 {
			first++
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	for i := range all {
		todo[i] = all[i].entry
	}
	return min(first, maxFirst), nil
}

// Settled reports whether a sync has read and embedded all notes, and how many and how long ago.
func (x *Index) Settled(ctx context.Context, embedder llm.Embedder) (all bool, count int, age time.Duration) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return false, 0, 0
	}
	defer g.release() //nolint:errcheck // it was only read
	c, err := x.coverageOf(ctx, g.db)
	if err != nil || c.Unread > 0 || c.Indexed < c.Total || embedder == nil {
		return false, c.Indexed, 0
	}
	state, err := x.vectors.State(ctx, embedder.Name())
	all = err == nil && words.Meta(ctx, g.db, "complete "+embedder.Name()) == state
	return all, c.Indexed, time.Duration(c.Age * float64(time.Second))
}
