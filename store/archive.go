package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Archive puts the exchanges of the conversation's current path that lie
// beyond its last window messages into long-term memory, and with everywhere
// also all of the other conversations' paths. It tells how many were new.
func (s *Store) Archive(ctx context.Context, conversation string, window int, everywhere bool) (int, error) {
	archived := 0
	err := s.update(ctx, func(tx *sql.Tx) error {
		beyond := map[string]int{conversation: window}
		if everywhere {
			others, err := texts(ctx, tx, `SELECT id FROM conversations WHERE id <> ? AND archived <> head`, conversation)
			if err != nil {
				return err
			}
			for _, id := range others {
				beyond[id] = 0
			}
		}
		for id, window := range beyond {
			n, err := s.archivePath(ctx, tx, id, window)
			if err != nil {
				return err
			}
			archived += n
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("archive what left the window: %w", err)
	}
	return archived, nil
}

func (s *Store) archivePath(ctx context.Context, tx *sql.Tx, conversation string, window int) (archived int, err error) {
	path, err := pathOf(ctx, tx, conversation)
	if err != nil {
		return 0, err
	}
	complete := window == 0
	for _, turn := range path.beyond(window) {
		if turn.state == "open" { // it is under way, here or in another process
			complete = false
		}
		if turn.archived || turn.state == "open" || !turn.answered {
			continue
		}
		var question, answer string
		if err := tx.QueryRowContext(ctx, `SELECT q.text, a.text FROM messages q JOIN messages a ON a.turn = q.turn
			WHERE q.turn = ? AND q.role = 'user' AND a.role = 'assistant'`, turn.id).Scan(&question, &answer); err != nil {
			return archived, err
		}
		result, err := tx.ExecContext(ctx, `INSERT INTO memories (turn, archived) VALUES (?, ?)`, turn.id, s.now().UnixMilli())
		if err != nil {
			return archived, err
		}
		row, err := result.LastInsertId()
		if err != nil {
			return archived, err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO memory_terms (rowid, text) VALUES (?, ?)`, row, indexed(question+"\n"+answer)); err != nil {
			return archived, err
		}
		archived++
	}
	if complete {
		_, err = tx.ExecContext(ctx, `UPDATE conversations SET archived = head WHERE id = ?`, conversation)
	}
	return archived, err
}

// Archived tells how many exchanges are in long-term memory.
func (s *Store) Archived(ctx context.Context) (n int, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM memories`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what is archived: %w", err)
	}
	return n, nil
}
