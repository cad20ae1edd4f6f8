package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keptBackups is how many daily backups there are at most.
const keptBackups = 5

// backupTime is how a backup's name tells when it was made, in UTC: names sort by time.
const backupTime = "20060102T150405Z"

// Backup is a copy of the conversations as they once were.
type Backup struct {
	Path string
	Time time.Time
}

func backupFolder(path string) string { return filepath.Join(filepath.Dir(path), "backups") }

// Backups lists the daily backups of a database file, the newest first.
func Backups(path string) ([]Backup, error) {
	names, err := beside(backupFolder(path), filepath.Base(path)+".")
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

// beside lists the files of a folder whose names begin with prefix.
func beside(folder, prefix string) ([]string, error) {
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

// BackUp makes a backup if the newest is a day old, and deletes those that
// are too many. Others may read and write meanwhile.
func (s *Store) BackUp(ctx context.Context) error {
	if s.path == "" {
		return nil
	}
	if err := s.backUp(ctx); err != nil {
		return fmt.Errorf("back up conversations: %w", err)
	}
	return nil
}

func (s *Store) backUp(ctx context.Context) error {
	list, err := Backups(s.path)
	if err != nil {
		return err
	}
	now := s.now().UTC()
	if len(list) > 0 && now.Sub(list[0].Time) < 24*time.Hour {
		return nil
	}
	var some bool
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM conversations`).Scan(&some); err != nil || !some {
		return err
	}
	if err := os.MkdirAll(backupFolder(s.path), 0o700); err != nil {
		return err
	}
	made := Backup{filepath.Join(backupFolder(s.path), filepath.Base(s.path)+"."+now.Format(backupTime)), now}
	// A connection of its own: the readers may not do it, the writer is waited for.
	db, err := connect(s.path, 1, "")
	if err != nil {
		return err
	}
	if err := errors.Join(backup(ctx, db, made.Path), db.Close()); err != nil {
		return err
	}
	list = append([]Backup{made}, list...)
	for _, old := range list[min(len(list), keptBackups):] {
		if err := os.Remove(old.Path); err != nil {
			return err
		}
	}
	return nil
}

// backup writes a whole and compact copy of the database to path, over an
// older copy of the same name.
func backup(ctx context.Context, db *sql.DB, path string) error {
	partial := path + ".part"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// VACUUM INTO takes an empty file, and keeps its mode.
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", partial); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// copies are all files that hold earlier states of the database: the daily
// backups and those made before a new schema.
func (s *Store) copies() ([]string, error) {
	if s.path == "" {
		return nil, nil
	}
	list, err := Backups(s.path)
	if err != nil {
		return nil, err
	}
	names, err := beside(filepath.Dir(s.path), filepath.Base(s.path)+".v")
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".bak" })
	for _, b := range list {
		names = append(names, b.Path)
	}
	return names, nil
}

// removeFromBackups takes conversations out of every copy.
func (s *Store) removeFromBackups(ctx context.Context, conversations []string) error {
	copies, err := s.copies()
	if err != nil {
		return err
	}
	var failed []error
	for _, path := range copies {
		if err := removeFromCopy(ctx, path, conversations); err != nil {
			failed = append(failed, fmt.Errorf("they are still in the backup %s: %w", path, err))
		}
	}
	return errors.Join(failed...)
}

func removeFromCopy(ctx context.Context, path string, conversations []string) error {
	db, err := connect(path, 1, "_txlock=immediate")
	if err != nil {
		return err
	}
	var gone int64
	for _, id := range conversations {
		result, err := db.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
		if err != nil {
			return errors.Join(err, db.Close())
		}
		n, _ := result.RowsAffected() // this driver always knows
		gone += n
	}
	var traced bool // a backup of before a migration may know no traces
	err = db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'traces'`).Scan(&traced)
	if err == nil && traced {
		var n int
		n, err = removeTracesNaming(ctx, db, conversations)
		gone += int64(n)
	}
	if err == nil && gone > 0 {
		err = scrub(ctx, db)
	}
	return errors.Join(err, db.Close())
}
