package store

import (
	"context"
	"database/sql"
	"fmt"
)

// NewerSchemaError reports a file written by a newer LifeHub.
type NewerSchemaError struct{ Has, Knows int }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("written by a newer LifeHub (schema %d, this one knows %d): update LifeHub, or point "+
		"LIFEHUB_HOME at another folder", e.Has, e.Knows)
}

// Migrate brings the schema to version len(steps) in one transaction. A kill
// leaves either the old or the new schema. If path is empty, no backup is made.
func Migrate(db *sql.DB, path string, steps []string) error {
	version, err := SchemaVersion(db)
	if err != nil {
		return err
	}
	if version == len(steps) {
		return nil
	}
	if version > 0 && version < len(steps) && path != "" {
		if err := Copy(context.Background(), db, fmt.Sprintf("%s.v%d.bak", path, version)); err != nil {
			return fmt.Errorf("back up schema %d before the migration: %w", version, err)
		}
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Check again inside the lock: another process may have migrated meanwhile.
	if version, err = SchemaVersion(tx); err != nil {
		return err
	}
	if version > len(steps) {
		return &NewerSchemaError{Has: version, Knows: len(steps)}
	}
	var pages int
	if err := tx.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	if version == 0 && pages > 1 {
		return damaged(context.Background(), path, "its tables are missing")
	}
	for i := version; i < len(steps); i++ {
		if _, err := tx.Exec(steps[i]); err != nil {
			return fmt.Errorf("migrate to schema version %d: %w", i+1, err)
		}
	}
	if _, err := tx.Exec(`CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL) STRICT;
		DELETE FROM schema; INSERT INTO schema VALUES (?)`, len(steps)); err != nil {
		return err
	}
	return tx.Commit()
}

type querier interface {
	QueryRow(query string, args ...any) *sql.Row
}

// SchemaVersion returns the version of the schema; 0 for an empty file.
func SchemaVersion(db querier) (int, error) {
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
