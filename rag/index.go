package rag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lifehub/llm"
	"lifehub/notes"
	"lifehub/notes/pdf"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// Options are the options of an index.
type Options struct {
	Vault    string                // the notes folder; required
	Embedder llm.Embedder          // nil: keywords only, until Use or Sync sets one
	Size     int                   // most tokens of a passage; 0: 256
	LeaveOut []string              // folders below Vault that do not belong to it
	Chroma   *vectors.ChromaServer // the server that stores the vectors; nil: they are in files

	PDF pdf.Reader // reads PDFs and images
}

// defaultSize was chosen on the benches (docs/design/search.md). Smaller passages lose
// the context of an answer, larger ones its location.
const defaultSize = 256

// Index is the index of one vault. Its methods are safe for concurrent use.
type Index struct {
	dir     string
	options Options
	vectors vectors.Store

	syncing sync.Mutex // held during a sync of this process

	imageTime time.Duration // how long one sync reads images

	wish atomic.Pointer[wish] // of a question that waits; nil: none

	someUnreadable atomic.Bool // the last sync could not read everything

	mu           sync.RWMutex // guards the following, which are replaced as a whole
	words        *generation  // nil: damaged
	damage       error        // why words is nil
	lost         int          // the generation that was found damaged while it was open; -1: none
	embedder     llm.Embedder
	collection   vectors.Collection // of embedder; nil: not opened yet
	embedFailure string             // why the last embedding failed; "": it did not
}

// Open opens the index in dir, which belongs to one vault, or creates an empty one. A
// damaged index is rebuilt from the notes by the next Sync or Search. If dir cannot be
// written, the index is read-only. Open connects to no server. It fails if dir cannot be
// read or created, or if the address of the Chroma server is invalid.
func Open(dir string, options Options) (*Index, error) {
	if options.Size == 0 {
		options.Size = defaultSize
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open index: %w", words.Explain(err))
	}
	x := &Index{
		dir: dir, options: options, vectors: vectors.Local{Dir: dir}, lost: -1, embedder: options.Embedder,
		imageTime: 10 * time.Second,
	}
	if options.Chroma != nil {
		store, err := vectors.NewChroma(*options.Chroma, options.Vault)
		if err != nil {
			return nil, fmt.Errorf("open index: %w", err)
		}
		x.vectors = store
	}
	if err := x.reopen(false); err != nil {
		return nil, fmt.Errorf("open index: %w", words.Explain(err))
	}
	return x, nil
}

// Close closes the files. No other method may be called afterwards.
func (x *Index) Close() error {
	x.syncing.Lock()
	defer x.syncing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	if x.words != nil {
		err = x.words.release()
	}
	if x.collection != nil {
		err = errors.Join(err, x.collection.Close())
	}
	return err
}

// Vault returns the notes folder.
func (x *Index) Vault() string { return x.options.Vault }

// Use sets the embedder for searches; nil: keywords only. Vectors of another model stay
// on disk.
func (x *Index) Use(embedder llm.Embedder) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if embedder != nil && x.embedder != nil && embedder.Name() == x.embedder.Name() {
		x.embedder = embedder
		return nil
	}
	x.embedder, x.embedFailure = embedder, ""
	if x.collection == nil {
		return nil
	}
	old := x.collection
	x.collection = nil
	return old.Close()
}

func (x *Index) lockPath() string { return filepath.Join(x.dir, "lock") }

// lock takes the write lock without waiting. ok is false if another process has it.
func (x *Index) lock() (unlock func() error, ok bool, err error) {
	return lockFile(x.lockPath())
}

// lockTimeout bounds how long a rebuild, or a search without an index, waits for another
// process that is writing.
const lockTimeout = 10 * time.Second

// errLocked is returned while another process, or another sync of this one, is
// writing.
var errLocked = errors.New("these notes are being indexed, try again when that is done")

// retryWhileLocked repeats do while another process is writing.
func retryWhileLocked(ctx context.Context, do func() error) error {
	const pause = 20 * time.Millisecond
	err := do()
	for waited := time.Duration(0); errors.Is(err, errLocked) && waited < lockTimeout; waited += pause {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		err = do()
	}
	return err
}

// acquireRepaired returns the newest generation, which the caller must release. A
// damaged one is rebuilt first. Its vectors need no rebuild, since they are found by
// content.
func (x *Index) acquireRepaired(ctx context.Context) (g *generation, err error) {
	err = retryWhileLocked(ctx, func() error {
		if g, err = x.acquire(false); g != nil || err != nil {
			return err
		}
		if !x.syncing.TryLock() {
			return errLocked // a sync of this process
		}
		defer x.syncing.Unlock()
		return x.rebuildDamaged(ctx)
	})
	if err == nil && g == nil {
		g, err = x.acquire(false)
	}
	if err == nil && g == nil {
		err = errLocked // damaged again meanwhile
	}
	return g, err
}

// rebuildDamaged rebuilds a damaged index.
func (x *Index) rebuildDamaged(ctx context.Context) error {
	folder, err := notes.Open(x.options.Vault)
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	folder.LeaveOut(x.options.LeaveOut...)
	folder.ReadWith(x.options.PDF)
	_, err = x.sync(ctx, syncRun{folder: folder})
	return errors.Join(err, folder.Close())
}

// acquireUndamaged returns the newest generation, which the caller must release, or an error
// if it is damaged.
func (x *Index) acquireUndamaged() (*generation, error) {
	g, err := x.acquire(false)
	if g == nil && err == nil {
		x.mu.RLock()
		defer x.mu.RUnlock()
		err = fmt.Errorf("the index cannot be used, the next search or `lifehub index` rebuilds it: %w",
			cmp.Or(x.damage, errLocked))
	}
	return g, err
}

// Vectors returns the vectors of the current embedder, which are opened on first
// use; nil if there is no embedder.
func (x *Index) Vectors() (vectors.Collection, llm.Embedder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.embedder == nil {
		return nil, nil, nil
	}
	if x.collection != nil && !x.collection.Fresh() {
		old := x.collection
		x.collection = nil
		if err := old.Close(); err != nil {
			return nil, x.embedder, err
		}
	}
	if x.collection == nil {
		opened, err := x.vectors.Open(x.embedder.Name())
		if err != nil {
			return nil, x.embedder, err
		}
		x.collection = opened
	}
	return x.collection, x.embedder, nil
}
