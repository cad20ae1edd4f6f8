package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"lifehub/internal/files"
)

// owners tracks which process works on a turn. Each process that works on turns
// holds a lock on its own file next to the database, and saves the file's name in
// its turns. The system releases the lock when the process ends for any reason,
// so another process that can lock the file knows that its owner has ended. Names
// are never reused, so the file of an ended process can be removed.
type owners struct {
	dir string // empty for a database in memory, which no other process can see

	mu      sync.Mutex
	name    string // name of this process; empty until it works on a turn
	file    *os.File
	working map[string]bool // turns that this process works on
}

// lock locks a file exclusively. It reports false if another process has locked
// it or the file system does not support locks.
func lock(file *os.File) bool {
	ok, _ := files.TryLock(file)
	return ok
}

// Mine returns the name of this process, registering it if necessary.
func (o *owners) Mine() (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.name != "" || o.dir == "" {
		return o.name, nil
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return "", fmt.Errorf("register this process: %w", err)
	}
	o.sweep()
	for range 10 {
		name := rand.Text()
		file, err := os.OpenFile(filepath.Join(o.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", fmt.Errorf("register this process: %w", err)
		}
		if lock(file) && stillThere(file) {
			o.name, o.file = name, file
			return name, nil
		}
		file.Close() // another process removed it just before it was locked
	}
	return "", fmt.Errorf("register this process: files in %s cannot be locked", o.dir)
}

// Named returns the name of this process, or "" if it has none yet.
func (o *owners) Named() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.name
}

// stillThere reports whether a file still exists under its name.
func stillThere(file *os.File) bool {
	is, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(is, named)
}

// sweep removes the files of processes that have ended.
func (o *owners) sweep() {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return // creating our own file reports the error
	}
	for _, e := range entries {
		o.gone(e.Name())
	}
}

// gone reports whether the named process has ended; if so, it removes its file.
func (o *owners) gone(name string) bool {
	path := filepath.Join(o.dir, name)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // on other errors assume that it is running: waiting does no harm
	}
	if !lock(file) {
		file.Close()
		return false
	}
	defer files.Unlock(file) //nolint:errcheck // the file is removed
	os.Remove(path)
	return true
}

// Ended reports whether another process has ended. The mutex keeps two goroutines
// from testing the same file at once: each would take the other's lock for the
// owner's.
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

// AtWork reports whether any process works on a turn that is marked with owner.
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

// close lets other processes take over the turns that this process has left open.
func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		files.Unlock(o.file) //nolint:errcheck // the file is removed
		os.Remove(o.file.Name())
		o.file, o.name = nil, ""
	}
}
