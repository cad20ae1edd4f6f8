// Package words splits notes and questions into terms, and stores a vault's notes,
// passages and terms in a SQLite file, the keyword index.
package words

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	sqlite3 "modernc.org/sqlite/lib"

	"lifehub/internal/files"
)

// schemaVersion is part of every keyword index; one of another version is rebuilt from
// the notes. Raise it when the schema, the terms, what is read of a note or the division into
// passages change.
const schemaVersion = "23"

// schema is that of a vault's keyword index. The text of each note is stored once,
// compressed; passages are ranges of it; the FTS5 table stores no text.
const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
	id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, path_key TEXT NOT NULL,
	size INTEGER NOT NULL, mtime INTEGER NOT NULL, hash BLOB NOT NULL,
	title TEXT NOT NULL, title_key TEXT NOT NULL, name_key TEXT NOT NULL,
	date TEXT NOT NULL, tags TEXT NOT NULL, outside INTEGER NOT NULL, copy_of TEXT NOT NULL,
	problem TEXT NOT NULL, language TEXT NOT NULL, text BLOB NOT NULL);
CREATE INDEX notes_state ON notes (path, size, mtime, problem);
CREATE INDEX notes_title ON notes (title_key);
CREATE INDEX notes_name ON notes (name_key);
CREATE INDEX notes_copy ON notes (copy_of) WHERE copy_of != '';
CREATE INDEX notes_path ON notes (path_key);
CREATE TABLE tags (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) WITHOUT ROWID;
CREATE INDEX tags_note ON tags (note);
CREATE TABLE aliases (
	key TEXT NOT NULL, note INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (key, note)) WITHOUT ROWID;
CREATE INDEX aliases_note ON aliases (note);
CREATE TABLE links (
	note INTEGER NOT NULL, line INTEGER NOT NULL, target TEXT NOT NULL, base TEXT NOT NULL, shown TEXT NOT NULL,
	key TEXT NOT NULL, wiki INTEGER NOT NULL, embed INTEGER NOT NULL);
CREATE INDEX links_note ON links (note);
CREATE INDEX links_base ON links (base);
CREATE INDEX links_key ON links (key) WHERE key != '';
CREATE TABLE passages (
	id INTEGER PRIMARY KEY, note INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
	line INTEGER NOT NULL, end_line INTEGER NOT NULL, heading TEXT NOT NULL, parents INTEGER NOT NULL,
	listing INTEGER NOT NULL, terms INTEGER NOT NULL, key BLOB NOT NULL);
CREATE INDEX passages_note ON passages (note, key);
CREATE INDEX passages_key ON passages (key);
CREATE TABLE dates (
	note INTEGER NOT NULL, line INTEGER NOT NULL, day INTEGER NOT NULL, until INTEGER NOT NULL,
	end_line INTEGER NOT NULL, PRIMARY KEY (note, line, day, until)) WITHOUT ROWID;
CREATE INDEX dates_day ON dates (day);
CREATE TABLE due (note INTEGER NOT NULL, day INTEGER NOT NULL);
CREATE INDEX due_note ON due (note);
CREATE TABLE languages (code TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE skipped (
	path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE frequent (term TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (title, heading, body,
	content='', contentless_delete=1,
	tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co So' tokenchars '+#§'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
-- in bytes: a transaction of notes is one segment, and fewer are merged
INSERT INTO words (words, rank) VALUES ('hashsize', 16777216);
`

// Modes of Open.
const (
	ReadWrite = "rw"
	ReadOnly  = "ro"
)

// Make creates a keyword index that only its owner can read.
func Make(path string) (*sql.DB, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make words: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("make words: %w", err)
	}
	return Open(path, ReadWrite)
}

// Open opens a keyword index, and creates the schema in an empty one.
func Open(path, mode string) (*sql.DB, error) {
	// A cache of 64 MiB holds the pages of bulk indexing in a large vault.
	settings := url.Values{
		"mode": {mode}, "_txlock": {"immediate"},
		"_pragma": {"cache_size(-65536)", "temp_store(memory)"},
	}
	if mode == ReadWrite {
		settings["_pragma"] = append(settings["_pragma"], "synchronous(normal)")
	}
	db, err := files.Open(path, settings)
	if err != nil {
		return nil, fmt.Errorf("open words: %w", err)
	}
	db.SetMaxOpenConns(4)
	if mode == ReadWrite {
		err = files.UseJournal(context.Background(), db)
	}
	if err == nil {
		err = prepareWords(db)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open words: %w", err), db.Close())
	}
	return db, nil
}

func prepareWords(db *sql.DB) error {
	var tables int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return laySchema(db)
	}
	var version string
	err := db.QueryRow(`SELECT value FROM meta WHERE key = 'version'`).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) || files.Code(err) == sqlite3.SQLITE_ERROR { // no such row or table
		return &DamageError{"it is not a LifeHub index"}
	}
	if err == nil && version != schemaVersion {
		return &DamageError{fmt.Sprintf("it is of version %s, and this LifeHub writes version %s", version,
			schemaVersion)}
	}
	return err
}

func laySchema(db *sql.DB) error {
	tx, err := db.Begin() // immediate, so that two processes do not both create the schema
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	var tables int
	if err := tx.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil || tables > 0 {
		return err
	}
	if _, err := tx.Exec(schema); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO meta VALUES ('version', ?)`, schemaVersion); err != nil {
		return err
	}
	return tx.Commit()
}

// Check reads every page of the file, which is necessary after an unclean exit.
func Check(db *sql.DB) error {
	var verdict string
	if err := db.QueryRow(`PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return &DamageError{verdict}
	}
	_, err := db.Exec(`INSERT INTO words (words) VALUES ('integrity-check')`)
	if files.Code(err) == sqlite3.SQLITE_ERROR { // the tables of the FTS5 index are inconsistent
		return &DamageError{err.Error()}
	}
	return err
}

// Remove deletes a keyword index, with SQLite's files next to it.
func Remove(path string) error {
	var all error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		all = errors.Join(all, os.RemoveAll(path+suffix))
	}
	return all
}

func Meta(ctx context.Context, db files.Querier, key string) string {
	var value string
	if db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&value) != nil {
		return ""
	}
	return value
}

func SetMeta(ctx context.Context, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, key, value string,
) error {
	_, err := db.ExecContext(ctx, `INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE
		SET value = excluded.value`, key, value)
	return err
}
