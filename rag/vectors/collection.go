package vectors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Store is where the vectors of one vault are: [Local] keeps them
// in files next to the words, package chroma on a server.
type Store interface {
	// Open returns the collection of a model's vectors. It asks no server.
	Open(model string) (Collection, error)
	// State is another text whenever the model's collection may hold something
	// else than before. It reads no vectors.
	State(ctx context.Context, model string) (string, error)
}

// Collection holds the vectors that one model made of a vault's passages. A
// vector is known by what was embedded, so that it is the same in every place
// and on every machine that has the text. Methods may be called at the same
// time. An error that is an [UnavailableError] leaves words to answer.
type Collection interface {
	// Missing returns those of the keys that have no vector, in their order.
	Missing(ctx context.Context, keys []Key) ([]Key, error)
	// Put adds vectors of length 1. All have the collection's dimension; others
	// make the collection begin again: the name stayed and the model did not.
	Put(ctx context.Context, keys []Key, embeddings [][]float32) error
	// Get returns the vectors of some keys, in any order, and leaves out those
	// that have none.
	Get(ctx context.Context, keys []Key) ([][]float32, error)
	// Forget may take away the vectors of passages that are not used.
	Forget(ctx context.Context, used map[Key]bool) error
	// Nearest returns the limit vectors nearest to a question's, nearest first.
	Nearest(ctx context.Context, vector []float32, limit int) ([]Match, error)
	// Among returns those that are nearest of some keys' vectors alone. Keys that
	// have none are left out.
	Among(ctx context.Context, vector []float32, keys []Key, limit int) ([]Match, error)
	// Spread estimates mean and standard deviation of the cosines between a
	// question and the whole collection.
	Spread(ctx context.Context, vector []float32) (mean, deviation float64, err error)
	// Size is the number of vectors, and of the numbers in each; 0: none yet.
	Size(ctx context.Context) (count, dimension int, err error)
	// Fresh reports whether what was read still stands; else it is opened again.
	Fresh() bool
	// Flush makes what was put survive a power cut.
	Flush() error
	Close() error
}

// Match is a vector found, and how near it is.
type Match = Near[Key]

// Near is a vector by what it is known by, and how near it is.
type Near[T any] struct {
	Key    T
	Cosine float64
}

// UnavailableError says that the place of the vectors cannot be used now.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// Local keeps the vectors of each model in a folder: one file, and a second
// when they are many.
type Local struct{ Dir string }

func (s Local) Open(model string) (Collection, error) {
	m, err := openLocal(s.Path(model))
	if err != nil {
		return nil, err // a nil *localVectors is no nil collection
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
		return "none" // opening it says what is wrong
	}
	return fmt.Sprint(status.Size(), " ", status.ModTime().UnixNano())
}

// Remove deletes the vectors of a model that is no longer used. What another
// program has open may stay.
func (s Local) Remove(model string) {
	path, _ := s.Path(model)
	os.Remove(path)                //nolint:errcheck // most often there is none
	os.Remove(quantisedPath(path)) //nolint:errcheck // as above
}

func (s Local) Path(model string) (path, name string) {
	sum := sha256.Sum256([]byte(model))
	return filepath.Join(s.Dir, "meaning-"+hex.EncodeToString(sum[:6])+".vec"), model
}
