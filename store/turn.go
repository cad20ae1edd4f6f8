package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/files"
	"lifehub/llm"
)

// NewConversation returns an unused conversation ID. The first Begin creates the
// conversation, so that an unused chat leaves nothing behind.
func (s *Store) NewConversation() string {
	// 8 base32 characters are 40 bits: with a million conversations, about one
	// new ID in a million collides, and Begin would then only append to an
	// existing one.
	return strings.ToLower(rand.Text()[:8])
}

// Begin saves the user's message and an empty answer, and returns the turn's ID.
// If the conversation does not exist, it is created, with the start of the
// message as its title.
func (s *Store) Begin(ctx context.Context, conversation, message string) (string, error) {
	owner, err := s.file.Owners.Mine()
	if err != nil {
		return "", fmt.Errorf("begin a turn: %w", err)
	}
	var turn string
	err = s.file.Update(ctx, func(tx *sql.Tx) error {
		now := s.now().UnixMilli()
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, title, created, updated) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE
			SET updated = excluded.updated`, conversation, agent.Title(message), now, now); err != nil {
			return err
		}
		var number, head int64
		if err := tx.QueryRowContext(ctx, `SELECT head, 1 + coalesce((SELECT max(number) FROM turns t
			WHERE t.conversation = c.id), 0)
			FROM conversations c WHERE id = ?`, conversation).Scan(&head, &number); err != nil {
			return err
		}
		turn = fmt.Sprintf("%s.%d", conversation, number)
		if _, err := tx.ExecContext(ctx, `INSERT INTO turns (id, conversation, number, state, started, owner, preceding)
			VALUES (?1, ?2, ?3, 'open', ?4, ?5, coalesce((SELECT t.preceding + 1 + (octet_length(a.text) > 0)
				FROM messages a JOIN turns t ON t.id = a.turn WHERE a.id = ?6),
				0))`, turn, conversation, number, now, owner, head); err != nil {
			return err
		}
		for _, m := range []llm.Message{{Role: llm.User, Text: message}, {Role: llm.Assistant}} {
			result, err := tx.ExecContext(ctx, `INSERT INTO messages (conversation, parent, turn, role, text, created,
				origin)
				VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?)`,
				conversation, head, turn, m.Role, m.Text, now, origin{agent.MessageOrigin(m.Text)})
			if err != nil {
				return err
			}
			if head, err = result.LastInsertId(); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE conversations SET head = ? WHERE id = ?`, head, conversation)
		return err
	})
	if err != nil {
		return "", err
	}
	s.file.Owners.Begin(turn)
	return turn, nil
}

// Progress replaces the saved text of an answer by text, which must be the whole
// answer so far. It does not change a finished turn.
func (s *Store) Progress(ctx context.Context, turn, text string, from agent.Origin) (err error) {
	defer files.Wrap(&err, "save the answer so far")
	_, err = s.file.Write.ExecContext(ctx, `UPDATE messages SET text = ?, origin = ? WHERE turn = ?
		AND role = 'assistant'
		AND (SELECT state FROM turns WHERE id = turn) = 'open'`, text, origin{from}, turn)
	return err
}

// detail holds what is saved of an answer in addition to its text.
type detail struct {
	Sources   []agent.Source   `json:"sources,omitempty"`
	Citations []agent.Citation `json:"citations,omitempty"`
	Metrics   agent.Metrics    `json:"metrics"`
	Effects   agent.Effects    `json:"effects"`
	Log       []agent.Logged   `json:"log,omitempty"`
	Course    json.RawMessage  `json:"course,omitempty"` // []agent.CourseEvent with times
}

// withoutUncited returns the sources of an answer without the texts of uncited
// ones: tool results are long, and nothing reads them again.
func withoutUncited(answer agent.Answer) []agent.Source {
	sources := slices.Clone(answer.Sources)
	for i, s := range sources {
		if !slices.ContainsFunc(answer.Citations, func(c agent.Citation) bool { return c.N == s.N }) {
			sources[i].Text = ""
		}
	}
	return sources
}

// Finish saves the answer and closes the turn. It also works with a cancelled
// ctx, since that is how an interrupted turn ends.
func (s *Store) Finish(ctx context.Context, turn string, answer agent.Answer) (err error) {
	defer files.Wrap(&err, "save the answer")
	ctx = context.WithoutCancel(ctx)
	defer s.file.Owners.End(turn)
	rest := detail{
		Sources: withoutUncited(answer), Citations: answer.Citations, Metrics: answer.Metrics,
		Effects: answer.Effects, Log: answer.Log,
	}
	if answer.Course != nil {
		rest.Course, _ = json.Marshal(answer.Course) // fails if call arguments are invalid JSON; the trace has them
	}
	saved, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	state := "done"
	switch {
	case answer.Error != "":
		state = "failed"
	case answer.Cut:
		state = "cut"
	}
	return s.file.Update(ctx, func(tx *sql.Tx) error {
		now := s.now().UnixMilli()
		result, err := tx.ExecContext(ctx, `UPDATE turns SET state = ?, error = ?, detail = ?, ended = ? WHERE id = ?`,
			state, answer.Error, string(saved), now, turn)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("no turn %q", turn)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE messages SET text = ?, origin = ? WHERE turn = ?
			AND role = 'assistant'`,
			answer.Text, origin{answer.Origin}, turn); err != nil {
			return err
		}
		if err := saveFigures(ctx, tx, turn, answer.Metrics); err != nil {
			return err
		}
		if state == "done" {
			if err := dropResults(ctx, tx, turn); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE conversations SET updated = ? WHERE id = (SELECT conversation FROM turns
			WHERE id = ?)`, now, turn)
		return err
	})
}
