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
	"lifehub/internal/wrap"
	"lifehub/llm"
)

// NewConversation returns the id of a conversation that does not exist yet;
// the first Begin makes it, so that a chat opened and left leaves nothing.
func (s *Store) NewConversation() string {
	// 8 letters of base32 are 40 bits: a person with a million conversations
	// meets a collision once in a million ids, and Begin would only add to it.
	return strings.ToLower(rand.Text()[:8])
}

// Begin saves the user's message and an empty answer to it, and returns the
// turn's id. A conversation that is not there yet is made, titled with the
// message's first words.
func (s *Store) Begin(ctx context.Context, conversation, message string) (string, error) {
	owner, err := s.file.Owners.Mine()
	if err != nil {
		return "", fmt.Errorf("find who works on the turn: %w", err)
	}
	var turn string
	err = s.file.Update(ctx, func(tx *sql.Tx) error {
		now := s.now().UnixMilli()
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, title, created, updated) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET updated = excluded.updated`, conversation, agent.Title(message), now, now); err != nil {
			return err
		}
		var number, head int64
		if err := tx.QueryRowContext(ctx, `SELECT head, 1 + coalesce((SELECT max(number) FROM turns t WHERE t.conversation = c.id), 0)
			FROM conversations c WHERE id = ?`, conversation).Scan(&head, &number); err != nil {
			return err
		}
		turn = fmt.Sprintf("%s.%d", conversation, number)
		if _, err := tx.ExecContext(ctx, `INSERT INTO turns (id, conversation, number, state, started, owner) VALUES (?, ?, ?, 'open', ?, ?)`,
			turn, conversation, number, now, owner); err != nil {
			return err
		}
		for _, m := range []llm.Message{{Role: llm.User, Text: message}, {Role: llm.Assistant}} {
			result, err := tx.ExecContext(ctx, `INSERT INTO messages (conversation, parent, turn, role, text, created) VALUES (?, nullif(?, 0), ?, ?, ?, ?)`,
				conversation, head, turn, m.Role, m.Text, now)
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

// Progress saves what has been said of an answer so far, the whole text and
// not the next piece. It is for an open turn; a finished one stays as it is.
func (s *Store) Progress(ctx context.Context, turn, text string) (err error) {
	defer wrap.Error(&err, "save the answer so far")
	_, err = s.file.Write.ExecContext(ctx, `UPDATE messages SET text = ? WHERE turn = ? AND role = 'assistant'
		AND (SELECT state FROM turns WHERE id = turn) = 'open'`, text, turn)
	return err
}

// detail is what is saved of an answer besides its text.
type detail struct {
	Sources   []agent.Source   `json:"sources,omitempty"`
	Citations []agent.Citation `json:"citations,omitempty"`
	Metrics   agent.Metrics    `json:"metrics"`
	Effects   agent.Effects    `json:"effects"`
	Log       []agent.Logged   `json:"log,omitempty"`
	Course    json.RawMessage  `json:"course,omitempty"` // []agent.CourseEvent, with the time of each
}

// withoutUncited is the sources of an answer, those that it does not cite without
// their texts: results of tools are long, and nobody looks at these again.
func withoutUncited(answer agent.Answer) []agent.Source {
	sources := slices.Clone(answer.Sources)
	for i, s := range sources {
		if !slices.ContainsFunc(answer.Citations, func(c agent.Citation) bool { return c.N == s.N }) {
			sources[i].Text = ""
		}
	}
	return sources
}

// Judge replaces the citations of a turn that is finished.
func (s *Store) Judge(ctx context.Context, turn string, citations []agent.Citation) (err error) {
	defer wrap.Error(&err, "save what was said of the citations")
	return s.file.Update(ctx, func(tx *sql.Tx) error {
		var saved string
		if err := tx.QueryRowContext(ctx, `SELECT detail FROM turns WHERE id = ? AND state != 'open'`, turn).Scan(&saved); err != nil {
			return err
		}
		var rest detail
		if err := json.Unmarshal([]byte(saved), &rest); err != nil {
			return err
		}
		rest.Citations = citations
		changed, err := json.Marshal(rest)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE turns SET detail = ? WHERE id = ?`, string(changed), turn)
		return err
	})
}

// Finish saves the answer and closes the turn. It works also when ctx is
// cancelled: that is how an interrupted turn ends.
func (s *Store) Finish(ctx context.Context, turn string, answer agent.Answer) (err error) {
	defer wrap.Error(&err, "save the answer")
	ctx = context.WithoutCancel(ctx)
	defer s.file.Owners.End(turn)
	rest := detail{Sources: withoutUncited(answer), Citations: answer.Citations, Metrics: answer.Metrics, Effects: answer.Effects, Log: answer.Log}
	if answer.Course != nil {
		rest.Course, _ = json.Marshal(answer.Course) // what a model gave as arguments may be no JSON: then the log is there
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
			return fmt.Errorf("there is no turn %q", turn)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE messages SET text = ? WHERE turn = ? AND role = 'assistant'`, answer.Text, turn); err != nil {
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
		_, err = tx.ExecContext(ctx, `UPDATE conversations SET updated = ? WHERE id = (SELECT conversation FROM turns WHERE id = ?)`, now, turn)
		return err
	})
}
