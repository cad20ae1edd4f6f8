// Package store saves conversations in one SQLite file. Start at [Open]; turn.go
// has what a turn writes, schema.go the tables, file.go the file, which is migrated,
// checked, backed up and restored without knowledge of its tables.
//
// Data is on disk when a method returns: it survives a kill -9 and, because of
// synchronous=FULL, a power cut. Several LifeHub processes may use the file
// concurrently; writers queue.
package store

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"lifehub/internal/files"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	Traces *Traces

	file *File
	now  func() time.Time
}

// Open opens the database file, creating it and its folder if necessary, and
// migrates its schema. It first copies a file with an older schema to
// <path>.v<N>.bak. It rejects a newer schema with [*file.NewerSchemaError] and a
// damaged or emptied file with [*file.DamagedError]. Only the file's owner has access to it.
func Open(path string) (_ *Store, err error) {
	defer files.Wrap(&err, "open conversations in %s", path)
	if err := registerFunctions(); err != nil {
		return nil, err
	}
	d, err := openFile(path, migrations, `SELECT EXISTS (SELECT 1 FROM conversations)`)
	if err != nil {
		return nil, err
	}
	return newStore(d), nil
}

// OpenToRead is like Open for callers that only read: if the location is not
// writable, it opens a copy in memory, and Warning says so. A missing file is
// treated as empty.
func OpenToRead(path string) (_ *Store, err error) {
	s, err := Open(path)
	if err == nil || !CannotWrite(err) {
		return s, err
	}
	d, snapshot := Snapshot(path, migrations)
	if errors.Is(snapshot, fs.ErrNotExist) {
		d, snapshot = inMemory(migrations)
	}
	if snapshot != nil {
		return nil, err
	}
	return newStore(d), nil
}

// InMemory opens a database in memory, for --no-save.
func InMemory() (_ *Store, err error) {
	defer files.Wrap(&err, "open conversations in memory")
	if err := registerFunctions(); err != nil {
		return nil, err
	}
	d, err := inMemory(migrations)
	if err != nil {
		return nil, err
	}
	return newStore(d), nil
}

func newStore(d *File) *Store {
	return &Store{file: d, Traces: newTraces(d), now: time.Now}
}

// Close saves open traces, moves the write-ahead log into the file if the disk
// has space, and closes the file.
func (s *Store) Close() (err error) {
	defer files.Wrap(&err, "close conversations in %s", s.file.Path)
	s.Traces.Close()
	return s.file.Close()
}

// Warning explains why the database cannot be written; it is empty if it can.
func (s *Store) Warning() string { return s.file.Warning }

// BackUp makes a backup, without drafts, if the newest one is at least a day old,
// and deletes the oldest ones; see [file.File.BackUp]. Other goroutines and
// processes may read and write meanwhile.
func (s *Store) BackUp(ctx context.Context) (err error) {
	defer files.Wrap(&err, "back up conversations")
	return s.file.BackUp(ctx, s.now().UTC(), `DELETE FROM drafts`)
}

// Size returns the size of the files that a backup copies, in bytes.
func (s *Store) Size() int64 { return s.file.Size() }

// Aside lists damaged files that were replaced by a backup. LifeHub never changes
// them again, not even in Remove.
func (s *Store) Aside() []string { return s.file.Aside() }
