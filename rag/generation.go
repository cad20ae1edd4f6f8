package rag

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"lifehub/rag/words"
)

// generation is an open keyword index: words.db or, after rebuilds, words-1.db, words-2.db
// and so on. The highest number is current, and no number is reused. A rebuild writes
// new.db, and renames it in its last step.
// Why: docs/design/index-files.md.
type generation struct {
	number  int
	db      *sql.DB
	limited error       // why it is read-only; nil: it is not
	opened  os.FileInfo // of file

	// file is closed after db, since closing any descriptor of the file drops the
	// locks that SQLite holds on it in this process.
	file *os.File

	users atomic.Int32 // the index and the callers of acquire; the last one closes it
}

// release releases the result of [Index.acquire].
func (g *generation) release() error {
	if g.users.Add(-1) > 0 {
		return nil
	}
	return errors.Join(g.db.Close(), g.file.Close())
}

func (x *Index) wordsPath(number int) string { return x.generationBase(number) + ".db" }
func (x *Index) stampPath(number int) string { return x.generationBase(number) + ".stamp" }

func (x *Index) generationBase(number int) string {
	if number == 0 {
		return filepath.Join(x.dir, "words")
	}
	return filepath.Join(x.dir, "words-"+strconv.Itoa(number))
}

// rebuildPath is the path at which a rebuild writes the next generation.
func (x *Index) rebuildPath() string { return filepath.Join(x.dir, "new.db") }

// generationFile matches the files of generations: 1 the number, 2 the kind.
var generationFile = regexp.MustCompile(`^(?:new|words(?:-(\d{1,9}))?)\.(db|stamp)(?:-wal|-shm|-journal|\.new)?$`)

// newest returns the number of the current generation. A stamp counts, since it shows
// that a file was lost.
func newest(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	number := 0
	for _, e := range entries {
		if match := generationFile.FindStringSubmatch(e.Name()); match != nil &&
			match[0] == "words-"+match[1]+"."+match[2] {
			n, _ := strconv.Atoi(match[1]) //nolint:errcheck // up to nine digits
			number = max(number, n)
		}
	}
	return number, nil
}

// removeOthers deletes the files of earlier generations and of killed rebuilds. The
// caller must hold the lock. Where the system does not delete open files, those remain
// until the next sync.
func (x *Index) removeOthers() {
	number, err := newest(x.dir)
	if err != nil {
		return
	}
	removeGenerations(x.dir, number) //nolint:errcheck // the next writer tries again
}

// removeGenerations deletes the files of all generations but one.
func removeGenerations(dir string, except int) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		match := generationFile.FindStringSubmatch(e.Name())
		if match == nil {
			continue
		}
		n, _ := strconv.Atoi(match[1]) //nolint:errcheck // none: 0
		if n != except || e.Name()[0] == 'n' {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// acquire returns the newest generation, which the caller must release; nil if it is
// damaged.
func (x *Index) acquire(locked bool) (*generation, error) {
	x.mu.RLock()
	g := x.words
	if g != nil && !x.stale(g) && (!locked || g.limited == nil) {
		g.users.Add(1)
		x.mu.RUnlock()
		return g, nil
	}
	x.mu.RUnlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.reopen(locked); err != nil || x.words == nil {
		return nil, err
	}
	x.words.users.Add(1)
	return x.words, nil
}

// stale reports whether there is a newer generation than g, or another file in
// its place.
func (x *Index) stale(g *generation) bool {
	number, err := newest(x.dir)
	if err != nil {
		return false // the folder cannot be read now; the open file can
	}
	now, err := os.Stat(x.wordsPath(number))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return number != g.number || !os.SameFile(now, g.opened) ||
		g.limited != nil && (now.Size() != g.opened.Size() || !now.ModTime().Equal(g.opened.ModTime()))
}

// reopen opens the newest generation, unless it is open. The caller must hold mu and, if
// locked is set, the write lock.
func (x *Index) reopen(locked bool) error {
	if x.words != nil && !x.stale(x.words) && (!locked || x.words.limited == nil) {
		return nil
	}
	if x.words != nil && x.words.limited != nil {
		x.retire() // while it is open, SQLite opens it read-only again
	}
	g, err := x.openNewest(locked)
	if err != nil && !words.IsDamage(err) {
		return err
	}
	x.retire()
	x.words, x.damage = g, err
	return nil
}

// retire releases the current generation. The caller must hold mu.
func (x *Index) retire() {
	if x.words != nil {
		x.words.release() //nolint:errcheck // nothing more is read from it or written to it
		x.words = nil
	}
}

// lose releases a generation that was found damaged while it was open.
func (x *Index) lose(g *generation, damage error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.words == g {
		x.retire()
		x.damage, x.lost = damage, g.number
	}
}

// openNewest opens the newest generation. If no sync has signed it, it is checked under
// the lock, unless another process is writing, whose commits are sound.
func (x *Index) openNewest(locked bool) (*generation, error) {
	number, err := newest(x.dir)
	if err != nil {
		return nil, err
	}
	g, err := x.openNumber(number, locked)
	if now, listErr := newest(x.dir); err != nil && listErr == nil && now != number {
		return x.openNewest(locked) // another process replaced it meanwhile
	}
	return g, err
}

func (x *Index) openNumber(number int, locked bool) (*generation, error) {
	if x.damage != nil && number == x.lost {
		return nil, x.damage
	}
	signed, err := x.isSigned(number)
	if err == nil && signed {
		return x.openGeneration(number, locked)
	}
	if err != nil && !words.IsDamage(err) {
		return nil, err
	}
	if !locked {
		unlock, ok, lockErr := x.lock()
		if lockErr == nil && ok {
			defer unlock() //nolint:errcheck // closing a lock's file lets go of it in any case
			return x.openNewest(true)
		}
		if lockErr != nil && err != nil {
			return nil, err
		}
		return x.openGeneration(number, false)
	}
	if err != nil {
		return nil, err
	}
	g, err := x.openGeneration(number, true)
	if err != nil || g.limited != nil {
		return g, err
	}
	if g.limited = words.Check(g.db); words.IsDamage(g.limited) {
		return nil, errors.Join(g.limited, g.release())
	}
	if g.limited == nil {
		g.limited = x.sign(number)
	}
	return g, nil
}

// openGeneration opens a keyword index, read-only if it cannot be written or the disk is
// full. If make is set, it creates a missing one.
func (x *Index) openGeneration(number int, make bool) (*generation, error) {
	path := x.wordsPath(number)
	flags := os.O_RDWR
	if make {
		flags |= os.O_CREATE
	}
	file, limited := os.OpenFile(path, flags, 0o600)
	if errors.Is(limited, fs.ErrNotExist) {
		return nil, &words.DamageError{Why: "the file " + filepath.Base(path) + " is missing"}
	}
	err := limited
	if limited != nil {
		if file, err = os.Open(path); err != nil {
			return nil, limited
		}
	}
	g := &generation{number: number, file: file}
	g.users.Store(1)
	if g.opened, err = file.Stat(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err = limited; err == nil { // otherwise SQLite would open it, and fail at the first write
		if g.db, err = words.Open(path, words.ReadWrite); err == nil {
			return g, nil
		}
	}
	if g.limited = err; !words.IsDamage(err) {
		if g.db, err = words.Open(path, words.ReadOnly); err == nil {
			return g, nil
		}
	}
	if !words.IsDamage(err) {
		err = g.limited
	}
	return nil, errors.Join(err, file.Close())
}

// sign notes after a sync which file it left, so that another one is checked when it is
// opened. The stamp is removed before the first write.
func (x *Index) sign(number int) error {
	state, err := fileState(x.wordsPath(number))
	if err != nil {
		return err
	}
	return writeWhole(x.stampPath(number), []byte(state))
}

func fileState(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintln(info.Size(), info.ModTime().UnixNano()), nil
}

// isSigned reports whether a generation's file is the one that was signed. It returns a
// damage error if the file is missing or empty.
func (x *Index) isSigned(number int) (bool, error) {
	signed, err := os.ReadFile(x.stampPath(number))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	state, err := fileState(x.wordsPath(number))
	if errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(state, "0 ") {
		return false, &words.DamageError{Why: "the file " + filepath.Base(x.wordsPath(number)) + " is missing"}
	}
	return state == string(signed), err
}

// writeWhole replaces a file atomically.
func writeWhole(path string, text []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
