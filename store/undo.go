package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"lifehub/agent"
	"lifehub/internal/rows"
)

// Changing keeps what a note holds before a turn changes it. Change the note
// only after it returned nil.
func (s *Store) Changing(ctx context.Context, turn string, c agent.NoteChange) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO note_changes (turn, vault, path, before, after, created) VALUES (?, ?, ?, ?, ?, ?)`,
		turn, c.Vault, c.Path, c.Before, c.After, s.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("keep %s as it is before changing it: %w", c.Path, err)
	}
	return nil
}

// NoteChanges returns what a turn did to notes, or was about to do when it was
// stopped, in order.
func (s *Store) NoteChanges(ctx context.Context, turn string) ([]agent.NoteChange, error) {
	var list []agent.NoteChange
	for scan := range rows.Of(ctx, s.read, `SELECT vault, path, before, after FROM note_changes WHERE turn = ? ORDER BY id`, turn) {
		var c agent.NoteChange
		var before *[]byte
		if err := scan(&c.Vault, &c.Path, &before, &c.After); err != nil {
			return nil, fmt.Errorf("read the note changes of turn %s: %w", turn, err)
		}
		if before != nil {
			c.Before = append([]byte{}, *before...) // an empty note is not nil
		}
		list = append(list, c)
	}
	return list, nil
}

// TakeBack marks a turn as undone and has the conversation go on from the one
// before it. The turn stays in the tree.
func (s *Store) TakeBack(ctx context.Context, turn string) error {
	err := s.update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE turns SET undone = ? WHERE id = ?`, s.now().UnixMilli(), turn); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE conversations SET head = coalesce(
				(SELECT parent FROM messages WHERE turn = ?1 AND role = 'user'), 0)
			WHERE id = (SELECT conversation FROM turns WHERE id = ?1)`, turn)
		return err
	})
	if err != nil {
		return fmt.Errorf("take back turn %s: %w", turn, err)
	}
	return nil
}

// LastUndone returns the turn of a conversation that was taken back last; "":
// none was.
func (s *Store) LastUndone(ctx context.Context, conversation string) (string, error) {
	var turn string
	err := s.read.QueryRowContext(ctx, `SELECT id FROM turns WHERE conversation = ? AND undone IS NOT NULL
		ORDER BY undone DESC, number LIMIT 1`, conversation).Scan(&turn)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("find what was taken back last: %w", err)
	}
	return turn, nil
}
