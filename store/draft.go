package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/files"
)

// SaveDraft saves the unsent text of this process, replacing the previous draft.
// For a database in memory it does nothing.
func (s *Store) SaveDraft(ctx context.Context, d agent.Draft) (err error) {
	defer files.Wrap(&err, "save draft")
	if s.file.Path == "" || d.Empty() && s.file.Owners.Named() == "" {
		return nil
	}
	owner, err := s.file.Owners.Mine()
	if err != nil {
		return err
	}
	return s.file.Update(ctx, func(tx *sql.Tx) error { return putDraft(ctx, tx, owner, d) })
}

func putDraft(ctx context.Context, tx *sql.Tx, owner string, d agent.Draft) error {
	if d.Empty() {
		_, err := tx.ExecContext(ctx, `DELETE FROM drafts WHERE owner = ?`, owner)
		return err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	// REPLACE assigns a new rowid, so rowids are in the order of saving.
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO drafts (owner, conversation, draft, after)
		SELECT ?, ?, ?, coalesce(max(id), 0) FROM messages`, owner, d.Conversation, string(text))
	return err
}

// leftDraft is a row of drafts.
type leftDraft struct {
	owner   string
	draft   agent.Draft
	arrived bool // draft.Sending was saved as a message, or began a turn whose message differs
}

// LoadDraft moves the draft of a process that has ended to this process. It
// prefers a draft of the conversation, then one of a conversation without turns,
// then, if this conversation has no turns, the latest of all. The zero value
// means none. A draft is given to only one process.
func (s *Store) LoadDraft(ctx context.Context, conversation string) (found agent.Draft, err error) {
	defer files.Wrap(&err, "load draft")
	var some bool
	if err := s.file.Read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM drafts`).Scan(&some); err != nil ||
		!some || s.file.Path == "" {
		return agent.Draft{}, err
	}
	mine, err := s.file.Owners.Mine()
	if err != nil {
		return agent.Draft{}, err
	}
	var taken []string // owners of drafts that are no longer needed
	err = s.file.Update(ctx, func(tx *sql.Tx) error {
		left, err := leftDrafts(ctx, tx, conversation)
		if err != nil {
			return err
		}
		for _, l := range left {
			if !s.file.Owners.Ended(l.owner) {
				continue
			}
			if l.draft.Steering, err = notTaken(ctx, tx, l.draft.Steering); err != nil {
				return err
			}
			if found, err = s.restored(l); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM drafts WHERE owner = ?`, l.owner); err != nil {
				return err
			}
			taken = append(taken, l.owner)
			if !found.Empty() {
				return putDraft(ctx, tx, mine, found)
			}
		}
		return nil
	})
	if err != nil {
		return agent.Draft{}, err
	}
	return found, s.removeEdited(taken)
}

// leftDrafts lists the drafts that may be loaded into a conversation, best match
// first.
func leftDrafts(ctx context.Context, db files.Querier, conversation string) ([]leftDraft, error) {
	return files.AllRows(ctx, db, func(scan files.Scan) (l leftDraft, err error) {
		var text, title string
		if err := scan(&l.owner, &text, &title, &l.arrived); err != nil {
			return l, err
		}
		err = json.Unmarshal([]byte(text), &l.draft)
		l.draft.Title = title
		return l, err
	}, `SELECT d.owner, d.draft, coalesce(c.title, ''),
			EXISTS (SELECT 1 FROM messages m JOIN turns t ON t.id = m.turn WHERE t.conversation = d.conversation
				AND m.role = 'user' AND m.id > d.after AND (t.owner = d.owner OR m.text = d.draft ->> 'sending'))
		FROM drafts d LEFT JOIN conversations c ON c.id = d.conversation
		WHERE json_valid(d.draft) AND (d.conversation = ?1 OR NOT EXISTS (SELECT 1 FROM turns WHERE conversation = ?1)
			OR NOT EXISTS (SELECT 1 FROM turns WHERE conversation = d.conversation))
		ORDER BY d.conversation = ?1 DESC, d.rowid DESC`, conversation)
}

// notTaken returns the messages that no turn has taken.
func notTaken(ctx context.Context, db files.Querier, offered []agent.Steering) (left []agent.Steering, err error) {
	for _, s := range offered {
		taken, err := files.Column[int](ctx, db, `SELECT 1 FROM journal WHERE json_valid(entry)
			AND entry ->> '$.steering.id' = ? LIMIT 1`, s.ID)
		if err != nil {
			return nil, err
		}
		if len(taken) == 0 {
			left = append(left, s)
		}
	}
	return left, nil
}

// restored returns the draft as the user gets it back: with the text saved by the
// external editor, and with messages that were being sent moved to the queue.
func (s *Store) restored(l leftDraft) (agent.Draft, error) {
	d := l.draft
	for i, steering := range d.Steering {
		d.Waiting = slices.Insert(d.Waiting, i, steering.Text)
	}
	if d.Sending != "" && !l.arrived {
		d.Waiting = append([]string{d.Sending}, d.Waiting...)
	}
	edited, err := os.ReadFile(s.editedFile(l.owner))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if text := strings.TrimRight(string(edited), "\n"); d.Editing && strings.TrimSpace(text) != "" {
		d.Text = text
	}
	d.Sending, d.Steering, d.Editing = "", nil, false
	return d, nil
}

// DraftFile creates a file for editing the draft in an external editor. It is
// recovered if LifeHub is killed meanwhile; the caller removes it.
func (s *Store) DraftFile() (*os.File, error) {
	if s.file.Path == "" {
		return os.CreateTemp("", "lifehub-*.md")
	}
	owner, err := s.file.Owners.Mine()
	if err != nil {
		return nil, err
	}
	return os.OpenFile(s.editedFile(owner), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (s *Store) editedFile(owner string) string {
	return filepath.Join(filepath.Dir(s.file.Path), "unsent-"+filepath.Base(owner)+".md")
}

// removeEdited deletes the editor files of drafts, and files such as swap files
// created next to them.
func (s *Store) removeEdited(owners []string) (err error) {
	for _, owner := range owners {
		file := s.editedFile(owner)
		entries, _ := os.ReadDir(filepath.Dir(file))
		for _, e := range entries {
			if strings.Contains(e.Name(), filepath.Base(file)) {
				err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(file), e.Name())))
			}
		}
	}
	return err
}

// removeDrafts deletes the drafts of conversations and returns their owners.
// Older backups have no table of drafts.
func removeDrafts(ctx context.Context, db connection, conversations []string) (owners []string, err error) {
	known, err := files.Column[string](ctx, db, `SELECT name FROM sqlite_schema WHERE name = 'drafts'`)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	for _, id := range conversations {
		gone, err := files.Column[string](ctx, db, `DELETE FROM drafts WHERE conversation = ? RETURNING owner`, id)
		if err != nil {
			return nil, err
		}
		owners = append(owners, gone...)
	}
	return owners, nil
}
