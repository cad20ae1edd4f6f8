package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lifehub/internal/files"
)

// keptBackups is the maximum number of daily backups.
const keptBackups = 5

// backupTime is the format of the UTC time in a backup's name; names sort by it.
const backupTime = "20060102T150405Z"

// partialEnd is the suffix of a copy that is not complete yet.
const partialEnd = ".part"

// Backup is a copy of the database as of Time.
type Backup struct {
	Path string
	Time time.Time
}

func backupFolder(path string) string { return filepath.Join(filepath.Dir(path), "backups") }

// Backups lists the daily backups of a database file, newest first.
func Backups(path string) ([]Backup, error) {
	names, err := filesWithPrefix(backupFolder(path), filepath.Base(path)+".")
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var list []Backup
	for _, name := range names {
		made, err := time.Parse("."+backupTime, filepath.Ext(name))
		if err == nil {
			list = append(list, Backup{name, made})
		}
	}
	slices.SortFunc(list, func(a, b Backup) int { return b.Time.Compare(a.Time) })
	return list, nil
}

// filesWithPrefix lists the files in a folder whose names begin with prefix.
func filesWithPrefix(folder, prefix string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, filepath.Join(folder, e.Name()))
		}
	}
	return names, nil
}

// Copy writes a consistent, compact and checked copy of the database to path,
// replacing any earlier copy. The statements are run on the copy before it is
// published.
func Copy(ctx context.Context, db *sql.DB, path string, statements ...string) (err error) {
	partial := path + partialEnd
	if err := remove(partial); err != nil {
		return err
	}
	// VACUUM INTO accepts an empty file and preserves its mode.
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), remove(partial)) }() // it has its name, or is of no use
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", partial); err != nil {
		return err
	}
	made, err := Connect(partial, 1, "")
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, failed := made.ExecContext(ctx, statement); err == nil {
			err = failed
		}
	}
	why, failed := quickCheck(ctx, made)
	if err = errors.Join(err, failed, made.Close(), f.Sync()); err == nil && why != "" {
		err = fmt.Errorf("the copy is damaged: %s", why)
	}
	if err == nil && !stillThere(f) {
		// with what it held, by [File.RemovePartial]
		err = fmt.Errorf("given up, since it was deleted: %w", fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// RemovePartial deletes incomplete backups left by a kill. For a database in
// memory it does nothing.
func (d *File) RemovePartial() error {
	if d.Path == "" {
		return nil
	}
	names, err := filesWithPrefix(backupFolder(d.Path), filepath.Base(d.Path)+".")
	for _, name := range names {
		if strings.Contains(name, partialEnd) {
			err = errors.Join(err, remove(name))
		}
	}
	return err
}

// remove deletes a file; it is not an error if the file does not exist.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// BackUp makes a backup if something is saved and the newest one is at least a day
// old at time now, and deletes the oldest ones beyond [keptBackups]. It returns a
// [*DamagedError] instead of backing up a damaged database, and an error if the
// copy would take half of the free space. The statements are run on the backup
// before it is published. While another process makes one, and for a database in
// memory, BackUp does nothing.
func (d *File) BackUp(ctx context.Context, now time.Time, statements ...string) (err error) {
	if d.Path == "" {
		return nil
	}
	if some, err := holds(ctx, d.Read, d.content); err == nil && !some {
		return nil // the check reports an error
	}
	working, err := os.OpenFile(d.Path+".backup.lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if !lock(working) {
		return working.Close()
	}
	defer func() { err = errors.Join(err, files.Unlock(working)) }()
	list, err := Backups(d.Path)
	if err != nil || len(list) > 0 && now.Sub(list[0].Time) < 24*time.Hour {
		return err
	}
	made := Backup{filepath.Join(backupFolder(d.Path), filepath.Base(d.Path)+"."+now.Format(backupTime)), now}
	if err := os.MkdirAll(filepath.Dir(made.Path), 0o700); err != nil {
		return err
	}
	free, err := files.FreeSpace(filepath.Dir(made.Path))
	if err != nil {
		return err
	}
	if size := d.Size(); free < 2*size {
		return fmt.Errorf("%d MB are free on the disk, and %d are needed", free>>20, 2*size>>20)
	}
	why, err := quickCheck(ctx, d.Read)
	if err != nil {
		return err
	}
	if why != "" {
		return damaged(ctx, d.Path, why)
	}
	// A separate connection: the read connections are read-only, and the write
	// connection may be busy.
	db, err := Connect(d.Path, 1, "")
	if err != nil {
		return err
	}
	if err := errors.Join(Copy(ctx, db, made.Path, statements...), db.Close()); err != nil {
		return err
	}
	for _, old := range list[min(len(list), keptBackups-1):] {
		err = errors.Join(err, os.Remove(old.Path))
	}
	return err
}

// Size returns the size of the database in bytes; 0 if it cannot be read.
func (d *File) Size() int64 {
	info, err := os.Stat(d.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Copies returns all files with earlier states of the database: daily backups and
// copies made before schema migrations.
func (d *File) Copies() ([]string, error) {
	if d.Path == "" {
		return nil, nil
	}
	list, err := Backups(d.Path)
	if err != nil {
		return nil, err
	}
	names, err := filesWithPrefix(filepath.Dir(d.Path), filepath.Base(d.Path)+".v")
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".bak" })
	for _, b := range list {
		names = append(names, b.Path)
	}
	return names, nil
}
