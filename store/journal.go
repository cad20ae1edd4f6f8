package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/internal/rows"
)

// Record keeps entries of a turn's journal: all of them or none. When it
// returns they are on the disk.
func (s *Store) Record(ctx context.Context, turn string, entries ...agent.Entry) error {
	err := s.file.Update(ctx, func(tx *sql.Tx) error {
		var last int
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM journal WHERE turn = ?`, turn).Scan(&last); err != nil {
			return err
		}
		rows, sums := make([]row, len(entries)), make([]string, len(entries))
		for i, e := range entries {
			var err error
			if rows[i], err = newRow(turn, last+1+i, e); err != nil {
				return err
			}
			sums[i] = rows[i].sum(turn)
		}
		return insertRows(ctx, tx, turn, rows, sums)
	})
	if err != nil {
		return fmt.Errorf("keep the journal: %w", err)
	}
	return nil
}

// row is an entry as it is kept.
type row struct {
	number int // from 1 in its turn
	entry  string
	result string // JSON of the result; "": none
}

func newRow(turn string, number int, e agent.Entry) (r row, err error) {
	r.number = number
	if r.entry, err = exactJSON(e); err == nil && e.Result != nil {
		r.result, err = exactJSON(e.Result)
	}
	if err != nil {
		return r, fmt.Errorf("write entry %d of turn %s: %w", number, turn, err)
	}
	return r, nil
}

// exactJSON writes a value without touching the bytes of arguments in it:
// their hash must stay what it was.
func exactJSON(value any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// sum tells a row that was changed from one that is as it was written: nothing
// is done because of a damaged row.
func (r row) sum(turn string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s\n%s", turn, r.number, len(r.entry), r.entry, r.result))
	return hex.EncodeToString(sum[:])
}

// read turns the row back into its entry.
func (r row) read() (e agent.Entry, err error) {
	if err := json.Unmarshal([]byte(r.entry), &e); err != nil {
		return e, err
	}
	if r.result != "" {
		e.Result = &agent.Result{}
		err = json.Unmarshal([]byte(r.result), e.Result)
	}
	return e, err
}

// Reopen takes a turn that did not come to its end for this process: one that
// was killed, stopped or cut. It must be the last of the conversation's path.
func (s *Store) Reopen(ctx context.Context, conversation, turn string) (agent.Unfinished, error) {
	var left agent.Unfinished
	err := s.file.Update(ctx, func(tx *sql.Tx) error {
		var state, owner string
		err := tx.QueryRowContext(ctx, `SELECT t.state, t.owner, q.text, a.text FROM turns t
			JOIN messages q ON q.turn = t.id AND q.role = 'user'
			JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
			JOIN conversations c ON c.id = t.conversation AND c.head = a.id
			WHERE t.id = ? AND c.id = ? AND t.undone IS NULL`, turn, conversation).Scan(&state, &owner, &left.Question, &left.Text)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && state == "done":
			return agent.ErrOver
		case err != nil:
			return err
		case s.file.Owners.AtWork(owner, turn, state):
			return agent.ErrBusy
		}
		if owner, err = s.file.Owners.Mine(); err != nil {
			return err
		}
		if left.Entries, left.Damaged, err = readJournal(ctx, tx, turn); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE turns SET state = 'open', error = '', ended = NULL, owner = ? WHERE id = ?`, owner, turn)
		return err
	})
	if err != nil {
		return agent.Unfinished{}, err
	}
	s.file.Owners.Begin(turn)
	return left, nil
}

// Entries returns the journal of a turn, except what of it cannot be read.
func (s *Store) Entries(ctx context.Context, turn string) ([]agent.Entry, error) {
	entries, _, err := readJournal(ctx, s.file.Read, turn)
	if err != nil {
		return nil, fmt.Errorf("read the journal of turn %s: %w", turn, err)
	}
	return entries, nil
}

// readJournal reads the entries of a turn. Those that are not as they were
// written are left out, and so is what follows a missing one.
func readJournal(ctx context.Context, db rows.Querier, turn string) (entries []agent.Entry, damaged bool, err error) {
	next := 0
	for scan := range rows.Of(ctx, db, `SELECT number, entry, result, sum FROM journal WHERE turn = ? ORDER BY number`, turn) {
		next++
		var r row
		var sum string
		if err := scan(&r.number, &r.entry, &r.result, &sum); err != nil {
			return nil, false, err
		}
		e, err := r.read()
		if err != nil || sum != r.sum(turn) {
			damaged = true
			continue
		}
		damaged = damaged || r.number != next
		next = r.number
		entries = append(entries, e)
	}
	return entries, damaged, nil
}

// copyJournal gives another turn the journal of one. A row that is not as it
// was written stays so.
func copyJournal(ctx context.Context, tx *sql.Tx, from, to string) error {
	rows, sums, err := sealedRows(ctx, tx, from, to)
	if err != nil {
		return err
	}
	return insertRows(ctx, tx, to, rows, sums)
}

// dropResults takes the results out of the journal of a turn that is done:
// nothing will be done again, so nobody needs them. All rows are written again,
// for what is cut out of a row leaves its page half empty.
func dropResults(ctx context.Context, tx *sql.Tx, turn string) error {
	rows, sums, err := sealedRows(ctx, tx, turn, turn)
	if err != nil {
		return err
	}
	for i := range rows {
		sealed := sums[i] == rows[i].sum(turn)
		if rows[i].result = ""; sealed {
			sums[i] = rows[i].sum(turn)
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM journal WHERE turn = ?`, turn); err != nil {
		return err
	}
	return insertRows(ctx, tx, turn, rows, sums)
}

// sealedRows reads the journal of a turn with the checksums that it has for
// another one.
func sealedRows(ctx context.Context, tx *sql.Tx, from, to string) (list []row, sums []string, err error) {
	for scan := range rows.Of(ctx, tx, `SELECT number, entry, result, sum FROM journal WHERE turn = ? ORDER BY number`, from) {
		var r row
		var sum string
		if err := scan(&r.number, &r.entry, &r.result, &sum); err != nil {
			return nil, nil, err
		}
		if sum == r.sum(from) {
			sum = r.sum(to)
		}
		list, sums = append(list, r), append(sums, sum)
	}
	return list, sums, nil
}

func insertRows(ctx context.Context, tx *sql.Tx, turn string, rows []row, sums []string) error {
	for i, r := range rows {
		if _, err := tx.ExecContext(ctx, `INSERT INTO journal (turn, number, entry, result, sum) VALUES (?, ?, ?, ?, ?)`,
			turn, r.number, r.entry, r.result, sums[i]); err != nil {
			return err
		}
	}
	return nil
}

// Changing keeps what a note holds before a turn changes it. Change the note
// only after it returned nil.
func (s *Store) Changing(ctx context.Context, turn string, c agent.NoteChange) error {
	_, err := s.file.Write.ExecContext(ctx, `INSERT INTO note_changes (turn, vault, path, before, after, created) VALUES (?, ?, ?, ?, ?, ?)`,
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
	for scan := range rows.Of(ctx, s.file.Read, `SELECT vault, path, before, after FROM note_changes WHERE turn = ? ORDER BY id`, turn) {
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
	err := s.file.Update(ctx, func(tx *sql.Tx) error {
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
	err := s.file.Read.QueryRowContext(ctx, `SELECT id FROM turns WHERE conversation = ? AND undone IS NOT NULL
		ORDER BY undone DESC, number LIMIT 1`, conversation).Scan(&turn)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("find what was taken back last: %w", err)
	}
	return turn, nil
}
