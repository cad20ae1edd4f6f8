package rag

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"lifehub/llm"
	"lifehub/notes"
)

// Options say how a vault is indexed.
type Options struct {
	Vault    string       // the notes folder; required
	Embedder llm.Embedder // nil: words only, until Use or Sync brings one
	Size     int          // most tokens of a passage; 0: 256
	LeaveOut []string     // folders below Vault that are no part of it
	Chroma   *Chroma      // the server that keeps the vectors; nil: they are kept in files
}

// defaultSize was chosen on the benches (docs/decisions/0016): smaller
// passages lose the words around the answer, bigger ones the place.
const defaultSize = 256

// Index is the searchable form of one vault. All its methods may be called at
// the same time.
type Index struct {
	dir     string
	options Options
	vectors vectorStore

	syncing  sync.Mutex // one Sync at a time in this process; guards unsigned
	unsigned bool       // the words were written to and their stamp is missing

	letters letters

	mu       sync.RWMutex // guards what follows; writers swap it out as a whole
	db       *sql.DB
	identity os.FileInfo // of the words file that db has open
	embedder llm.Embedder
	meaning  *meaning // of embedder; nil: not read yet
	rebuilt  string   // why the words were made anew and not filled yet; "": they were not
	why      string   // why the last embedding did not work; "": it did
}

// Open opens the index kept in dir, one folder a vault, or makes an empty
// one. Whatever is damaged is made anew, empty; the next Sync or Search fills
// it from the notes. No server is asked. The error is about the folder, which
// cannot be made or written, or about an address that is none.
func Open(dir string, options Options) (*Index, error) {
	if options.Size == 0 {
		options.Size = defaultSize
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	x := &Index{dir: dir, options: options, vectors: localStore{dir}, embedder: options.Embedder}
	if options.Chroma != nil {
		store, err := newChromaStore(*options.Chroma, options.Vault)
		if err != nil {
			return nil, fmt.Errorf("open index: %w", err)
		}
		x.vectors = store
	}
	damage, err := x.openWords()
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	x.rebuilt = damage
	return x, nil
}

// Close lets go of the files. No other method may be called afterwards.
func (x *Index) Close() error {
	x.syncing.Lock()
	defer x.syncing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	err := errors.Join(x.signLast(), x.db.Close())
	if x.meaning != nil {
		err = errors.Join(err, x.meaning.close())
	}
	return err
}

// signLast signs what a few notes changed, unless somebody else is writing.
func (x *Index) signLast() error {
	if !x.unsigned {
		return nil
	}
	unlock, ok, err := lockFile(x.lockPath())
	if err != nil || !ok {
		return err
	}
	return errors.Join(x.sign(context.Background()), unlock())
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
	return old.close()
}

func (x *Index) wordsPath() string { return filepath.Join(x.dir, "words.db") }
func (x *Index) lockPath() string  { return filepath.Join(x.dir, "lock") }
func (x *Index) stampPath() string { return filepath.Join(x.dir, "words.stamp") }

// openWords opens the words, anew when they are damaged, and says why then.
func (x *Index) openWords() (damage string, err error) {
	defer x.identify()
	if x.db, err = x.openWhole(); err == nil {
		return "", nil
	}
	unlock, ok, err := lockFile(x.lockPath())
	if err != nil {
		return "", err
	}
	if !ok {
		// Somebody is writing, so what looked like damage may be half a stamp.
		x.db, err = openWords(x.wordsPath())
		return "", err
	}
	defer unlock() //nolint:errcheck // closing a lock's file lets go of it in any case
	return x.openWordsLocked()
}

// openWordsLocked does the same while this process has the lock.
func (x *Index) openWordsLocked() (damage string, err error) {
	defer x.identify()
	var cause error
	if x.db, cause = x.openWhole(); cause == nil {
		return "", nil
	}
	if err := errors.Join(removeWords(x.wordsPath()), os.RemoveAll(x.stampPath())); err != nil {
		return "", err
	}
	if x.db, err = openWords(x.wordsPath()); err != nil {
		return "", err
	}
	return "the word index was damaged: " + cause.Error(), nil
}

// identify remembers which file db has open.
func (x *Index) identify() {
	x.identity, _ = os.Stat(x.wordsPath()) //nolint:errcheck // nil: the next sync opens it again
}

// openWhole opens the words if they are what was written.
func (x *Index) openWhole() (*sql.DB, error) {
	signed, err := verifyStamp(x.stampPath(), x.wordsPath())
	if err != nil {
		return nil, err
	}
	db, err := openWords(x.wordsPath())
	if err != nil {
		return nil, err
	}
	if !signed { // a sync was killed, or runs elsewhere
		if err := checkWords(db); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// stamp is what a finished sync says of the words file, so that damage done
// to it at rest is found without looking at every page. It is taken away
// before anything is written.
type stamp struct {
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Sum   uint32 `json:"sum"`
}

// writeStamp signs the words file off. Everything must be in it: nothing may
// be left in SQLite's log.
func writeStamp(path, words string) error {
	status, err := os.Stat(words)
	if err != nil {
		return err
	}
	sum, err := sumFile(words)
	if err != nil {
		return err
	}
	text, err := json.Marshal(stamp{status.Size(), status.ModTime().UnixNano(), sum})
	if err != nil {
		return err
	}
	return writeWhole(path, text)
}

// verifyStamp tells whether the words file was signed off. The error says
// that it is not what was signed.
func verifyStamp(path, words string) (signed bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var s stamp
	if err != nil || json.Unmarshal(text, &s) != nil {
		return false, errors.New("its stamp cannot be read")
	}
	status, err := os.Stat(words)
	if err != nil {
		return false, errors.New("the file is missing")
	}
	if status.Size() == s.Size && status.ModTime().UnixNano() == s.Mtime {
		return true, nil
	}
	if sum, err := sumFile(words); err != nil || sum != s.Sum {
		return false, errors.New("the file is not what was written")
	}
	return true, nil
}

func sumFile(path string) (uint32, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // only read
	sum := crc32.New(castagnoli)
	_, err = io.Copy(sum, file)
	return sum.Sum32(), err
}

// writeWhole replaces a file so that it is wholly old or wholly new.
func writeWhole(path string, text []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// heal makes the words anew after damage that showed while the index was
// open, and fills them from the notes.
func (x *Index) heal(ctx context.Context, cause error) error {
	x.syncing.Lock()
	if err := x.renew(cause); err != nil {
		x.syncing.Unlock()
		return err
	}
	x.syncing.Unlock()
	return x.refill(ctx)
}

// renew swaps the words for empty ones.
func (x *Index) renew(cause error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rebuilt != "" {
		return nil // another search was first
	}
	if err := errors.Join(x.db.Close(), os.RemoveAll(x.stampPath())); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	if err := removeWords(x.wordsPath()); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	db, err := openWords(x.wordsPath())
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	x.identify()
	x.db, x.rebuilt = db, "the word index was damaged: "+cause.Error()
	return nil
}

// refill reads the notes into an index that was made anew. Words alone: what
// was embedded is found again by its content.
func (x *Index) refill(ctx context.Context) error {
	folder, err := notes.Open(x.options.Vault)
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	folder.LeaveOut(x.options.LeaveOut...)
	_, err = x.sync(ctx, folder, nil, nil, nil)
	return errors.Join(err, folder.Close())
}

// ready returns the words to search, filled again if they were rebuilt.
func (x *Index) ready(ctx context.Context) error {
	x.mu.RLock()
	empty := x.rebuilt != ""
	x.mu.RUnlock()
	if !empty {
		return nil
	}
	return x.refill(ctx)
}

// loadMeaning returns the vectors of the embedder in use, read on first need.
// nil: there is no embedder.
func (x *Index) loadMeaning() (*meaning, llm.Embedder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.embedder == nil {
		return nil, nil, nil
	}
	if x.meaning != nil && !x.meaning.fresh() {
		old := x.meaning
		x.meaning = nil
		if err := old.close(); err != nil {
			return nil, nil, err
		}
	}
	if x.meaning == nil {
		vectors, err := x.vectors.open(x.embedder.Name())
		if err != nil {
			return nil, nil, err
		}
		if needsWindows(windowOf(x.embedder), x.options.Size) {
			vectors = windowed{vectors}
		}
		x.meaning = &meaning{x.embedder.Name(), vectors}
	}
	return x.meaning, x.embedder, nil
}
