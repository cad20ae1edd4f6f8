package rag

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // registers the driver "sqlite"
)

// schemaVersion is part of every words file; a file of another version is
// rebuilt from the notes. Raise it when the schema, the terms or the way
// notes are cut change.
const schemaVersion = "11"

// schema is one vault's words. The text of a note is kept compressed, once;
// passages are ranges of it; the word index keeps no text of its own.
const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
	id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, lower_path TEXT NOT NULL,
	size INTEGER NOT NULL, mtime INTEGER NOT NULL, hash BLOB NOT NULL,
	title TEXT NOT NULL, title_key TEXT NOT NULL, name_key TEXT NOT NULL,
	date TEXT NOT NULL, dated INTEGER NOT NULL, tags TEXT NOT NULL, outside INTEGER NOT NULL, problem TEXT NOT NULL, language TEXT NOT NULL, text BLOB NOT NULL);
CREATE INDEX notes_state ON notes (path, size, mtime, problem);
CREATE INDEX notes_title ON notes (title_key);
CREATE INDEX notes_name ON notes (name_key);
CREATE INDEX notes_date ON notes (date);
CREATE INDEX notes_lower ON notes (lower_path);
CREATE TABLE tags (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) WITHOUT ROWID;
CREATE INDEX tags_note ON tags (note);
CREATE TABLE aliases (key TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (key, note)) WITHOUT ROWID;
CREATE INDEX aliases_note ON aliases (note);
CREATE TABLE passages (
	id INTEGER PRIMARY KEY, note INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
	line INTEGER NOT NULL, end_line INTEGER NOT NULL, heading TEXT NOT NULL, listing INTEGER NOT NULL,
	terms INTEGER NOT NULL, key BLOB NOT NULL);
CREATE INDEX passages_note ON passages (note, key);
CREATE INDEX passages_key ON passages (key);
CREATE TABLE languages (code TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE skipped (path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE frequent (term TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (title, heading, body, exact,
	content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
`

// openWords opens a words file, or makes an empty one. A file that is not
// whole is an error.
func openWords(path string) (*sql.DB, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open words: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("open words: %w", err)
	}
	// The cache of 64 MiB keeps bulk indexing of a big vault in memory.
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(wal)", "synchronous(normal)", "cache_size(-65536)", "temp_store(memory)",
	}}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open words: %w", err)
	}
	name := (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(absolute)}).String()
	db, err := sql.Open("sqlite", name+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("open words: %w", err)
	}
	db.SetMaxOpenConns(4)
	if err := prepareWords(db); err != nil {
		var failure *sqlite.Error
		if errors.As(err, &failure) && failure.Code() == 4874 { // SQLITE_IOERR_SHMSIZE: no space for shared memory
			err = fmt.Errorf("the disk is full: %w", err)
		}
		return nil, errors.Join(fmt.Errorf("open words: %w", err), db.Close())
	}
	return db, nil
}

func prepareWords(db *sql.DB) error {
	tx, err := db.Begin() // immediate: two processes do not both lay the schema
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	var tables int
	if err := tx.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		if _, err := tx.Exec(schema); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO meta VALUES ('version', ?)`, schemaVersion); err != nil {
			return err
		}
		return tx.Commit()
	}
	var version string
	if err := tx.QueryRow(`SELECT value FROM meta WHERE key = 'version'`).Scan(&version); err != nil {
		return err
	}
	if version != schemaVersion {
		return fmt.Errorf("the index has version %s, not %s", version, schemaVersion)
	}
	return nil
}

// checkWords looks at every page of the file: the price of finding out
// whether a file that was not closed in order is whole.
func checkWords(db *sql.DB) error {
	var verdict string
	if err := db.QueryRow(`PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errors.New(verdict)
	}
	_, err := db.Exec(`INSERT INTO words (words) VALUES ('integrity-check')`)
	return err
}

// removeWords deletes a words file with all that SQLite keeps beside it.
func removeWords(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.RemoveAll(path + suffix); err != nil {
			return fmt.Errorf("remove damaged words: %w", err)
		}
	}
	return nil
}

// isDamage tells whether an error of SQLite means that the file is not what
// it was.
func isDamage(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Code() & 0xff {
	case 1: // SQLITE_ERROR: a table or column is missing
		return strings.Contains(failure.Error(), "no such") || strings.Contains(failure.Error(), "malformed") ||
			strings.Contains(failure.Error(), "fts5")
	case 11, 26: // SQLITE_CORRUPT, SQLITE_NOTADB
		return true
	}
	return false
}

func getMeta(ctx context.Context, db *sql.DB, key string) string {
	var value string
	if db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&value) != nil {
		return ""
	}
	return value
}

func setMeta(ctx context.Context, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, key, value string,
) error {
	_, err := db.ExecContext(ctx, `INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
	return err
}
