package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lifehub/internal/database"
	"lifehub/internal/wrap"

	sqlite3 "modernc.org/sqlite/lib"
)

// checkTime bounds a check that the user waits for.
const checkTime = 3 * time.Second

// DamagedError says that the database cannot be relied on. The file is left
// as it is.
// Why: docs/design/conversations-and-storage.md.
type DamagedError struct {
	Path   string
	Why    string
	Backup *Backup // the newest that is whole; nil: there is none
}

func (e *DamagedError) Error() string {
	text := fmt.Sprintf("%s is damaged: %s", e.Path, e.Why)
	if e.Backup != nil {
		return text + fmt.Sprintf("; `lifehub chats restore` restores the backup of %s and keeps the damaged file", e.Backup.Time.Local().Format("2006-01-02 15:04"))
	}
	return text + "; there is no intact backup; `lifehub chats restore` starts an empty file and keeps the damaged one"
}

// Check looks for damage after an unclean end. The error is a [*DamagedError] if
// there is some.
func (d *File) Check(ctx context.Context) error {
	if !d.Unclean() {
		return nil
	}
	why, err := integrity(ctx, d.Read)
	if err != nil {
		return fmt.Errorf("check conversations: %w", err)
	}
	if why != "" {
		return d.mark.damaged(ctx, why)
	}
	d.mark.unclean = false
	return nil
}

// Unclean reports whether the file was not closed, and nobody has checked it since.
func (d *File) Unclean() bool { return d.mark != nil && d.mark.unclean }

// integrity says what is wrong with a database; "": nothing.
func integrity(ctx context.Context, db *sql.DB) (string, error) {
	var report string
	err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&report)
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

// isDamage reports whether an error is that of a damaged file.
func isDamage(err error) bool {
	return primary(err) == sqlite3.SQLITE_CORRUPT || primary(err) == sqlite3.SQLITE_NOTADB
}

// examine looks at a closed file that is not the one that was closed, without
// changing anything. It returns what to warn of if it can be used.
func (s *openMark) examine(ctx context.Context) (warning string, err error) {
	why, err := examineClosed(ctx, s.path)
	if err != nil {
		return "", err
	}
	if why != "" {
		return "", s.damaged(ctx, why)
	}
	warning = filepath.Base(s.path) + " was changed after LifeHub closed it. Its structure is intact; its text may have been changed by another program or a disk error."
	if b := NewestBackup(ctx, s.path); b != nil {
		warning += fmt.Sprintf(" `lifehub chats restore` restores the backup of %s instead.", b.Time.Local().Format("2006-01-02 15:04"))
	}
	return warning, nil
}

// examineClosed says what is wrong with a closed database; "": nothing.
func examineClosed(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() == 0 {
		return "the file is empty", nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	db, err := database.Open(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}) // nothing is written next to it
	if err != nil {
		return "", err
	}
	defer db.Close()
	why, err := integrity(ctx, db)
	if err != nil && ctx.Err() != nil {
		return "", nil // too large to wait for; what is found later is said then
	}
	if err != nil || why != "" {
		return why, err
	}
	if version, err := SchemaVersion(db); err != nil || version == 0 {
		return "its tables are gone", nil
	}
	return "", nil
}

func (s *openMark) damaged(ctx context.Context, why string) error {
	return &DamagedError{Path: s.path, Why: why, Backup: NewestBackup(ctx, s.path)}
}

// NewestBackup returns the newest backup of a database file that is whole;
// nil: there is none.
func NewestBackup(ctx context.Context, path string) *Backup {
	list, _ := Backups(path) // a folder that can't be read has none to offer
	for _, b := range list {
		if why, err := examineClosed(ctx, b.Path); err == nil && why == "" {
			return &b
		}
	}
	return nil
}

// Restore replaces a database that nobody has open with a backup, or with
// nothing when that is nil. What was there is next to it then, under the
// returned name.
func Restore(path string, from *Backup) (aside string, err error) {
	defer wrap.Error(&err, "restore %s", path)
	state, err := os.OpenFile(path+".state", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer state.Close()
	if !lock(state) {
		return "", errors.New("another LifeHub has it open; close it first")
	}
	temp := path + ".restoring"
	if from != nil {
		if err := copyFile(from.Path, temp); err != nil {
			return "", err
		}
	}
	aside = asideName(path)
	for _, ending := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+ending, aside+ending); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if from != nil {
		if err := os.Rename(temp, path); err != nil {
			return "", err
		}
	}
	return aside, errors.Join(state.Truncate(0), state.Sync())
}

// setAside keeps a copy of a damaged log with the file that it belongs to.
func (s *openMark) setAside() error {
	aside := asideName(s.path)
	return errors.Join(copyFile(s.path, aside), copyFile(s.path+"-wal", aside+"-wal"))
}

// asideMark is what the name of a damaged file has between the database's and the time.
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

// emptied reports whether an empty file was once more: a log or a backup of it is there.
func (s *openMark) emptied() bool {
	info, err := os.Stat(s.path)
	if err != nil || info.Size() > 0 {
		return false
	}
	log, err := os.Stat(s.path + "-wal")
	backups, _ := Backups(s.path)
	return err == nil && log.Size() > 0 || len(backups) > 0
}

// Aside lists the files that were set aside because they were damaged.
func (d *File) Aside() []string {
	if d.Path == "" {
		return nil
	}
	names, _ := filesWithPrefix(filepath.Dir(d.Path), filepath.Base(d.Path)+asideMark) // a folder that can't be read held no database
	return names
}
