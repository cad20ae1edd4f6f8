package files

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// BusyTimeout is how long a statement waits for readers and writers, of this process
// and of others. The longest is a backup, which reads some 100 MB a second.
const BusyTimeout = 30 * time.Second

// Open returns the SQLite database at path, or one in memory if path is empty. It has a
// rollback journal, which maps nothing into memory, so that no other program can crash
// this one by changing the files next to a database. Settings
// are those of the driver: mode, immutable, _txlock, and _pragma, which is run on
// each connection.
func Open(path string, settings url.Values) (*sql.DB, error) {
	if path == "" {
		path = ":memory:"
	} else {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if path = filepath.ToSlash(absolute); !strings.HasPrefix(path, "/") { // C:/…
			path = "/" + path
		}
		path = (&url.URL{Path: path}).EscapedPath()
	}
	wait := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", BusyTimeout.Milliseconds())}}
	return sql.Open("sqlite", "file:"+path+"?"+wait.Encode()+"&"+settings.Encode())
}

// UseJournal gives a file with a write-ahead log, and what is in that log, a rollback
// journal. While another process has the file open with its log, it stays as it is,
// which costs nothing but a later call.
func UseJournal(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "PRAGMA journal_mode(truncate)")
	if Code(err)&0xff == sqlite3.SQLITE_BUSY {
		return nil
	}
	return err
}

// Code returns the extended result code of an SQLite error; 0 for other errors.
func Code(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code()
	}
	return 0
}
