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
	"lifehub/rag/chroma"
	"lifehub/rag/embed"
	"lifehub/rag/passage"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// Options say how a vault is indexed.
type Options struct {
	Vault    string         // the notes folder; required
	Embedder llm.Embedder   // nil: words only, until Use or Sync brings one
	Size     int            // most tokens of a passage; 0: 256
	LeaveOut []string       // folders below Vault that are no part of it
	Chroma   *chroma.Server // the server that keeps the vectors; nil: they are kept in files
}

// defaultSize was chosen on the benches (docs/design/search.md): smaller
// passages lose the words around the answer, bigger ones the place.
const defaultSize = 256

// Index is the searchable form of one vault. All its methods may be called at
// the same time.
type Index struct {
	dir     string
	options Options
	vectors vectors.Store

	syncing  sync.Mutex // one Sync at a time in this process; guards unsigned
	unsigned bool       // the words were written to and their stamp is missing

	someUnreadable atomic.Bool // the last sync could not read everything

	mu       sync.RWMutex // guards what follows; writers swap it out as a whole
	words    *generation  // nil: damaged
	damage   error        // why words is nil
	lost     int          // the generation that turned out to be damaged while it was open
	embedder llm.Embedder
	meaning  vectors.Collection // of embedder; nil: not read yet
	why      string             // why the last embedding did not work; "": it did
}

// Open opens the index kept in dir, one folder a vault, or makes an empty
// one. What is damaged is rebuilt from the notes by the next Sync or Search.
// What cannot be written is open for reading. No server is asked. The error is
// about the folder, in which nothing can be read or made, or about an address
// that is none.
func Open(dir string, options Options) (*Index, error) {
	if options.Size == 0 {
		options.Size = defaultSize
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open index: %w", words.Explain(err))
	}
	x := &Index{dir: dir, options: options, vectors: vectors.Local{Dir: dir}, lost: -1, embedder: options.Embedder}
	if options.Chroma != nil {
		store, err := chroma.NewStore(*options.Chroma, options.Vault)
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

// Close lets go of the files. No other method may be called afterwards.
func (x *Index) Close() error {
	x.syncing.Lock()
	defer x.syncing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.signLast()
	if x.words != nil {
		err = errors.Join(err, x.words.release())
	}
	if x.meaning != nil {
		err = errors.Join(err, x.meaning.Close())
	}
	return err
}

// signLast signs what a few notes changed, unless somebody else is writing.
func (x *Index) signLast() error {
	if !x.unsigned || x.words == nil || x.stale(x.words) {
		return nil
	}
	unlock, ok, err := x.lock()
	if err != nil || !ok {
		return err
	}
	return errors.Join(x.sign(context.Background(), x.words), unlock())
}

// Vault is the notes folder.
func (x *Index) Vault() string { return x.options.Vault }

// Use changes the embedder for searches; nil: words only. Vectors of another
// model stay on disk until their own model comes back.
func (x *Index) Use(embedder llm.Embedder) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if embedder != nil && x.embedder != nil && embedder.Name() == x.embedder.Name() {
		x.embedder = embedder
		return nil
	}
	x.embedder, x.why = embedder, ""
	if x.meaning == nil {
		return nil
	}
	old := x.meaning
	x.meaning = nil
	return old.Close()
}

func (x *Index) lockPath() string { return filepath.Join(x.dir, "lock") }

// lock takes the lock of those who write, without waiting. ok is false when
// somebody else has it.
func (x *Index) lock() (unlock func() error, ok bool, err error) {
	return lockFile(x.lockPath())
}

// patience is how long a search that has nothing to look into, and a rebuild,
// wait for another LifeHub to end its writing.
const patience = 10 * time.Second

// errElsewhere says that another LifeHub has the lock, or another sync of this one.
var errElsewhere = errors.New("these notes are being indexed, try again when that is done")

// patiently tries again while another LifeHub writes.
func patiently(ctx context.Context, do func() error) error {
	const pause = 20 * time.Millisecond
	err := do()
	for waited := time.Duration(0); errors.Is(err, errElsewhere) && waited < patience; waited += pause {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		err = do()
	}
	return err
}

// acquireRepaired returns the newest generation, which the caller releases. One that is
// damaged is rebuilt first, words alone: what was embedded is found again by
// its content.
func (x *Index) acquireRepaired(ctx context.Context) (g *generation, err error) {
	err = patiently(ctx, func() error {
		if g, err = x.acquire(false); g != nil || err != nil {
			return err
		}
		if !x.syncing.TryLock() {
			return errElsewhere // or this one
		}
		defer x.syncing.Unlock()
		return x.refill(ctx)
	})
	if err == nil && g == nil {
		g, err = x.acquire(false)
	}
	if err == nil && g == nil {
		err = errElsewhere // which was damaged again
	}
	return g, err
}

// refill rebuilds what is damaged.
func (x *Index) refill(ctx context.Context) error {
	folder, err := notes.Open(x.options.Vault)
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	folder.LeaveOut(x.options.LeaveOut...)
	_, err = x.sync(ctx, syncRun{folder: folder})
	return errors.Join(err, folder.Close())
}

// acquireSound returns the newest generation, which the caller releases. That it is
// damaged is an error.
func (x *Index) acquireSound() (*generation, error) {
	g, err := x.acquire(false)
	if g == nil && err == nil {
		x.mu.RLock()
		defer x.mu.RUnlock()
		err = fmt.Errorf("the index cannot be used, the next search or `lifehub index` rebuilds it: %w", cmp.Or(x.damage, errElsewhere))
	}
	return g, err
}

// loadMeaning returns the vectors of the embedder in use, read on first need.
// nil: there is no embedder.
func (x *Index) loadMeaning() (vectors.Collection, llm.Embedder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.embedder == nil {
		return nil, nil, nil
	}
	if x.meaning != nil && !x.meaning.Fresh() {
		old := x.meaning
		x.meaning = nil
		if err := old.Close(); err != nil {
			return nil, x.embedder, err
		}
	}
	if x.meaning == nil {
		opened, err := x.vectors.Open(x.embedder.Name())
		if err != nil {
			return nil, x.embedder, err
		}
		if passage.NeedsWindows(embed.WindowOf(x.embedder), x.options.Size) {
			opened = vectors.Windowed{Collection: opened}
		}
		x.meaning = opened
	}
	return x.meaning, x.embedder, nil
}
