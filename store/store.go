// Package store holds conversations in one SQLite file. Begin reading at
// [Open]; what a turn writes is in turn.go, the tables are in schema.go.
//
// Everything a method has acknowledged is on the disk: it survives a kill -9
// and, with synchronous=FULL, a power cut. Several LifeHub processes may use
// the file at once; their writes queue up.
package store

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"lifehub/internal/wrap"
	"lifehub/store/file"
	"lifehub/store/trace"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	Traces *trace.Traces

	file *file.File
	now  func() time.Time
}

// Open opens the database file, making it and its folder if need be, and
// brings its schema up to date. An older schema is copied to
// <path>.v<N>.bak first; a newer one is refused with [*file.NewerSchemaError], a
// damaged file with [*file.DamagedError]. The file is readable by its owner only.
func Open(path string) (_ *Store, err error) {
	defer wrap.Error(&err, "open conversations in %s", path)
	if err := registerFunctions(); err != nil {
		return nil, err
	}
	d, err := file.Open(path, migrations)
	if err != nil {
		return nil, err
	}
	return newStore(d), nil
}

// OpenToRead is Open for whoever only reads: where nothing can be written, it
// opens a copy in memory, and Warning says so. A file that is not there has no
// conversations.
func OpenToRead(path string) (_ *Store, err error) {
	s, err := Open(path)
	if err == nil || !file.CannotWrite(err) {
		return s, err
	}
	d, snapshot := file.Snapshot(path, migrations)
	if errors.Is(snapshot, fs.ErrNotExist) {
		d, snapshot = file.InMemory(migrations)
	}
	if snapshot != nil {
		return nil, err
	}
	return newStore(d), nil
}

// InMemory opens a database that leaves nothing on the disk: what --no-save
// writes to.
func InMemory() (_ *Store, err error) {
	defer wrap.Error(&err, "open conversations in memory")
	if err := registerFunctions(); err != nil {
		return nil, err
	}
	d, err := file.InMemory(migrations)
	if err != nil {
		return nil, err
	}
	return newStore(d), nil
}

func newStore(d *file.File) *Store {
	return &Store{file: d, Traces: trace.New(d), now: time.Now}
}

// Close saves what has come of open traces, folds the write-ahead log into the
// file where the disk has room for it, and closes it.
func (s *Store) Close() (err error) {
	defer wrap.Error(&err, "close conversations in %s", s.file.Path)
	s.Traces.Close()
	return s.file.Close()
}

// Warning is why nothing can be written; "" if it can.
func (s *Store) Warning() string { return s.file.Warning }

// BackUp makes a backup, without drafts, if the newest is a day old, and deletes
// the oldest ones.
// Other goroutines and processes may read and write meanwhile. A damaged
// database is not backed up: the error is a [*file.DamagedError].
func (s *Store) BackUp(ctx context.Context) (err error) {
	defer wrap.Error(&err, "back up conversations")
	var some bool
	err = s.file.Read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM conversations`).Scan(&some)
	if err == nil && !some {
		return nil
	}
	return s.file.BackUp(ctx, s.now().UTC(), `DELETE FROM drafts`) // reports damage
}

// Aside lists the files that were set aside because they were damaged. They
// are never touched again, by Remove either.
func (s *Store) Aside() []string { return s.file.Aside() }
