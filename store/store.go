// Package store keeps conversations in one SQLite file. Begin reading at
// [Open]; what a turn writes is in turn.go, the tables are in schema.go.
//
// Everything a method has acknowledged is on the disk: it survives a kill -9
// and, with synchronous=FULL, a power cut. Several LifeHub processes may use
// the file at once; their writes queue up.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	// also the database/sql driver "sqlite"

	"lifehub/store/draft"
	"lifehub/store/file"
	"lifehub/store/trace"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	Traces *trace.Traces
	Drafts *draft.Drafts // what is typed and not sent

	file *file.File
	now  func() time.Time
}

// Open opens the database file, making it and its folder if need be, and
// brings its schema up to date. An older schema is copied to
// <path>.v<N>.bak first; a newer one is refused with [NewerSchemaError], a
// damaged file with [*DamagedError]. The file is readable by its owner only.
func Open(path string) (*Store, error) {
	err := registerFunctions()
	var d *file.File
	if err == nil {
		d, err = file.Open(path, migrations)
	}
	if err != nil {
		return nil, fmt.Errorf("open conversations in %s: %w", path, err)
	}
	return newStore(d), nil
}

// InMemory opens a database that leaves nothing on the disk: what --no-save
// writes to.
func InMemory() (*Store, error) {
	err := registerFunctions()
	var d *file.File
	if err == nil {
		d, err = file.InMemory(migrations)
	}
	if err != nil {
		return nil, fmt.Errorf("open conversations in memory: %w", err)
	}
	return newStore(d), nil
}

func newStore(d *file.File) *Store {
	return &Store{file: d, Traces: trace.New(d), Drafts: draft.New(d), now: time.Now}
}

// Close keeps what has come of open traces, folds the write-ahead log into the
// file where the disk has room for it, and closes it.
func (s *Store) Close() error {
	s.Traces.Close()
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("close conversations in %s: %w", s.file.Path, err)
	}
	return nil
}

// Warning is what the user should know about how the file was found; "":
// nothing.
func (s *Store) Warning() string { return s.file.Warning }

// Check looks for damage after an unclean end, which takes a while in a large
// file; others may read and write meanwhile. After a clean end it does
// nothing. The error is a [*DamagedError] if there is damage.
func (s *Store) Check(ctx context.Context) error {
	var damage *file.DamagedError
	if err := s.file.Check(ctx); err != nil && !errors.As(err, &damage) {
		return fmt.Errorf("check conversations: %w", err)
	} else if err != nil {
		return err
	}
	return nil
}

// BackUp makes a backup if the newest is a day old, and deletes those that
// are too many. Others may read and write meanwhile.
func (s *Store) BackUp(ctx context.Context) error {
	var some bool
	err := s.file.Read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM conversations`).Scan(&some)
	if err == nil && some {
		err = s.file.BackUp(ctx, s.now().UTC())
	}
	if err != nil {
		return fmt.Errorf("back up conversations: %w", err)
	}
	return nil
}

// Aside lists the files that were set aside because they were damaged. They
// are never touched again, by Remove either.
func (s *Store) Aside() []string { return s.file.Aside() }
