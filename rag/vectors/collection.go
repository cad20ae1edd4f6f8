package vectors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Store stores the vectors of one vault: [Local] in files next to the keyword index,
// package chroma on a server.
type Store interface {
	// Open returns the collection of a model's vectors. It contacts no server.
	Open(model string) (Collection, error)
	// State returns a text that changes whenever the model's collection may have
	// changed. It reads no vectors.
	State(ctx context.Context, model string) (string, error)
}

// Collection has the vectors of a vault's passages, embedded by one model. A vector is
// identified by the embedded text, so that it is the same in every note and on every
// machine with that text. Methods may be called concurrently. After an
// [UnavailableError] keyword search can still answer.
type Collection interface {
	// Missing returns the keys that have no vector, in order.
	Missing(ctx context.Context, keys []Key) ([]Key, error)
	// Put adds vectors of length 1. It fails if their dimension is not the collection's.
	Put(ctx context.Context, keys []Key, embeddings [][]float32) error
	// Get returns the vectors of some keys, in any order, without those that are
	// missing.
	Get(ctx context.Context, keys []Key) ([][]float32, error)
	// Forget may remove the vectors that are not used.
	Forget(ctx context.Context, used map[Key]bool) error
	// Nearest returns the limit vectors nearest to a question's, nearest first.
	Nearest(ctx context.Context, vector []float32, limit int) ([]Match, error)
	// Among is like Nearest for the vectors of some keys. Missing ones are left out.
	Among(ctx context.Context, vector []float32, keys []Key, limit int) ([]Match, error)
	// Size returns the number of vectors and their dimension; 0 if there are none.
	Size(ctx context.Context) (count, dimension int, err error)
	// Fresh reports whether the collection may still be used; otherwise it has to be
	// opened again.
	Fresh() bool
	// Flush makes the changes durable.
	Flush() error
	Close() error
}

// Match is a vector that was found, with its cosine.
type Match = Near[Key]

// Near is a vector, identified by a key or a position, with its cosine.
type Near[T any] struct {
	Key    T
	Cosine float64
}

// UnavailableError reports that the store cannot be used now.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// Local stores the vectors of each model in a folder: in one file, and in a second one
// if they are many.
type Local struct{ Dir string }

func (s Local) Open(model string) (Collection, error) {
	m, err := openLocal(s.Path(model))
	if err != nil {
		return nil, err // a nil *localVectors would not be a nil Collection
	}
	return m, nil
}

func (s Local) State(_ context.Context, model string) (string, error) {
	path, _ := s.Path(model)
	return stateOf(path) + ", " + stateOf(quantisedPath(path)), nil
}

func stateOf(path string) string {
	status, err := os.Stat(path)
	if err != nil {
		return "none" // opening it reports what is wrong
	}
	return fmt.Sprint(status.Size(), " ", status.ModTime().UnixNano())
}

func (s Local) Path(model string) (path, name string) {
	sum := sha256.Sum256([]byte(model))
	return filepath.Join(s.Dir, "meaning-"+hex.EncodeToString(sum[:6])+".vec"), model
}
