package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"lifehub/internal/rows"
	"lifehub/internal/wrap"
	"lifehub/store/file"
	"lifehub/store/trace"
)

// Remove deletes conversations with all that was made of them, here and in
// the backups. Their text is gone from the files: from free pages, the word
// index and the write-ahead log too. The error is [ErrNoConversation] when
// one is not there; then nothing is deleted.
// How: docs/design/conversations-and-storage.md.
func (s *Store) Remove(ctx context.Context, conversations ...string) (err error) {
	defer wrap.Error(&err, "delete conversations")
	var drafts []string // their owners
	err = s.file.Update(ctx, func(tx *sql.Tx) (err error) {
		for _, id := range conversations {
			n, err := removeRows(ctx, tx, id)
			if err != nil {
				return err
			}
			if n == 0 {
				return fmt.Errorf("%q: %w", id, ErrNoConversation)
			}
		}
		if drafts, err = removeDrafts(ctx, tx, conversations); err != nil {
			return err
		}
		_, err = removeTracesNaming(ctx, tx, conversations)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.removeEdited(drafts); err != nil {
		return err
	}
	if err := scrub(ctx, s.file.Write); err != nil {
		return err
	}
	if err := s.file.RemovePartial(); err != nil {
		return err
	}
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

// connection is a database or a transaction.
type connection interface {
	rows.Querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// removeRows deletes a conversation and returns how many there were.
func removeRows(ctx context.Context, db connection, id string) (int64, error) {
	result, err := db.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// removeTracesNaming deletes the traces of other conversations that were told
// of these ones, as the memory does: what was said in them is in such prompts,
// always with the id. It returns how many there were. A backup of before a
// migration may know no traces.
func removeTracesNaming(ctx context.Context, db connection, conversations []string) (count int64, err error) {
	known, err := rows.Column[string](ctx, db, `SELECT name FROM sqlite_schema WHERE name = 'traces'`)
	if err != nil || len(known) == 0 {
		return 0, err
	}
	ids := make([]string, len(conversations))
	for i, id := range conversations {
		ids[i] = regexp.QuoteMeta(id)
	}
	naming := regexp.MustCompile(`\b(` + strings.Join(ids, "|") + `)\b`)
	turns, err := rows.Column[string](ctx, db, `SELECT turn FROM traces`)
	if err != nil {
		return 0, err
	}
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

// scrub takes what was deleted off the disk. A word index otherwise holds
// the words of deleted messages until it happens to be merged, pages hold
// what was moved, and the log all that passed through it.
func scrub(ctx context.Context, db *sql.DB) error {
	indexes, err := rows.Column[string](ctx, db, `SELECT name FROM sqlite_schema WHERE name IN ('message_words', 'memory_terms')`)
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
		return errors.New("another LifeHub has the conversations open, so their text is still in the write-ahead log; close it and delete again")
	}
	return nil
}

// removeFromCopy takes conversations out of a backup.
func removeFromCopy(ctx context.Context, path string, conversations []string) (err error) {
	db, err := file.Connect(path, 1, "_txlock=immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var gone int64
	for _, id := range conversations {
		n, err := removeRows(ctx, db, id)
		if err != nil {
			return err
		}
		gone += n
	}
	drafts, err := removeDrafts(ctx, db, conversations)
	if err != nil {
		return err
	}
	traces, err := removeTracesNaming(ctx, db, conversations)
	if err != nil || gone+traces+int64(len(drafts)) == 0 {
		return err
	}
	return scrub(ctx, db)
}
