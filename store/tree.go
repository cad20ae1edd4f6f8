package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lifehub/agent"
)

// Exchanges returns the turns of the conversation's current path, oldest
// first. An open one was never finished: LifeHub was stopped in the middle,
// or another one is at it now.
func (s *Store) Exchanges(ctx context.Context, conversation string) ([]agent.Exchange, error) {
	tree, err := s.readTree(ctx, conversation)
	if err != nil {
		return nil, fmt.Errorf("read conversation %q: %w", conversation, err)
	}
	return tree.exchanges(func(n node) bool { return n.Current })
}

// Tree returns all turns of a conversation, of whatever branch, in the order
// in which they were asked.
func (s *Store) Tree(ctx context.Context, conversation string) ([]agent.Exchange, error) {
	tree, err := s.readTree(ctx, conversation)
	if err != nil {
		return nil, fmt.Errorf("read conversation %q: %w", conversation, err)
	}
	return tree.exchanges(func(node) bool { return true })
}

// node is a turn as it was read.
type node struct {
	agent.Exchange
	answer int64  // the id of its answer
	before int64  // the message that the question answers; 0: it begins the conversation
	detail string // JSON, parsed only for those that are asked for
}

// tree is all turns of a conversation, in the order of asking.
type tree []node

// readTree reads all turns of the conversation and then walks from its head to
// its beginning: faster by far than having SQLite walk.
func (s *Store) readTree(ctx context.Context, conversation string) (tree, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT a.id, coalesce(q.parent, 0), c.head, t.id, t.started, t.state, t.owner, t.error, t.detail, t.undone, q.text, a.text
		FROM conversations c JOIN turns t ON t.conversation = c.id
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
		WHERE c.id = ? ORDER BY t.number`, conversation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list tree
	var head int64
	for rows.Next() {
		var n node
		var started int64
		var state, owner string
		var undone sql.NullInt64
		if err := rows.Scan(&n.answer, &n.before, &head, &n.Turn, &started, &state, &owner, &n.Answer.Error, &n.detail, &undone, &n.Question, &n.Answer.Text); err != nil {
			return nil, err
		}
		n.Asked = time.UnixMilli(started)
		n.Open = state == "open"
		n.Running = n.Open && s.owners.atWork(owner, n.Turn, state)
		n.Answer.Cut = state == "cut" || n.Open
		n.Undone = undone.Valid
		list = append(list, n)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	list.connect(head)
	return list, nil
}

// connect finds each turn's place in the tree.
func (t tree) connect(head int64) {
	at := make(map[int64]int, len(t)) // by answer
	siblings := map[int64][]string{}  // by the message that they answer
	for i, n := range t {
		at[n.answer] = i
		siblings[n.before] = append(siblings[n.before], n.Turn)
	}
	for i := range t {
		n := &t[i]
		if above, ok := at[n.before]; ok {
			n.After = t[above].Turn
		}
		if same := siblings[n.before]; len(same) > 1 {
			n.Siblings = same
		}
	}
	for i, ok := at[head]; ok; i, ok = at[t[i].before] {
		t[i].Current = true
	}
}

// exchanges are the turns that are wanted, with all there is about them.
func (t tree) exchanges(wanted func(node) bool) ([]agent.Exchange, error) {
	var list []agent.Exchange
	for _, n := range t {
		if !wanted(n) {
			continue
		}
		var d detail
		if err := json.Unmarshal([]byte(n.detail), &d); err != nil {
			return nil, fmt.Errorf("read turn %s: %w", n.Turn, err)
		}
		n.Answer.Sources, n.Answer.Citations, n.Answer.Metrics = d.Sources, d.Citations, d.Metrics
		list = append(list, n.Exchange)
	}
	return list, nil
}

// GoOn makes a turn the end of the conversation's current path: the next
// message answers it, beside what answered it before. turn "" goes before the
// first. The error is [ErrNoConversation] when there is no such turn.
func (s *Store) GoOn(ctx context.Context, conversation, turn string) error {
	return s.setHead(ctx, conversation, turn, `SELECT id FROM messages WHERE conversation = ?1 AND turn = ?2 AND role = 'assistant'`)
}

// Show makes the path through a turn current, down to the newest turn below
// it; when the turn is on the current path already, that stays. The error is [ErrNoConversation] when there is no such turn.
func (s *Store) Show(ctx context.Context, conversation, turn string) error {
	tree, err := s.readTree(ctx, conversation)
	if err != nil {
		return fmt.Errorf("go to turn %q: %w", turn, err)
	}
	if slices.ContainsFunc(tree, func(n node) bool { return n.Turn == turn && n.Current }) {
		return nil
	}
	// The newest message of a branch ends it: nothing answers it yet.
	return s.setHead(ctx, conversation, turn, `WITH RECURSIVE below (id) AS (
			SELECT id FROM messages WHERE conversation = ?1 AND turn = ?2 AND role = 'assistant'
			UNION ALL SELECT m.id FROM below b JOIN messages m ON m.parent = b.id)
		SELECT id FROM below ORDER BY id DESC LIMIT 1`)
}

// setHead moves the head to the message that a query finds.
func (s *Store) setHead(ctx context.Context, conversation, turn, query string) error {
	err := s.update(ctx, func(tx *sql.Tx) error {
		var head int64
		if turn != "" {
			err := tx.QueryRowContext(ctx, query, conversation, turn).Scan(&head)
			if err == sql.ErrNoRows {
				return ErrNoConversation
			}
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE conversations SET head = ? WHERE id = ?`, head, conversation)
		return err
	})
	if err != nil {
		return fmt.Errorf("go to turn %q: %w", turn, err)
	}
	return nil
}

// Fork copies the path that ends with a turn into a new conversation and
// returns its id. Of the tree beside that path nothing is copied.
func (s *Store) Fork(ctx context.Context, conversation, turn string) (string, error) {
	tree, err := s.readTree(ctx, conversation)
	if err != nil {
		return "", fmt.Errorf("fork conversation %q: %w", conversation, err)
	}
	at := slices.IndexFunc(tree, func(n node) bool { return n.Turn == turn })
	if at < 0 {
		return "", fmt.Errorf("fork conversation %q at turn %q: %w", conversation, turn, ErrNoConversation)
	}
	for i := range tree {
		tree[i].Current = false
	}
	tree.connect(tree[at].answer)
	fork := s.NewConversation()
	err = s.update(ctx, func(tx *sql.Tx) error {
		now := s.now().UnixMilli()
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, title, titled, created, updated)
			SELECT ?, title, titled, ?2, ?2 FROM conversations WHERE id = ?3`, fork, now, conversation); err != nil {
			return err
		}
		number, head := 0, int64(0)
		for _, n := range tree {
			if !n.Current {
				continue
			}
			number++
			if head, err = copyTurn(ctx, tx, n.Turn, fork, number, head); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE conversations SET head = ? WHERE id = ?`, head, fork)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("fork conversation %q: %w", conversation, err)
	}
	return fork, nil
}

// copyTurn puts a copy of a turn at the end of another conversation, after the
// message head, and returns the new head. What was still open is cut there.
func copyTurn(ctx context.Context, tx *sql.Tx, turn, conversation string, number int, head int64) (int64, error) {
	id := fmt.Sprintf("%s.%d", conversation, number)
	if _, err := tx.ExecContext(ctx, `INSERT INTO turns (id, conversation, number, state, error, detail, started, ended, outside)
		SELECT ?, ?, ?, iif(state = 'open', 'cut', state), error, detail, started, ended, outside FROM turns WHERE id = ?`,
		id, conversation, number, turn); err != nil {
		return 0, err
	}
	for _, role := range []string{"user", "assistant"} {
		result, err := tx.ExecContext(ctx, `INSERT INTO messages (conversation, parent, turn, role, text, created)
			SELECT ?, nullif(?, 0), ?, role, text, created FROM messages WHERE turn = ? AND role = ?`, conversation, head, id, turn, role)
		if err != nil {
			return 0, err
		}
		if head, err = result.LastInsertId(); err != nil {
			return 0, err
		}
	}
	return head, nil
}
