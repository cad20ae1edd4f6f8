package database

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// file is a database with all connections of this process, which share the mapped
// index of its log.
type file struct {
	path string // empty for a database in memory

	mu    sync.RWMutex // read-locked during each call of SQLite
	conns []*conn      // in the order in which they joined, followed by those that have not
	dead  error        // error of a connection that could not be closed; nil if all could

	own   sync.Mutex  // guards the fields below, and conns while mu is read-locked
	index os.FileInfo // -shm as opened and grown; nil if not seen yet
	log   os.FileInfo // -wal
	main  os.FileInfo // the database file
}

// files are the databases of this process by path, because SQLite also shares the
// index between connections to the same path.
var files struct {
	sync.Mutex
	at map[string]*file
}

func fileAt(path string) *file {
	files.Lock()
	defer files.Unlock()
	if files.at == nil {
		files.at = map[string]*file{}
	}
	if files.at[path] == nil {
		files.at[path] = &file{path: path}
	}
	return files.at[path]
}

// connect creates a connection without accessing the file.
func (f *file) connect(to *connector) (*conn, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.dead != nil {
		return nil, f.dead
	}
	opened, err := to.driver.Open(to.address)
	if err != nil {
		return nil, err
	}
	made := &conn{file: f, begin: to.begin, raw: opened.(rawConn), rows: map[*rows]bool{}, stmts: map[*stmt]bool{}}
	made.raw.RegisterCommitHook(func() int32 { // on close, SQLite would commit a transaction that a fault interrupted
		if made.lost != nil {
			return 1
		}
		return 0
	})
	f.own.Lock()
	defer f.own.Unlock()
	f.conns = append(f.conns, made)
	return made, nil
}

// close closes a connection with its rows and statements.
func (c *conn) close() error {
	for r := range c.rows {
		_ = r.raw.Close() // repeats the error of the last call
	}
	for s := range c.stmts {
		_ = s.raw.Close() // repeats the error of the last call
	}
	c.raw.RegisterCommitHook(nil)
	err := c.raw.Close()
	c.file.own.Lock()
	defer c.file.own.Unlock()
	c.file.forget(c)
	return err
}

// do calls SQLite. If there is a fault, or the log is shorter than the index
// requires, it closes all connections to the file.
func (c *conn) do(call func() error) error {
	fault, err := c.call(call)
	var sqliteErr *sqlite.Error
	if fault == nil && !(errors.As(err, &sqliteErr) && sqliteErr.Code() == sqlite3.SQLITE_IOERR_SHORT_READ) {
		return err
	}
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	if c.lost == nil { // otherwise another call had a fault first
		c.file.lose(c.file.path + ": another program changed the files next to it")
	}
	return &lostError{c.lost.why, true}
}

func (c *conn) call(call func() error) (fault, err error) {
	c.file.mu.RLock()
	defer c.file.mu.RUnlock()
	if c.lost != nil {
		return nil, c.lost
	}
	return guard(call)
}

// guard calls SQLite and returns any fault as an error.
func guard(call func() error) (fault, err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		switch cause := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			fault = cause
		default:
			panic(cause)
		}
	}()
	return nil, call()
}

// lose closes all connections, with mu locked. First it replaces the mapped index
// by private memory, because closing reads it: each connection rolls its
// transaction back, and the last one moves the log into the file.
func (f *file) lose(why string) {
	cut, err := isolate(f.path + "-shm")
	for _, c := range slices.Backward(slices.Clone(f.conns)) { // the first certainly has the log that all have written to
		c.lost = &lostError{why: why}
		fault, closed := guard(c.close)
		err = errors.Join(err, fault, closed)
	}
	f.conns = nil
	if held, _ := isOpen(f.path + "-shm"); err != nil || held {
		f.dead = errors.Join(errors.New(why+", and it could not be closed; start LifeHub again"), err)
	}
	if cut { // SQLite would take the remaining part of the index for complete
		_ = os.Truncate(f.path+"-shm", 0) // it does not matter if the file is missing
	}
	f.own.Lock()
	defer f.own.Unlock()
	f.index, f.log = nil, nil // check reads them without mu
}

// join is called when a connection has opened its files and may start to write.
// It records the identity of the files next to the database.
func (f *file) join(c *conn, logs bool) {
	if f.take(c, logs) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.lost == nil {
		f.lose(f.path + ": another program replaced the files next to it")
	}
}

// take reports false if the connection may have opened other files than the
// others.
func (f *file) take(c *conn, logs bool) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.own.Lock()
	defer f.own.Unlock()
	if !f.forget(c) {
		return true // the connection was lost meanwhile
	}
	c.joined = true
	behind := slices.IndexFunc(f.conns, func(other *conn) bool { return !other.joined })
	if behind < 0 {
		behind = len(f.conns)
	}
	f.conns = slices.Insert(f.conns, behind, c)
	if !logs {
		return true
	}
	index, noIndex := os.Stat(f.path + "-shm")
	log, noLog := os.Stat(f.path + "-wal")
	main, noMain := os.Stat(f.path)
	if _, orphan := isOpen(f.path + "-wal"); noMain == nil && (noIndex != nil || noLog != nil || orphan) {
		return false
	}
	if f.index == nil && noMain == nil {
		f.index, f.log, f.main = index, log, main
	}
	return true
}

// forget removes a connection from the list and reports whether it was there.
func (f *file) forget(c *conn) bool {
	n := len(f.conns)
	f.conns = slices.DeleteFunc(f.conns, func(other *conn) bool { return c == other })
	return len(f.conns) < n
}

// check closes all connections if a file next to the database is not the one that
// was opened, or the index became shorter. c must not be in a transaction; it may
// be nil.
func (f *file) check(c *conn) {
	changed := f.changed()
	if changed == "" {
		return
	}
	if changed == "-wal" && c != nil { // other processes cannot read a log that was deleted
		_, _ = c.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)", nil)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed() != "" {
		f.lose(f.path + ": another program changed " + filepath.Base(f.path) + changed)
	}
}

// changed returns the suffix of a changed file next to the database, or "". If
// the database file itself was replaced or removed, the open files remain
// consistent.
func (f *file) changed() (ending string) {
	f.own.Lock()
	defer f.own.Unlock()
	if f.index == nil {
		return ""
	}
	if index, err := os.Stat(f.path + "-shm"); err != nil || !os.SameFile(index, f.index) || index.Size() < f.index.Size() {
		ending = "-shm"
	} else if log, err := os.Stat(f.path + "-wal"); err != nil || !os.SameFile(log, f.log) {
		ending = "-wal"
	} else {
		f.index = index
	}
	if ending == "" {
		return ""
	}
	if main, err := os.Stat(f.path); err != nil || !os.SameFile(main, f.main) {
		return ""
	}
	return ending
}
