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
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"lifehub/internal/files"
)

// CannotWrite reports whether a file could not be opened because its location is
// not writable: the disk is full, or permission is denied.
func CannotWrite(err error) bool {
	switch files.Code(err) {
	case sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_WRITE,
		sqlite3.SQLITE_IOERR_TRUNCATE:
		return true
	}
	switch files.Code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, syscall.EDQUOT)
}

// besides are the files next to a database that can have a part of its content.
var besides = []string{"-journal", "-wal"}

// Snapshot reads a database into memory, without writing next to it. Changes to the
// snapshot are lost.
func Snapshot(path string, steps []string) (*File, error) {
	image, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	if len(image) < 100 { // the size of its header
		return inMemory(steps) // nothing was ever written
	}
	image[18], image[19] = 1, 1 // its versions for writing and reading: databases in memory cannot have a write-ahead log
	d, err := files.Open("", url.Values{"_txlock": {"immediate"}, "_pragma": {"foreign_keys(1)"}})
	if err != nil {
		return nil, err
	}
	d.SetMaxOpenConns(1)
	d.SetMaxIdleConns(1)
	d.SetConnMaxLifetime(0)
	if err = load(d, image); err == nil {
		err = Migrate(d, "", steps)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read into memory: %w", err), d.Close())
	}
	return &File{Write: d, Read: d, Warning: "nothing can be written to " + path + "; it is only read"}, nil
}

// readWhole reads a database as of its last transaction. If an interrupted one or
// a log is next to it, SQLite completes a temporary copy.
func readWhole(path string) (image []byte, err error) {
	var left []string
	for _, ending := range besides {
		if info, err := os.Stat(path + ending); err == nil && info.Size() > 0 {
			left = append(left, ending)
		}
	}
	if left == nil {
		return os.ReadFile(path)
	}
	dir, err := os.MkdirTemp("", "lifehub-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	whole := filepath.Join(dir, filepath.Base(path))
	for _, ending := range append(left, "") {
		if err := copyFile(path+ending, whole+ending); err != nil {
			return nil, err
		}
	}
	db, err := Connect(whole, 1, "")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(files.UseJournal(context.Background(), db), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(whole)
}

func load(db *sql.DB, image []byte) error {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	return errors.Join(conn.Raw(func(driver any) error {
		c, ok := driver.(interface{ Deserialize(buf []byte) error })
		if !ok {
			return errors.New("not supported by this SQLite")
		}
		return c.Deserialize(image)
	}), conn.Close())
}
