package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"lifehub/agent"
	"lifehub/internal/files"
)

// Exchanges returns the turns of the conversation's current path, oldest first. A
// turn is open if it was interrupted or is still running in some process.
func (s *Store) Exchanges(ctx context.Context, conversation string) ([]agent.Exchange, error) {
	return s.exchanges(ctx, conversation, tree.path)
}

// Latest returns the last n turns of the current path, which are shown when a
// long conversation is opened.
func (s *Store) Latest(ctx context.Context, conversation string, n int) ([]agent.Exchange, error) {
	return s.exchanges(ctx, conversation, func(t tree) tree {
		path := t.path()
		return path[max(0, len(path)-n):]
	})
}

// Tree returns all turns of a conversation, on all branches, in the order in
// which they began.
func (s *Store) Tree(ctx context.Context, conversation string) ([]agent.Exchange, error) {
	return s.exchanges(ctx, conversation, func(t tree) tree { return t })
}

// exchanges reads the turns of a conversation that wanted selects.
func (s *Store) exchanges(ctx context.Context, conversation string,
	wanted func(tree) tree,
) (_ []agent.Exchange, err error) {
	defer files.Wrap(&err, "read conversation %q", conversation)
	tx, err := s.file.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // a snapshot of both tree and texts
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	all, err := s.readTree(ctx, tx, conversation)
	if err != nil {
		return nil, err
	}
	return wanted(all).texts(ctx, tx, true)
}

// node is a turn without its texts.
type node struct {
	Exchange agent.Exchange
	answer   int64 // ID of the answer
	before   int64 // ID of the message before the question; 0 for the first turn
}

// tree holds all turns of a conversation in the order in which they began.
type tree []node

// readTree reads the relations of all turns of a conversation, and marks the path
// from its head to its root. This is much faster than a recursive query.
func (s *Store) readTree(ctx context.Context, db files.Querier, conversation string) (tree, error) {
	var head int64
	list, err := files.AllRows(ctx, db, func(scan files.Scan) (n node, err error) {
		var state, owner string
		var undone sql.NullInt64
		err = scan(&n.answer, &n.before, &head, &n.Exchange.Turn,
			files.Milliseconds(&n.Exchange.Asked), &state, &owner, &undone)
		n.Exchange.Open = state == "open"
		n.Exchange.Running = n.Exchange.Open && s.file.Owners.AtWork(owner, n.Exchange.Turn, state)
		n.Exchange.Answer.Cut = state == "cut" || n.Exchange.Open
		n.Exchange.Undone = undone.Valid
		return n, err
	}, `SELECT a.id, coalesce(q.parent, 0), c.head, t.id, t.started, t.state, t.owner, t.undone
		FROM conversations c JOIN turns t ON t.conversation = c.id
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
		WHERE c.id = ? ORDER BY t.number`, conversation)
	tree(list).connect(head)
	return list, err
}

// connect sets the parent, siblings and path of each turn.
func (t tree) connect(head int64) {
	at := make(map[int64]int, len(t)) // index by answer
	siblings := map[int64][]string{}  // turns by the message before their question
	for i, n := range t {
		at[n.answer] = i
		siblings[n.before] = append(siblings[n.before], n.Exchange.Turn)
	}
	for i := range t {
		n := &t[i]
		if above, ok := at[n.before]; ok {
			n.Exchange.After = t[above].Exchange.Turn
		}
		if same := siblings[n.before]; len(same) > 1 {
			n.Exchange.Siblings = same
		}
	}
	for i, ok := at[head]; ok; i, ok = at[t[i].before] {
		t[i].Exchange.Current = true
	}
}

// path returns the turns of the current path.
func (t tree) path() tree {
	return slices.DeleteFunc(slices.Clone(t), func(n node) bool { return !n.Exchange.Current })
}

// pathWhile returns the beginning of a query: path has the turns from the head of
// conversation ?1 towards its root, as long as the condition holds for the turn p
// before. messages counts those from the head to the turn, and began those after
// it. An open turn at the head counts as none.
func pathWhile(condition string) string {
	return `WITH RECURSIVE path (turn, parent, began, messages) AS (
		SELECT q.turn, q.parent, 0, iif(t.state = 'open', 0, 1 + (octet_length(a.text) > 0)) FROM conversations c
			JOIN messages a ON a.id = c.head JOIN messages q ON q.turn = a.turn AND q.role = 'user'
			JOIN turns t ON t.id = a.turn WHERE c.id = ?1
		UNION ALL SELECT q.turn, q.parent, p.messages, p.messages + 1 + (octet_length(a.text) > 0) FROM path p
			JOIN messages a ON a.id = p.parent JOIN messages q ON q.turn = a.turn AND q.role = 'user'
			WHERE ` + condition + `) `
}

// ofConversation is the condition that a turn belongs to conversation ?1.
const ofConversation = `turn >= ?1 || '.' AND turn < ?1 || '/'`

// texts reads the texts of these turns and, if asked for, the courses of their
// answers. This is most of the cost of opening a conversation, so callers request
// only what they need.
func (t tree) texts(ctx context.Context, db files.Querier, courses bool) ([]agent.Exchange, error) {
	at := make(map[string]int, len(t))
	turns, list := make([]string, len(t)), make([]agent.Exchange, len(t))
	for i, n := range t {
		at[n.Exchange.Turn], turns[i], list[i] = i, n.Exchange.Turn, n.Exchange
	}
	ids, err := json.Marshal(turns)
	if err != nil {
		return nil, err
	}
	for scan := range files.Rows(ctx, db, `SELECT t.id, t.error, t.detail, q.text, a.text, q.origin, a.origin
		FROM json_each(?) wanted JOIN turns t ON t.id = wanted.value
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant'`, string(ids)) {
		var turn, failure, question, answer string
		var rest sql.RawBytes // must be parsed before the next row
		var asked, answered origin
		if err := scan(&turn, &failure, &rest, &question, &answer, &asked, &answered); err != nil {
			return nil, err
		}
		var d detail
		if err := json.Unmarshal(rest, &d); err != nil {
			return nil, fmt.Errorf("read turn %s: %w", turn, err)
		}
		e := &list[at[turn]]
		// an earlier version saved a model's own record
		e.Question, e.Answer.Text, e.Answer.Error = question, agent.WithoutRecords(answer), failure
		e.Answer.Origin, e.Origin = answered.Origin, asked.Origin.And(answered.Origin)
		e.Answer.Sources, e.Answer.Citations, e.Answer.Metrics, e.Answer.Effects, e.Answer.Log = d.Sources, d.Citations,
			d.Metrics, d.Effects, d.Log
		if courses && d.Course != nil && json.Unmarshal(d.Course, &e.Answer.Course) != nil {
			e.Answer.Course = nil // written by another version; the trace remains
		}
	}
	return list, nil
}

// GoOn makes a turn the end of the conversation's current path, so that the next
// message starts a new branch there. An empty turn means before the first one. It
// returns [ErrNoConversation] if there is no such turn.
func (s *Store) GoOn(ctx context.Context, conversation, turn string) (err error) {
	defer files.Wrap(&err, "go to turn %q", turn)
	return s.setHead(ctx, conversation, turn, `SELECT id FROM messages WHERE conversation = ?1 AND turn = ?2
		AND role = 'assistant'`)
}

// Show makes the path through a turn current, down to the newest turn below it.
// It changes nothing if the turn is already on the current path. It returns
// [ErrNoConversation] if there is no such turn.
func (s *Store) Show(ctx context.Context, conversation, turn string) (err error) {
	defer files.Wrap(&err, "go to turn %q", turn)
	tree, err := s.readTree(ctx, s.file.Read, conversation)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(tree, func(n node) bool { return n.Exchange.Turn == turn && n.Exchange.Current }) {
		return nil
	}
	// The newest message below the turn is the end of its branch.
	return s.setHead(ctx, conversation, turn, `WITH RECURSIVE below (id) AS (
			SELECT id FROM messages WHERE conversation = ?1 AND turn = ?2 AND role = 'assistant'
			UNION ALL SELECT m.id FROM below b JOIN messages m ON m.parent = b.id)
		SELECT id FROM below ORDER BY id DESC LIMIT 1`)
}

// setHead moves the head to the message selected by query.
func (s *Store) setHead(ctx context.Context, conversation, turn, query string) error {
	return s.file.Update(ctx, func(tx *sql.Tx) error {
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
		if _, err := tx.ExecContext(ctx, `UPDATE conversations SET head = ? WHERE id = ?`, head,
			conversation); err != nil {
			return err
		}
		return forgetBranches(ctx, tx, conversation)
	})
}

// forkMark is appended to the title of a fork.
const forkMark = " (fork)"

// Fork copies the path up to a turn, and the documents as of that turn, into a
// new conversation. Other branches are not copied.
func (s *Store) Fork(ctx context.Context, conversation, turn string) (_ agent.Conversation, err error) {
	defer files.Wrap(&err, "fork conversation %q", conversation)
	tree, err := s.readTree(ctx, s.file.Read, conversation)
	if err != nil {
		return agent.Conversation{}, err
	}
	at := slices.IndexFunc(tree, func(n node) bool { return n.Exchange.Turn == turn })
	if at < 0 {
		return agent.Conversation{}, fmt.Errorf("at turn %q: %w", turn, ErrNoConversation)
	}
	for i := range tree {
		tree[i].Exchange.Current = false
	}
	tree.connect(tree[at].answer)
	fork := s.NewConversation()
	err = s.file.Update(ctx, func(tx *sql.Tx) error {
		now := s.now().UnixMilli()
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, title, titled, created, updated)
			SELECT ?, title || ?4, titled, ?2, ?2 FROM conversations
			WHERE id = ?3`, fork, now, conversation, forkMark); err != nil {
			return err
		}
		number, head := 0, int64(0)
		for _, n := range tree {
			if !n.Exchange.Current {
				continue
			}
			number++
			if head, err = copyTurn(ctx, tx, n.Exchange.Turn, fork, number, head); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE conversations SET head = ? WHERE id = ?`, head, fork); err != nil {
			return err
		}
		return copyHistories(ctx, tx, conversation, fork)
	})
	if err != nil {
		return agent.Conversation{}, err
	}
	return s.Conversation(ctx, fork)
}

// copyTurn copies a turn to the end of another conversation, after the message
// head, and returns the new head. An open turn becomes a truncated one. The
// turn's journal, note changes and documents are copied too, so that the copy can
// be undone and, when resumed, does not repeat calls.
func copyTurn(ctx context.Context, tx *sql.Tx, turn, conversation string, number int, head int64) (int64, error) {
	id := fmt.Sprintf("%s.%d", conversation, number)
	if _, err := tx.ExecContext(ctx, `INSERT INTO turns (id, conversation, number, state, error, detail, started, ended,
		preceding)
		SELECT ?, ?, ?, iif(state = 'open', 'cut', state), error, detail, started, ended, preceding FROM turns
		WHERE id = ?`,
		id, conversation, number, turn); err != nil {
		return 0, err
	}
	for _, role := range []string{"user", "assistant"} {
		result, err := tx.ExecContext(ctx, `INSERT INTO messages (conversation, parent, turn, role, text, created,
			origin)
			SELECT ?, nullif(?, 0), ?, role, text, created, origin FROM messages WHERE turn = ?
			AND role = ?`, conversation, head, id, turn, role)
		if err != nil {
			return 0, err
		}
		if head, err = result.LastInsertId(); err != nil {
			return 0, err
		}
	}
	for _, statement := range []string{
		`INSERT INTO note_changes (turn, vault, path, before, after, created)
			SELECT ?, vault, path, before, after, created FROM note_changes WHERE turn = ? ORDER BY id`,
		`INSERT INTO summaries (turn, text, created, origin) SELECT ?, text, created, origin FROM summaries
			WHERE turn = ?`,
	} {
		if _, err := tx.ExecContext(ctx, statement, id, turn); err != nil {
			return 0, err
		}
	}
	if err := copyArtifacts(ctx, tx, turn, conversation, id); err != nil {
		return 0, err
	}
	return head, copyJournal(ctx, tx, turn, id)
}
