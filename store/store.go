// Package store keeps conversations in one SQLite file. Begin reading at
// [Open]; what a turn writes is in turn.go, the tables are in schema.go.
//
// Everything a method has acknowledged is on the disk: it survives a kill -9
// and, with synchronous=FULL, a power cut. Several LifeHub processes may use
// the file at once; their writes queue up.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // also the database/sql driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a statement waits for another process's write, in
// milliseconds. A write of ours takes a few; more than this is a stuck disk.
const busyTimeout = 10_000

// readers is how many reads may run at once beside the one writer.
const readers = 4

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path  string  // "" when it is in memory
	write *sql.DB // one connection: writes queue here and not in SQLite
	read  *sql.DB // the same file, kept from writing
	now   func() time.Time

	tracing sync.WaitGroup // the goroutines that keep traces
	closing chan struct{}  // closed to end them
	once    sync.Once

	owners  owners
	session *session // nil: in memory
	warning string
}

// Open opens the database file, making it and its folder if need be, and
// brings its schema up to date. An older schema is copied to
// <path>.v<N>.bak first; a newer one is refused with [NewerSchemaError], a
// damaged file with [*DamagedError]. The file is readable by its owner only.
func Open(path string) (*Store, error) {
	s, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open conversations in %s: %w", path, err)
	}
	return s, nil
}

func open(path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := registerFunctions(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	s := &Store{path: path, now: time.Now, closing: make(chan struct{}), owners: owners{dir: path + ".owners"}}
	if s.session, err = beginSession(path); err != nil {
		return nil, err
	}
	if err := s.connect(); err != nil {
		var said *DamagedError
		var newer *NewerSchemaError
		if !errors.As(err, &said) && !errors.As(err, &newer) && (isDamage(err) || s.session.other) {
			err = s.session.damaged(context.Background(), err.Error())
		}
		return nil, errors.Join(err, s.session.file.Close()) // the mark stays: the next one shall look again
	}
	return s, nil
}

// connect looks at how the file was left, opens it and brings it up to date.
func (s *Store) connect() (err error) {
	path := s.path
	switch {
	case s.session.other:
		if s.warning, err = s.session.examine(context.Background()); err != nil {
			return err
		}
	case s.session.unclean && s.session.emptied():
		return s.session.damaged(context.Background(), "the file is empty")
	case s.session.lostLog != "":
		if err := s.session.setAside(); err != nil {
			return err
		}
		s.warning = s.session.lostLog + ". A copy of it is kept."
	}
	if s.write, err = connect(path, 1, "_txlock=immediate"); err != nil {
		return err
	}
	if err := migrate(s.write, path, migrations); err != nil {
		return errors.Join(err, s.write.Close())
	}
	if s.read, err = connect(path, readers, "_pragma=query_only(1)"); err != nil {
		return errors.Join(err, s.write.Close())
	}
	return s.session.opened()
}

// InMemory opens a database that leaves nothing on the disk: what --no-save
// writes to.
func InMemory() (*Store, error) {
	if err := registerFunctions(); err != nil {
		return nil, fmt.Errorf("open conversations in memory: %w", err)
	}
	db, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open conversations in memory: %w", err)
	}
	db.SetMaxOpenConns(1) // each connection would be a database of its own
	if err := migrate(db, "", migrations); err != nil {
		return nil, fmt.Errorf("open conversations in memory: %w", errors.Join(err, db.Close()))
	}
	return &Store{write: db, read: db, now: time.Now, closing: make(chan struct{})}, nil
}

// Close keeps what has come of open traces, folds the write-ahead log into the
// file where the disk has room for it, and closes it.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closing) })
	s.tracing.Wait()
	s.owners.close()
	if s.path == "" {
		return s.write.Close()
	}
	// Another process that still reads keeps the log; the last one folds it. On
	// a full disk it stays too, with all that it holds, for the next opening.
	_, checkpoint := s.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if isFull(checkpoint) {
		checkpoint = nil
	}
	if err := errors.Join(checkpoint, s.read.Close(), s.write.Close(), s.session.end()); err != nil {
		return fmt.Errorf("close conversations in %s: %w", s.path, err)
	}
	return nil
}

// makePrivate makes the file if it is not there, and takes it from everybody
// but its owner. SQLite gives the log beside it the same mode.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if errors.Is(err, fs.ErrPermission) { // another user's file, which the system let us open
		err = nil
	}
	return errors.Join(err, f.Close())
}

// connect opens path with the settings that each connection needs.
// secure_delete overwrites removed text, so that it does not stay in the file.
func connect(path string, connections int, extra string) (*sql.DB, error) {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") { // C:/…
		name = "/" + name
	}
	query := fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
		"&_pragma=foreign_keys(1)&_pragma=secure_delete(1)&%s", busyTimeout, extra)
	dsn := url.URL{Scheme: "file", Path: name, RawQuery: query}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := patiently(db.Ping); err != nil {
		return nil, errors.Join(plainly(err), db.Close())
	}
	return db, nil
}

// patiently tries again while another process has the file. SQLite waits by
// itself for everything but the change of a new file to the write-ahead log.
func patiently(do func() error) error {
	const pause = 20 * time.Millisecond
	err := do()
	for waited := time.Duration(0); isBusy(err) && waited < busyTimeout*time.Millisecond; waited += pause {
		time.Sleep(pause)
		err = do()
	}
	return err
}

// plainly says in words what SQLite tells only by number: there is no space
// for the memory that its connections share.
func plainly(err error) error {
	var failure *sqlite.Error
	if errors.As(err, &failure) && failure.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
		return fmt.Errorf("the disk is full: %w", err)
	}
	return err
}

func isBusy(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == sqlite3.SQLITE_BUSY
}

// isFull reports whether the disk had no room.
func isFull(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == sqlite3.SQLITE_FULL
}
