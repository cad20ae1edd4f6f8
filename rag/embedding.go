package rag

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"lifehub/llm"
	"lifehub/rag/encoder"
	"lifehub/rag/vectors"
)

// embedding embeds the passages that have no vector of a model yet.
type embedding struct {
	*syncRun
	collection vectors.Collection
	embedder   llm.Embedder
	used       map[vectors.Key]bool // the passages of the notes to sync
	todo       []vectors.Key        // those without a vector
	done       int                  // how many of todo
	dimension  int                  // of the model's vectors; 0: not known yet
	refused    int                  // texts for which the embedder returned no usable vector
}

// prepare finds the passages without a vector.
func (e *embedding) prepare(ctx context.Context) (err error) {
	if e.used, e.todo, err = e.missing(ctx, e.collection); err != nil {
		return err
	}
	if e.only == nil {
		if err := e.collection.Forget(ctx, e.used); err != nil {
			return err
		}
	}
	_, e.dimension, err = e.collection.Size(ctx)
	return err
}

// request is a batch that was sent to the embedder.
type request struct {
	passages []vectors.Key
	answer   chan answer
}

type answer struct {
	keys       []vectors.Key // of those that were not refused
	embeddings [][]float32
	err        error
}

// batches embeds the passages without a vector, and stores each batch in order. The next
// batch is sent before a server has answered, so that the server is never idle. unavailable
// means that the embedder does not answer.
func (e *embedding) batches(ctx context.Context) (unavailable bool, err error) {
	sent, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	var requests []request
	for next := e.done; e.done < len(e.todo); {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		for size, most := e.inFlight(); next < len(e.todo) && len(requests) < most; {
			batch := e.todo[next:min(next+size, len(e.todo))]
			r, err := e.send(sent, &waiting, batch)
			if err != nil {
				return false, err
			}
			requests, next = append(requests, r), next+len(batch)
		}
		e.progress(Progress{Phase: "embed", Done: e.done, Total: len(e.todo)})
		r := requests[0]
		requests = requests[1:]
		got := <-r.answer
		if got.err != nil {
			return true, e.unavailable(ctx, got.err)
		}
		e.refused += len(r.passages) - len(got.keys)
		if err := e.collection.Put(ctx, got.keys, got.embeddings); err != nil {
			return false, err
		}
		if len(got.embeddings) > 0 {
			e.dimension = len(got.embeddings[0])
		}
		e.changes.Embedded += len(got.keys)
		e.done += len(r.passages)
	}
	return false, nil
}

// inFlight returns the size of a batch, and how many are sent before the first is
// answered: one if the embedder is built in, or if the dimension is unknown.
func (e *embedding) inFlight() (size, times int) {
	switch {
	case encoder.IsBuiltIn(e.embedder.Name()):
		return builtInBatch, 1
	case e.dimension == 0:
		return embedBatch, 1
	}
	return embedBatch, 2
}

// send sends a batch. A built-in embedder runs in this goroutine, which has a low
// priority in a chat.
func (e *embedding) send(ctx context.Context, waiting *sync.WaitGroup, batch []vectors.Key) (request, error) {
	texts, err := e.texts(ctx, batch)
	if err != nil {
		return request{}, err
	}
	r, dimension := request{batch, make(chan answer, 1)}, e.dimension
	ask := func() {
		var got answer
		defer func() {
			if fault := recover(); fault != nil {
				got.err = fmt.Errorf("embed: %v\n%s", fault, debug.Stack())
			}
			r.answer <- got
		}()
		got.keys, got.embeddings, got.err = encoder.Texts(ctx, e.embedder, dimension, batch, texts)
	}
	if encoder.IsBuiltIn(e.embedder.Name()) {
		ask()
	} else {
		waiting.Go(ask)
	}
	return r, nil
}

// unavailable adds a warning that the embedder does not answer. It returns the error of
// ctx, if any, or of the index.
func (e *embedding) unavailable(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e.index.setEmbedFailure(why.Error())
	have := len(e.used) - len(e.todo) + e.done
	e.changes.Warnings = append(e.changes.Warnings, fmt.Sprintf("semantic index %d of %d passages: %v", have,
		len(e.used), why))
	return e.index.recordModel(e.embedder.Name())
}

// finishEmbedding records that no vector is missing.
func (e *embedding) finishEmbedding(ctx context.Context) error {
	e.index.setEmbedFailure("")
	if err := e.index.recordModel(e.embedder.Name()); err != nil {
		return err
	}
	if len(e.todo) > 0 {
		e.progress(Progress{Phase: "embed", Done: len(e.todo), Total: len(e.todo)})
	}
	if e.refused > 0 {
		e.changes.Warnings = append(e.changes.Warnings,
			fmt.Sprintf("the embedding model gave no usable vector for %d texts; keyword search finds their passages",
				e.refused))
	}
	if e.only != nil {
		return nil
	}
	if err := e.collection.Flush(); err != nil || e.refused > 0 {
		return err
	}
	return e.complete(ctx, e.embedder.Name())
}
