package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// migrations take the schema from one version to the next; the number of
// them is the newest version. A migration that was released never changes.
var migrations = []string{
	// 1: conversations are trees of messages; a turn is a pair of them. The
	// answer's row is there from the turn's beginning and grows with it. Order
	// is by id, never by the clock; times are milliseconds since 1970.
	`
CREATE TABLE conversations (
	id      TEXT PRIMARY KEY,
	title   TEXT NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	head    INTEGER NOT NULL DEFAULT 0  -- message the next one answers: the end of the path shown; 0: none yet
) STRICT;

CREATE TABLE turns (
	id           TEXT PRIMARY KEY,       -- conversation.number
	conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
	number       INTEGER NOT NULL,       -- from 1 in its conversation
	state        TEXT NOT NULL CHECK (state IN ('open', 'done', 'cut', 'failed')),
	error        TEXT NOT NULL DEFAULT '',
	detail       TEXT NOT NULL DEFAULT '{}', -- JSON: sources, citations, metrics
	started      INTEGER NOT NULL,
	ended        INTEGER,                -- NULL while it is open
	UNIQUE (conversation, number)
) STRICT;

CREATE TABLE messages (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
	parent       INTEGER REFERENCES messages(id), -- NULL: a conversation begins here
	turn         TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
	role         TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
	text         TEXT NOT NULL,
	created      INTEGER NOT NULL,
	UNIQUE (turn, role)
) STRICT;
CREATE INDEX messages_by_conversation ON messages (conversation, id);
CREATE INDEX messages_by_parent ON messages (parent);
`,
}

// NewerSchemaError says that a newer LifeHub has written the file.
type NewerSchemaError struct{ Has, Knows int }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("it was written by a newer LifeHub (schema %d, this one knows %d): update LifeHub, or point LIFEHUB_HOME at another folder", e.Has, e.Knows)
}

// migrate brings the schema to version len(steps). Killed at any point it
// leaves the old schema or the new one. path "" has no file to back up.
func migrate(db *sql.DB, path string, steps []string) error {
	version, err := schemaVersion(db)
	if err != nil {
		return err
	}
	if version == len(steps) {
		return nil
	}
	if version > 0 && version < len(steps) && path != "" {
		if err := backup(db, fmt.Sprintf("%s.v%d.bak", path, version)); err != nil {
			return fmt.Errorf("back up schema %d before bringing it up to date: %w", version, err)
		}
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Asked again inside the lock: another process may have been quicker.
	if version, err = schemaVersion(tx); err != nil {
		return err
	}
	if version > len(steps) {
		return &NewerSchemaError{Has: version, Knows: len(steps)}
	}
	for i := version; i < len(steps); i++ {
		if _, err := tx.Exec(steps[i]); err != nil {
			return fmt.Errorf("bring schema to version %d: %w", i+1, err)
		}
	}
	if err := setSchemaVersion(tx, len(steps)); err != nil {
		return err
	}
	return tx.Commit()
}

type querier interface {
	QueryRow(query string, args ...any) *sql.Row
}

// schemaVersion is 0 for an empty file.
func schemaVersion(db querier) (int, error) {
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'schema'").Scan(&tables); err != nil {
		return 0, err
	}
	if tables == 0 {
		return 0, nil
	}
	var version int
	err := db.QueryRow("SELECT version FROM schema").Scan(&version)
	return version, err
}

func setSchemaVersion(tx *sql.Tx, version int) error {
	_, err := tx.Exec("CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL) STRICT; DELETE FROM schema; INSERT INTO schema VALUES (?)", version)
	return err
}

// backup writes a whole and compact copy of the database to path, over an
// older copy of the same name.
func backup(db *sql.DB, path string) error {
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
	if _, err := db.Exec("VACUUM INTO ?", partial); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
