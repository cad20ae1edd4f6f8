// Package file holds one SQLite file that survives a kill and a power cut: it is
// opened, brought up to date, checked, backed up and restored here, whatever
// its tables are. Start at [Open].
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
	"lifehub/internal/diskerr"
	"lifehub/internal/filelock"
)

// readers is how many reads may run at once besides the one writer.
const readers = 4

// File is an open file. It is safe for concurrent use.
type File struct {
	Path    string  // "" when it is in memory
	Write   *sql.DB // one connection: writes queue here and not in SQLite
	Read    *sql.DB // the same file, kept from writing
	Owners  owners
	Warning string   // why nothing can be written; "" if it can
	users   *os.File // locked by each process that has the database open; nil in memory
}

// Open opens a file, making it and its folder if need be, and takes the
// steps that its schema lacks.
func Open(path string, steps []string) (*File, error) {
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
	d := &File{Path: path, Owners: owners{dir: path + ".owners"}}
	os.Remove(path + ".state") // of an earlier version; ignored if it stays
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

// openUsers opens the file next to a database that everybody who has the
// database open has locked. It is never deleted: its lock belongs to it.
func openUsers(path string) (*os.File, error) {
	return os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
}

// connect checks how the file was left, opens it and brings it up to date.
func (d *File) connect(steps []string) error {
	if lock(d.users) { // the first to open it
		_ = d.RemovePartial() // tried again by the next
		if why := damageLeft(context.Background(), d.Path); why != "" {
			return damaged(context.Background(), d.Path, why)
		}
	}
	err := filelock.Share(d.users) // waits while another checks
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
	return nil
}

// InMemory opens a database that leaves nothing on the disk.
func InMemory(steps []string) (*File, error) {
	db, err := database.Open("", url.Values{"_txlock": {"immediate"}, "_pragma": {"foreign_keys(1)"}})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would be its own database
	if err := Migrate(db, "", steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &File{Write: db, Read: db}, nil
}

// Close folds the write-ahead log into the file where the disk has room for it.
func (d *File) Close() error {
	d.Owners.close()
	if d.Path == "" {
		return d.Write.Close()
	}
	// Another process that still reads holds on to the log; the last one folds it. On
	// a full disk it stays too, with all that it holds, for the next opening.
	_, checkpoint := d.Write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if primary(checkpoint) == sqlite3.SQLITE_FULL {
		checkpoint = nil
	}
	return errors.Join(checkpoint, d.Read.Close(), d.Write.Close(), filelock.Release(d.users))
}

// Update runs fn in one transaction; after an error nothing of it is saved.
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

// makePrivate makes the file if it is not there, and takes it from everybody
// but its owner. SQLite gives the log next to it the same mode.
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

// Connect opens path with the settings that each connection needs.
// secure_delete overwrites removed text, so that it does not stay in the file.
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

// patiently tries again while another process has the file. SQLite waits
// for everything but the change of a new file to the write-ahead log.
func patiently(do func() error) error {
	const pause = 20 * time.Millisecond
	err := do()
	for waited := time.Duration(0); primary(err) == sqlite3.SQLITE_BUSY && waited < database.BusyTimeout; waited += pause {
		time.Sleep(pause)
		err = do()
	}
	return err
}

// plainly says in words what SQLite says only by number: the memory that its
// connections share cannot be made. Why not, a file next to it tells.
func plainly(path string, err error) error {
	if code(err) != sqlite3.SQLITE_IOERR_SHMSIZE {
		return err
	}
	if says, _ := diskerr.Explain(diskerr.TryWriting(filepath.Dir(path))); says != "" {
		return fmt.Errorf("%s: %w", says, err)
	}
	return fmt.Errorf("the disk reports an error: %w", err)
}

// code is the extended result code of an error of SQLite; 0: it is another's.
func code(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code()
	}
	return 0
}

// primary is the result code without what extends it.
func primary(err error) int { return code(err) & 0xff }
