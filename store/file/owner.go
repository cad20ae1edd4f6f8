package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"lifehub/internal/filelock"
)

// owners knows which process is at work on a turn. Each process that works on
// turns holds a locked file next to the database, under a name that
// is written into its turns. The system lets go of the lock when the process
// ends, however it ends: who can lock the file of another knows that it is
// gone. A name is never used twice, so that the file of one that is gone can
// be removed.
type owners struct {
	dir string // "": a database in memory, which no other process sees

	mu      sync.Mutex
	name    string // of this process; "" until it works on a turn
	file    *os.File
	working map[string]bool // turns that this process works on
}

// lock takes a file for this process alone. It reports false when another one
// has it, or where files cannot be locked.
func lock(file *os.File) bool {
	ok, _ := filelock.Try(file)
	return ok
}

// Mine is the name of this process.
func (o *owners) Mine() (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.name != "" || o.dir == "" {
		return o.name, nil
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return "", fmt.Errorf("say who works on a turn: %w", err)
	}
	o.sweep()
	for range 10 {
		name := rand.Text()
		file, err := os.OpenFile(filepath.Join(o.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", fmt.Errorf("say who works on a turn: %w", err)
		}
		if lock(file) && stillThere(file) {
			o.name, o.file = name, file
			return name, nil
		}
		file.Close() // another process swept it away just before it was locked
	}
	return "", fmt.Errorf("say who works on a turn: no file in %s can be locked", o.dir)
}

// Named is the name of this process; "": it has none yet.
func (o *owners) Named() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.name
}

// stillThere reports whether a file has its name still.
func stillThere(file *os.File) bool {
	is, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(is, named)
}

// sweep removes the files of processes that are gone.
func (o *owners) sweep() {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return // it will be said when our own file is made
	}
	for _, e := range entries {
		o.gone(e.Name())
	}
}

// gone reports whether the process of a name has ended, and then removes its file.
func (o *owners) gone(name string) bool {
	path := filepath.Join(o.dir, name)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // else it is not known; who waits does no harm
	}
	if !lock(file) {
		file.Close()
		return false
	}
	defer filelock.Release(file) //nolint:errcheck // it is removed
	os.Remove(path)
	return true
}

// Ended is gone for another process than this one. Of two who look at one file at
// once, one would find it locked by the other.
func (o *owners) Ended(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return name != o.name && o.gone(name)
}

func (o *owners) Begin(turn string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.working == nil {
		o.working = map[string]bool{}
	}
	o.working[turn] = true
}

func (o *owners) End(turn string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.working, turn)
}

// AtWork reports whether somebody works on a turn that is marked as owner's.
func (o *owners) AtWork(owner, turn, state string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.working[turn] {
		return true
	}
	if state != "open" || owner == "" || owner == o.name || o.dir == "" || !filepath.IsLocal(owner) {
		return false
	}
	return !o.gone(owner)
}

// close lets others take what this process has left open.
func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		filelock.Release(o.file) //nolint:errcheck // it is removed
		os.Remove(o.file.Name())
		o.file, o.name = nil, ""
	}
}
