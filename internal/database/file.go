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

// file is a database with all connections of this process to it, which share
// the mapped index of its log.
type file struct {
	path string // "": in memory

	mu    sync.RWMutex // held for reading by each call of SQLite
	conns []*conn      // in the order in which they joined, then those that have not
	dead  error        // a connection could not be closed; nil: all could

	own   sync.Mutex  // of conns and what follows; of conns only while mu is held for reading
	index os.FileInfo // -shm as it was opened and has grown; nil: none was seen
	log   os.FileInfo // -wal
	main  os.FileInfo // the database
}

// files are the databases of the process by their paths: SQLite has the same
// table.
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

// connect opens a connection, without touching the file.
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
	made.raw.RegisterCommitHook(func() int32 { // SQLite would commit what a fault has cut short when it is closed
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

// close ends a connection with all that it has open.
func (c *conn) close() error {
	for r := range c.rows {
		_ = r.raw.Close() // it says again why the last call failed
	}
	for s := range c.stmts {
		_ = s.raw.Close() // likewise
	}
	c.raw.RegisterCommitHook(nil)
	err := c.raw.Close()
	c.file.own.Lock()
	defer c.file.own.Unlock()
	c.file.forget(c)
	return err
}

// do calls SQLite. A fault loses the connection, and all others to the file; so
// does a log that is shorter than its index says.
func (c *conn) do(call func() error) error {
	fault, err := c.call(call)
	var said *sqlite.Error
	if fault == nil && !(errors.As(err, &said) && said.Code() == sqlite3.SQLITE_IOERR_SHORT_READ) {
		return err
	}
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	if c.lost == nil { // else another that had a fault was first
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

// guard calls SQLite, and returns a fault in it.
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

// lose closes all connections. Nothing else runs meanwhile. They get memory of
// their own for the index first: closing one rolls its transaction back, which
// reads the index, and the last one folds the log into the file.
func (f *file) lose(why string) {
	cut, err := isolate(f.path + "-shm")
	for _, c := range slices.Backward(slices.Clone(f.conns)) { // the first has surely the log that all have written to
		c.lost = &lostError{why: why}
		fault, closed := guard(c.close)
		err = errors.Join(err, fault, closed)
	}
	f.conns = nil
	if held, _ := isOpen(f.path + "-shm"); err != nil || held {
		f.dead = errors.Join(errors.New(why+", and it could not be closed; start LifeHub again"), err)
	}
	if cut { // SQLite would take what is left of the index for whole
		_ = os.Truncate(f.path+"-shm", 0) // gone already: so much the better
	}
	f.own.Lock()
	defer f.own.Unlock()
	f.index, f.log = nil, nil // a check reads them without mu
}

// join is called when a connection has its files open: from now on it may write.
// It takes note of the files next to the database.
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

// take reports false if the connection may have other files open than the others.
func (f *file) take(c *conn, logs bool) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.own.Lock()
	defer f.own.Unlock()
	if !f.forget(c) {
		return true // it was lost
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

// forget takes a connection from the list. It reports whether it was there.
func (f *file) forget(c *conn) bool {
	n := len(f.conns)
	f.conns = slices.DeleteFunc(f.conns, func(other *conn) bool { return c == other })
	return len(f.conns) < n
}

// check closes all connections when a file next to the database is not the one
// that was opened, or an index that is shorter. c is in no transaction; nil: none
// is at hand.
func (f *file) check(c *conn) {
	changed := f.changed()
	if changed == "" {
		return
	}
	if changed == "-wal" && c != nil { // no other process finds what is in a log without a name
		_, _ = c.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)", nil)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed() != "" {
		f.lose(f.path + ": another program changed " + filepath.Base(f.path) + changed)
	}
}

// changed returns the ending of a file next to the database that is not what it
// was; "": none. Where the database itself was replaced or removed, what is open
// stays whole.
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
