// Package file manages one SQLite file that survives kills and power cuts. It
// opens, migrates, checks, backs up and restores the file, independently of its
// tables. Start at [Open].
package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lifehub/internal/database"
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
func Open(path string, steps []string, content string) (*File, error) {
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
		if why := damageLeft(context.Background(), d.Path); why != "" {
			return damaged(context.Background(), d.Path, why)
		}
	}
	err := files.LockShared(d.users) // blocks while another process checks the file
	if err != nil {
		return err
	}
	if d.Write, err = Connect(d.Path, 1, "_txlock=immediate"); err != nil {
		return err
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
func InMemory(steps []string) (*File, error) {
	db, err := database.Open("", url.Values{"_txlock": {"immediate"}, "_pragma": {"foreign_keys(1)"}})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have its own database
	if err := Migrate(db, "", steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &File{Write: db, Read: db}, nil
}

// Close moves the write-ahead log into the file if the disk has space, and closes
// it.
func (d *File) Close() error {
	d.Owners.close()
	if d.Path == "" {
		return d.Write.Close()
	}
	// While another process reads, the log cannot be moved; the last process
	// moves it. On a full disk the log remains, with all its data, until the next
	// opening.
	_, checkpoint := d.Write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if primary(checkpoint) == sqlite3.SQLITE_FULL {
		checkpoint = nil
	}
	return errors.Join(checkpoint, d.Read.Close(), d.Write.Close(), files.Unlock(d.users))
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
// owner. SQLite gives the log next to it the same mode.
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
	settings["_pragma"] = append([]string{"journal_mode(wal)", "synchronous(full)", "foreign_keys(1)", "secure_delete(1)"}, settings["_pragma"]...)
	db, err := database.Open(path, settings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := patiently(db.Ping); err != nil {
		return nil, errors.Join(plainly(path, err), db.Close())
	}
	return db, nil
}

// patiently retries while another process holds the file. SQLite itself waits in
// all cases except when it switches a new file to write-ahead logging.
func patiently(do func() error) error {
	const pause = 20 * time.Millisecond
	err := do()
	for waited := time.Duration(0); primary(err) == sqlite3.SQLITE_BUSY && waited < database.BusyTimeout; waited += pause {
		time.Sleep(pause)
		err = do()
	}
	return err
}

// plainly describes I/O errors in words. If the memory shared by SQLite's
// connections cannot be created, it finds the cause by creating a file next to
// the database.
func plainly(path string, err error) error {
	if code(err) != sqlite3.SQLITE_IOERR_SHMSIZE {
		return err
	}
	if problem, _ := files.ExplainFault(files.TryWriting(filepath.Dir(path))); problem != "" {
		return fmt.Errorf("%s: %w", problem, err)
	}
	return fmt.Errorf("the disk reports an error: %w", err)
}

// code returns the extended result code of an SQLite error; 0 for other errors.
func code(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code()
	}
	return 0
}

// primary returns the primary result code of an SQLite error.
func primary(err error) int { return code(err) & 0xff }
