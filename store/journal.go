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
	"lifehub/internal/files"
)

// Record appends entries to a turn's journal atomically. When it returns, they
// are on disk. A message that was sent while the turn ran is also added to the
// message that the turn answers, so that later turns read it.
func (s *Store) Record(ctx context.Context, turn string, entries ...agent.Entry) (err error) {
	defer files.Wrap(&err, "save the journal")
	return s.file.Update(ctx, func(tx *sql.Tx) error {
		var last int
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM journal WHERE turn = ?`,
			turn).Scan(&last); err != nil {
			return err
		}
		list := make([]row, len(entries))
		for i, e := range entries {
			r := row{number: last + 1 + i, sound: true}
			var err error
			if r.entry, err = exactJSON(e); err == nil && e.Result != nil {
				r.result, err = exactJSON(e.Result)
			}
			if err != nil {
				return fmt.Errorf("write entry %d of turn %s: %w", r.number, turn, err)
			}
			list[i] = r
			if e.Steering != nil {
				if err := addSteering(ctx, tx, turn, e.Steering.Text); err != nil {
					return err
				}
			}
		}
		return insertRows(ctx, tx, turn, list)
	})
}

func addSteering(ctx context.Context, tx *sql.Tx, turn, steering string) error {
	var id int64
	var message string
	if err := tx.QueryRowContext(ctx, `SELECT id, text FROM messages WHERE turn = ? AND role = 'user'`,
		turn).Scan(&id, &message); err != nil {
		return err
	}
	message = agent.WithSteering(message, steering)
	_, err := tx.ExecContext(ctx, `UPDATE messages SET text = ?, origin = ? WHERE id = ?`, message,
		origin{agent.MessageOrigin(message)}, id)
	return err
}

// row is an entry as stored.
type row struct {
	number int // counts from 1 in each turn
	entry  string
	result string // JSON of the result; may be empty
	sound  bool   // the checksum is correct
}

// exactJSON encodes a value without reformatting the call arguments in it, so
// that their hash stays the same.
func exactJSON(value any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// sum returns the checksum of a row in a turn's journal, so that no action is
// based on a damaged row.
func (r row) sum(turn string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s\n%s", turn, r.number, len(r.entry), r.entry, r.result))
	return hex.EncodeToString(sum[:])
}

// read decodes the entry.
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

// Reopen takes over a turn that was killed, stopped or truncated, so that this
// process can resume it. The turn must be the last one of the conversation's
// current path.
func (s *Store) Reopen(ctx context.Context, conversation, turn string) (agent.Unfinished, error) {
	var left agent.Unfinished
	err := s.file.Update(ctx, func(tx *sql.Tx) error {
		var state, owner string
		err := tx.QueryRowContext(ctx, `SELECT t.state, t.owner, q.text, a.text FROM turns t
			JOIN messages q ON q.turn = t.id AND q.role = 'user'
			JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
			JOIN conversations c ON c.id = t.conversation AND c.head = a.id
			WHERE t.id = ? AND c.id = ?
			AND t.undone IS NULL`, turn, conversation).Scan(&state, &owner, &left.Question, &left.Text)
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
		left.Text = agent.WithoutRecords(left.Text)
		if left.Entries, left.Damaged, err = readJournal(ctx, tx, turn); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE turns SET state = 'open', error = '', ended = NULL, owner = ?
			WHERE id = ?`, owner, turn)
		return err
	})
	if err != nil {
		return agent.Unfinished{}, err
	}
	s.file.Owners.Begin(turn)
	return left, nil
}

// Entries returns the journal of a turn, except unreadable entries.
func (s *Store) Entries(ctx context.Context, turn string) (entries []agent.Entry, err error) {
	defer files.Wrap(&err, "read the journal of turn %s", turn)
	entries, _, err = readJournal(ctx, s.file.Read, turn)
	return entries, err
}

// readJournal reads the entries of a turn. Entries with a wrong checksum are
// omitted, as is everything after a missing one.
func readJournal(ctx context.Context, db files.Querier, turn string) (entries []agent.Entry, damaged bool, err error) {
	list, err := readRows(ctx, db, turn)
	next := 0
	for _, r := range list {
		next++
		e, err := r.read()
		if err != nil || !r.sound {
			damaged = true
			continue
		}
		damaged = damaged || r.number != next
		next = r.number
		entries = append(entries, e)
	}
	return entries, damaged, err
}

// copyJournal copies the journal of one turn to another.
func copyJournal(ctx context.Context, tx *sql.Tx, from, to string) error {
	list, err := readRows(ctx, tx, from)
	if err != nil {
		return err
	}
	return insertRows(ctx, tx, to, list)
}

// dropResults removes the results from the journal of a finished turn, which only
// a resumed turn would need. It rewrites all rows, since removing parts of rows
// would leave their pages half empty.
func dropResults(ctx context.Context, tx *sql.Tx, turn string) error {
	list, err := readRows(ctx, tx, turn)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].result = ""
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM journal WHERE turn = ?`, turn); err != nil {
		return err
	}
	return insertRows(ctx, tx, turn, list)
}

// readRows reads the journal of a turn as stored.
func readRows(ctx context.Context, db files.Querier, turn string) ([]row, error) {
	return files.AllRows(ctx, db, func(scan files.Scan) (r row, err error) {
		var sum string
		err = scan(&r.number, &r.entry, &r.result, &sum)
		r.sound = sum == r.sum(turn)
		return r, err
	}, `SELECT number, entry, result, sum FROM journal WHERE turn = ? ORDER BY number`, turn)
}

// insertRows appends rows to a turn's journal. Rows with a wrong checksum keep
// it.
func insertRows(ctx context.Context, tx *sql.Tx, turn string, list []row) error {
	for _, r := range list {
		sum := ""
		if r.sound {
			sum = r.sum(turn)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO journal (turn, number, entry, result, sum) VALUES (?, ?, ?, ?,
			?)`,
			turn, r.number, r.entry, r.result, sum); err != nil {
			return err
		}
	}
	return nil
}

// Changing saves the content of a note before a turn changes it. The caller must
// not change the note unless Changing returns nil.
func (s *Store) Changing(ctx context.Context, turn string, c agent.NoteChange) (err error) {
	defer files.Wrap(&err, "save %s before changing it", c.Path)
	_, err = s.file.Write.ExecContext(ctx, `INSERT INTO note_changes (turn, vault, path, before, after, created)
		VALUES (?, ?, ?, ?, ?, ?)`,
		turn, c.Vault, c.Path, c.Before, c.After, s.now().UnixMilli())
	return err
}

// ChangingSet is Changing for changes that are made as one. Until CloseSet, the set is one of OpenSets.
func (s *Store) ChangingSet(ctx context.Context, turn string, list []agent.NoteChange) (set int64, err error) {
	defer files.Wrap(&err, "save %d notes before changing them", len(list))
	err = s.file.Update(ctx, func(tx *sql.Tx) error {
		var ids []int64
		for _, c := range list {
			done, err := tx.ExecContext(ctx, `INSERT INTO note_changes (turn, vault, path, before, after, created)
				VALUES (?, ?, ?, ?, ?, ?)`,
				turn, c.Vault, c.Path, c.Before, c.After, s.now().UnixMilli())
			if err != nil {
				return err
			}
			id, err := done.LastInsertId()
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return tx.QueryRowContext(ctx, `INSERT INTO open_sets (turn, first, last) VALUES (?, ?, ?) RETURNING id`, turn,
			ids[0], ids[len(ids)-1]).Scan(&set)
	})
	return set, err
}

// CloseSet ends a set whose changes were all made, or all taken back. The latter are forgotten.
func (s *Store) CloseSet(ctx context.Context, set int64, made bool) (err error) {
	defer files.Wrap(&err, "save that several notes were changed")
	return s.file.Update(ctx, func(tx *sql.Tx) error {
		if !made {
			if _, err := tx.ExecContext(ctx, `DELETE FROM note_changes WHERE id BETWEEN (SELECT first FROM open_sets
				WHERE id = ?1)
				AND (SELECT last FROM open_sets WHERE id = ?1)`, set); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM open_sets WHERE id = ?`, set)
		return err
	})
}

// OpenSets returns the sets of changes that were not ended, oldest first: they are being made, or were when LifeHub was
// killed.
func (s *Store) OpenSets(ctx context.Context) (sets []agent.ChangeSet, err error) {
	defer files.Wrap(&err, "read the changes of several notes")
	for scan := range files.Rows(ctx, s.file.Read, `SELECT o.id, c.vault, c.path, c.before, c.after FROM open_sets o
		JOIN note_changes c ON c.id BETWEEN o.first AND o.last ORDER BY o.id, c.id`) {
		var id int64
		var c agent.NoteChange
		var before *[]byte
		if err := scan(&id, &c.Vault, &c.Path, &before, &c.After); err != nil {
			return nil, err
		}
		if before != nil {
			c.Before = append([]byte{}, *before...)
		}
		if n := len(sets); n == 0 || sets[n-1].ID != id {
			sets = append(sets, agent.ChangeSet{ID: id})
		}
		sets[len(sets)-1].Changes = append(sets[len(sets)-1].Changes, c)
	}
	return sets, nil
}

// NoteChanges returns the changes that a turn made to notes or had announced when
// it was stopped, in order.
func (s *Store) NoteChanges(ctx context.Context, turn string) (_ []agent.NoteChange, err error) {
	defer files.Wrap(&err, "read the note changes of turn %s", turn)
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (c agent.NoteChange, err error) {
		var before *[]byte
		if err = scan(&c.Vault, &c.Path, &before, &c.After); before != nil {
			c.Before = append([]byte{}, *before...) // an empty note is not nil
		}
		return c, err
	}, `SELECT vault, path, before, after FROM note_changes WHERE turn = ? ORDER BY id`, turn)
}

// TakeBack marks a turn as undone and moves the conversation's head to the turn
// before it. The turn stays in the tree.
func (s *Store) TakeBack(ctx context.Context, turn string) (err error) {
	defer files.Wrap(&err, "undo turn %s", turn)
	return s.file.Update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE turns SET undone = ? WHERE id = ?`,
			s.now().UnixMilli(), turn); err != nil {
			return err
		}
		var conversation string
		if err := tx.QueryRowContext(ctx, `UPDATE conversations SET head = coalesce(
				(SELECT parent FROM messages WHERE turn = ?1 AND role = 'user'), 0)
			WHERE id = (SELECT conversation FROM turns
			WHERE id = ?1) RETURNING id`, turn).Scan(&conversation); err != nil {
			return err
		}
		return forgetBranches(ctx, tx, conversation)
	})
}

// LastUndone returns the turn of a conversation that was undone last, or "".
func (s *Store) LastUndone(ctx context.Context, conversation string) (turn string, err error) {
	defer files.Wrap(&err, "find the turn that was undone last")
	err = s.file.Read.QueryRowContext(ctx, `SELECT coalesce((SELECT id FROM turns WHERE conversation = ?
		AND undone IS NOT NULL
		ORDER BY undone DESC, number LIMIT 1), '')`, conversation).Scan(&turn)
	return turn, err
}
