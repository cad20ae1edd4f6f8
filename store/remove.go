package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"lifehub/internal/rows"
)

// Remove deletes conversations with all that was made of them, here and in
// the backups. Their text is gone from the files: from free pages, the word
// index and the write-ahead log too. The error is [ErrNoConversation] when
// one is not there; then nothing is deleted.
// How: docs/design/conversations-and-storage.md.
func (s *Store) Remove(ctx context.Context, conversations ...string) error {
	if err := s.remove(ctx, conversations); err != nil {
		return fmt.Errorf("delete conversations: %w", err)
	}
	return nil
}

func (s *Store) remove(ctx context.Context, conversations []string) error {
	err := s.update(ctx, func(tx *sql.Tx) error {
		for _, id := range conversations {
			result, err := tx.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n == 0 {
				return errors.Join(err, fmt.Errorf("%q: %w", id, ErrNoConversation))
			}
		}
		_, err := removeTracesNaming(ctx, tx, conversations)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.removeDrafts(conversations); err != nil {
		return err
	}
	if err := scrub(ctx, s.write); err != nil {
		return err
	}
	return s.removeFromBackups(ctx, conversations)
}

// connection is a database or a transaction.
type connection interface {
	rows.Querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// removeTracesNaming deletes the traces of other conversations that were told
// of these ones, as the memory does: what was said in them stands in such
// prompts, always with the id. It returns how many there were.
func removeTracesNaming(ctx context.Context, db connection, conversations []string) (int, error) {
	ids := make([]string, len(conversations))
	for i, id := range conversations {
		ids[i] = regexp.QuoteMeta(id)
	}
	naming := regexp.MustCompile(`\b(` + strings.Join(ids, "|") + `)\b`)
	turns, err := texts(ctx, db, `SELECT turn FROM traces`)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, turn := range turns {
		var body []byte
		if err := db.QueryRowContext(ctx, `SELECT body FROM traces WHERE turn = ?`, turn).Scan(&body); err != nil {
			return count, err
		}
		if lines, _ := unpack(body); !naming.Match(lines) { // of a damaged one: as far as it can be read
			continue
		}
		if _, err := db.ExecContext(ctx, `DELETE FROM traces WHERE turn = ?`, turn); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// scrub takes what was deleted off the disk. A word index otherwise keeps
// the words of deleted messages until it happens to be merged, pages keep
// what was moved, and the log all that passed through it.
func scrub(ctx context.Context, db *sql.DB) error {
	indexes, err := texts(ctx, db, `SELECT name FROM sqlite_schema WHERE name IN ('message_words', 'memory_terms')`)
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %[1]s (%[1]s) VALUES ('optimize')`, index)); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	var busy, pages, moved int
	if err := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("another LifeHub reads the conversations, so their text is still in the write-ahead log; close it and delete once more")
	}
	return nil
}

// Aside lists the files that were set aside because they were damaged. They
// are never touched again, by Remove either.
func (s *Store) Aside() []string {
	if s.path == "" {
		return nil
	}
	names, _ := beside(filepath.Dir(s.path), filepath.Base(s.path)+asideMark) // a folder that can't be read held no database
	return names
}

// asideMark is what the name of a damaged file has between the database's and the time.
const asideMark = ".damaged-"
