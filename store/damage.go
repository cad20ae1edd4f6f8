package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lifehub/internal/files"

	sqlite3 "modernc.org/sqlite/lib"
)

// checkTime bounds an integrity check that the user waits for.
const checkTime = 3 * time.Second

// DamagedError reports a damaged database. The file is left unchanged. See
// docs/design/conversations-and-storage.md.
type DamagedError struct {
	Path   string
	Why    string
	Backup *Backup // the newest intact backup; nil if there is none
}

func (e *DamagedError) Error() string {
	text := fmt.Sprintf("%s is damaged: %s", e.Path, e.Why)
	if e.Backup != nil {
		made := e.Backup.Time.Local().Format("2006-01-02 15:04")
		return text + "; `lifehub chats restore` restores the backup of " + made + " and keeps the damaged file"
	}
	return text + "; no backup is intact; `lifehub chats restore` starts an empty file and keeps the damaged one"
}

// quickCheck returns a description of the damage of a database, or "" if it is
// intact.
func quickCheck(ctx context.Context, db *sql.DB) (string, error) {
	var report string
	err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&report)
	switch {
	case err != nil && isDamage(err):
		return err.Error(), nil
	case err != nil:
		return "", err
	case report != "ok":
		return strings.ReplaceAll(report, "\n", "; "), nil
	}
	return "", nil
}

// isDamage reports whether an SQLite error means that the file is damaged.
func isDamage(err error) bool {
	code := files.Code(err) & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// damageLeft returns a description of the damage of a database that no process
// has open, or "" if there is no known damage. It checks the whole file only
// after an unclean exit: a mark in the lock file remains only after a kill or a
// power cut, as does a log of an earlier version. Nothing is written, except that
// SQLite rolls an interrupted transaction back.
func damageLeft(ctx context.Context, path string, users *os.File) string {
	mark, _ := users.Stat() // taken for none
	unclean, mode := mark != nil && mark.Size() > 0, "ro"
	for _, ending := range besides {
		if left, err := os.Stat(path + ending); err == nil && left.Size() > 0 {
			if unclean = true; ending == "-journal" {
				mode = "rw"
			}
		}
	}
	if !unclean {
		return ""
	}
	why, _ := checkFile(ctx, path, url.Values{"mode": {mode}}) // opening the file reports any other error
	return why
}

// emptied returns a [*DamagedError] if the database has no content and its newest
// backup has, since what is deleted is deleted from the backups too.
func (d *File) emptied(ctx context.Context) error {
	if some, err := holds(ctx, d.Read, d.content); some || err != nil {
		return err
	}
	from := NewestBackup(ctx, d.Path)
	if from == nil {
		return nil
	}
	db, err := files.Open(from.Path, unchanging)
	if err != nil {
		return err
	}
	defer db.Close()
	if some, _ := holds(ctx, db, d.content); !some {
		return nil
	}
	return &DamagedError{Path: d.Path, Why: "it is empty, but its backup is not (to start without it, delete " +
		backupFolder(d.Path) + ")", Backup: from}
}

// holds runs a query for content of a database, which returns a boolean.
func holds(ctx context.Context, db *sql.DB, content string) (some bool, err error) {
	return some, db.QueryRowContext(ctx, content).Scan(&some)
}

// unchanging are the settings for a file that nothing writes: SQLite creates no
// files next to it.
var unchanging = url.Values{"mode": {"ro"}, "immutable": {"1"}}

// checkFile returns a description of the damage of a database file. The check
// stops without a finding after checkTime.
func checkFile(ctx context.Context, path string, settings url.Values) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	db, err := files.Open(path, settings)
	if err != nil {
		return "", err
	}
	defer db.Close()
	why, err := quickCheck(ctx, db)
	if err != nil && ctx.Err() != nil {
		return "", nil // too large to check in time
	}
	return why, err
}

func damaged(ctx context.Context, path, why string) error {
	return &DamagedError{Path: path, Why: why, Backup: NewestBackup(ctx, path)}
}

// NewestBackup returns the newest intact backup of a database file, or nil.
func NewestBackup(ctx context.Context, path string) *Backup {
	list, _ := Backups(path) // an unreadable folder contains no usable backup
	for _, b := range list {
		info, err := os.Stat(b.Path)
		if err != nil || info.Size() == 0 {
			continue
		}
		if why, err := checkFile(ctx, b.Path, unchanging); err == nil && why == "" {
			return &b
		}
	}
	return nil
}

// Restore replaces a database, which no process may have open, by a backup, or
// removes it if from is nil. The replaced file is renamed to the returned name.
func Restore(path string, from *Backup) (aside string, err error) {
	defer files.Wrap(&err, "restore %s", path)
	users, err := openUsers(path)
	if err != nil {
		return "", err
	}
	defer users.Close()
	if !lock(users) {
		return "", errors.New("another LifeHub has it open; close it first")
	}
	temp := path + ".restoring"
	if from != nil {
		if err := copyFile(from.Path, temp); err != nil {
			return "", err
		}
	}
	aside = asideName(path)
	for _, ending := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Rename(path+ending, aside+ending); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if from != nil {
		if err := os.Rename(temp, path); err != nil {
			return "", err
		}
	}
	return aside, nil
}

// asideMark separates the database's name from the time in the name of a damaged
// file.
const asideMark = ".damaged-"

func asideName(path string) string {
	return path + asideMark + time.Now().UTC().Format("20060102T150405.000Z")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// Aside lists damaged files that were replaced by a backup.
func (d *File) Aside() []string {
	if d.Path == "" {
		return nil
	}
	// an unreadable folder contains no database
	names, _ := filesWithPrefix(filepath.Dir(d.Path), filepath.Base(d.Path)+asideMark)
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(filepath.Ext(name), "-") })
}
