package words

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"lifehub/internal/files"
)

// DamageError reports that the keyword index is damaged or of another version of
// LifeHub, so that it has to be rebuilt from the notes.
type DamageError struct{ Why string }

func (e *DamageError) Error() string { return e.Why }

// IsDamage reports whether an error proves that the keyword index has to be rebuilt.
// Every other error is about the machine and not about the index: a full disk, too few
// open files, an unwritable folder, a lock. The index is not replaced because of those.
// Why: docs/design/index-files.md.
func IsDamage(err error) bool {
	var damage *DamageError
	if errors.As(err, &damage) {
		return true
	}
	code := files.Code(err) & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// Explain adds advice to an error of the machine.
func Explain(err error) error {
	if err == nil || IsDamage(err) {
		return err
	}
	code := files.Code(err)
	problem, advice := files.ExplainFault(err)
	switch {
	case code&0xff == sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full, free some space: %w", err)
	case code&0xff == sqlite3.SQLITE_IOERR: // SQLite does not distinguish the two
		return fmt.Errorf("the disk reports an error or is full, check it and free some space: %w", err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || code&0xff == sqlite3.SQLITE_READONLY:
		return fmt.Errorf("the index cannot be written, make its folder and files writable: %w", err)
	case problem != "":
		return fmt.Errorf("%s, %s: %w", problem, advice, err)
	case code&0xff == sqlite3.SQLITE_CANTOPEN: // SQLite does not distinguish the two
		return fmt.Errorf("the index cannot be opened, raise `ulimit -n` or make its folder and files writable: %w",
			err)
	case code&0xff == sqlite3.SQLITE_BUSY || code&0xff == sqlite3.SQLITE_LOCKED || code&0xff == sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("another program has the index open, try again: %w", err)
	}
	return err
}
