package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"lifehub/internal/files"
)

// readers is the number of concurrent reads.
const readers = 4

// File is an open database file. It is safe for concurrent use.
type File struct {
	Path    string  // empty for a database in memory
	Write   *sql.DB // a single connection, so that writes queue here rather than in SQLite
	Read    *sql.DB // read-only connections to the same file
	Owners  owners
	Warning string   // why the file cannot be written; empty if it can
	content string   // query that reports whether anything is saved
	users   *os.File // locked by each process that has the database open; nil for a database in memory
}

// Open opens a file, creating it and its folder if necessary, and runs the
// migration steps that its schema lacks. content is a query that reports whether
// anything is saved.
func openFile(path string, steps []string, content string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	d := &File{Path: path, content: content, Owners: owners{dir: path + ".owners"}}
	os.Remove(path + ".state") // left by an earlier version; errors do not matter
	if d.users, err = openUsers(path); err != nil {
		return nil, err
	}
	if err := d.connect(steps); err != nil {
		if isDamage(err) {
			err = damaged(context.Background(), path, err.Error())
		}
		return nil, errors.Join(err, d.users.Close())
	}
	return d, nil
}

// inUse is in the lock file while a process has the database open, and after a kill
// or a power cut.
const inUse = "open\n"

// openUsers opens the lock file next to a database, which every process that has
// the database open locks. It is never deleted, since locks belong to the file
// and not to its name.
func openUsers(path string) (*os.File, error) {
	return os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
}

// connect checks for damage after an unclean exit, opens the file and migrates
// it.
func (d *File) connect(steps []string) error {
	if lock(d.users) { // no other process has the database open
		_ = d.RemovePartial() // retried by the next process
		if why := damageLeft(context.Background(), d.Path, d.users); why != "" {
			return damaged(context.Background(), d.Path, why)
		}
	}
	err := files.LockShared(d.users) // blocks while another process checks the file
	if err != nil {
		return err
	}
	if _, err := d.users.WriteAt([]byte(inUse), 0); err != nil {
		problem, _ := files.ExplainFault(err)
		return fmt.Errorf("%s: %w", cmp.Or(problem, "mark it as open"), err)
	}
	if d.Write, err = Connect(d.Path, 1, "_txlock=immediate"); err != nil {
		return err
	}
	if err := files.UseJournal(context.Background(), d.Write); err != nil {
		return errors.Join(err, d.Write.Close())
	}
	if err := Migrate(d.Write, d.Path, steps); err != nil {
		return errors.Join(err, d.Write.Close())
	}
	if d.Read, err = Connect(d.Path, readers, "_pragma=query_only(1)"); err != nil {
		return errors.Join(err, d.Write.Close())
	}
	if err := d.emptied(context.Background()); err != nil {
		return errors.Join(err, d.Read.Close(), d.Write.Close())
	}
	return nil
}

// InMemory opens a database in memory.
func inMemory(steps []string) (*File, error) {
	db, err := files.Open("", url.Values{"_txlock": {"immediate"}, "_pragma": {"foreign_keys(1)"}})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have its own database
	if err := Migrate(db, "", steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &File{Write: db, Read: db}, nil
}

// Close closes the file.
func (d *File) Close() error {
	d.Owners.close()
	if d.Path == "" {
		return d.Write.Close()
	}
	err := errors.Join(d.Read.Close(), d.Write.Close())
	if err == nil && lock(d.users) { // the last process
		err = d.users.Truncate(0)
	}
	return errors.Join(err, files.Unlock(d.users))
}

// Update runs fn in a transaction, which is rolled back on error.
func (d *File) Update(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := d.Write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// makePrivate creates the file if it does not exist, and restricts access to its
// owner. SQLite gives the journal next to it the same mode.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if errors.Is(err, fs.ErrPermission) { // the file belongs to another user, but could be opened
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Connect opens path with the settings that every connection needs. secure_delete
// overwrites deleted text, so that it does not remain in the file.
func Connect(path string, connections int, extra string) (*sql.DB, error) {
	settings, err := url.ParseQuery(extra)
	if err != nil {
		return nil, err
	}
	settings["_pragma"] = append([]string{"synchronous(full)", "foreign_keys(1)", "secure_delete(1)"},
		settings["_pragma"]...)
	db, err := files.Open(path, settings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := db.Ping(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
