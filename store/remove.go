package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"lifehub/internal/files"
)

// Remove deletes conversations and all data derived from them, including in
// backups. It also erases their text from free pages and the full-text index. If a conversation does not exist, it
// returns [ErrNoConversation] and deletes nothing. See
// docs/design/conversations-and-storage.md.
func (s *Store) Remove(ctx context.Context, conversations ...string) (err error) {
	defer files.Wrap(&err, "delete conversations")
	var drafts []string // owners of the drafts
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
			failed = append(failed, fmt.Errorf("still in the backup %s: %w", path, err))
		}
	}
	return errors.Join(failed...)
}

// connection is a *sql.DB or *sql.Tx.
type connection interface {
	files.Querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// removeRows deletes a conversation and returns the number of deleted rows.
func removeRows(ctx context.Context, db connection, id string) (int64, error) {
	result, err := db.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// removeTracesNaming deletes traces of other conversations whose prompts contain
// text recalled from these conversations; such prompts always include the
// conversation's ID. It returns the number of deleted traces. Backups made before
// a migration may have no table of traces.
func removeTracesNaming(ctx context.Context, db connection, conversations []string) (count int64, err error) {
	known, err := files.Column[string](ctx, db, `SELECT name FROM sqlite_schema WHERE name = 'traces'`)
	if err != nil || len(known) == 0 {
		return 0, err
	}
	ids := make([]string, len(conversations))
	for i, id := range conversations {
		ids[i] = regexp.QuoteMeta(id)
	}
	naming := regexp.MustCompile(`\b(` + strings.Join(ids, "|") + `)\b`)
	turns, err := files.Column[string](ctx, db, `SELECT turn FROM traces`)
	if err != nil {
		return 0, err
	}
	for _, turn := range turns {
		var body []byte
		if err := db.QueryRowContext(ctx, `SELECT body FROM traces WHERE turn = ?`, turn).Scan(&body); err != nil {
			return count, err
		}
		if lines, _ := Unpack(body); !naming.Match(lines) { // a damaged trace is searched as far as it is readable
			continue
		}
		if _, err := db.ExecContext(ctx, `DELETE FROM traces WHERE turn = ?`, turn); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// scrub erases deleted data from the disk. Otherwise the full-text index keeps
// deleted words until its segments are merged, and free pages keep deleted rows.
func scrub(ctx context.Context, db *sql.DB) error {
	indexes, err := files.Column[string](ctx, db, `SELECT name FROM sqlite_schema WHERE name IN ('message_words',
		'memory_terms')`)
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %[1]s (%[1]s) VALUES ('optimize')`,
			index)); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, `VACUUM`)
	return err
}

// removeFromCopy removes conversations from a backup.
func removeFromCopy(ctx context.Context, path string, conversations []string) (err error) {
	db, err := Connect(path, 1, "_txlock=immediate")
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
