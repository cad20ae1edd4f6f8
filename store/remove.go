package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"lifehub/internal/rows"
	"lifehub/store/file"
	"lifehub/store/trace"
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
	err := s.file.Update(ctx, func(tx *sql.Tx) error {
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
	if err := s.Drafts.Remove(conversations); err != nil {
		return err
	}
	if err := scrub(ctx, s.file.Write); err != nil {
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
		if lines, _ := trace.Unpack(body); !naming.Match(lines) { // of a damaged one: as far as it can be read
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

// removeFromBackups takes conversations out of every copy.
func (s *Store) removeFromBackups(ctx context.Context, conversations []string) error {
	copies, err := s.file.Copies()
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
	db, err := file.Connect(path, 1, "_txlock=immediate")
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
