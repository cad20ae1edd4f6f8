package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/files"
	"lifehub/internal/text"
)

// ErrNoConversation reports that there are no conversations, or none with the
// given ID.
var ErrNoConversation = errors.New("no such conversation")

const conversationColumns = `SELECT id, title, titled, created, updated, messages,
	(SELECT max(id) FROM messages WHERE conversation = c.id) AS latest
	FROM conversations c`

// Conversations lists conversations, the most recently used first; limit 0 lists
// all.
func (s *Store) Conversations(ctx context.Context, limit int) (_ []agent.Conversation, err error) {
	defer files.Wrap(&err, "list conversations")
	return s.conversations(ctx, conversationColumns+` ORDER BY latest DESC LIMIT ifnull(nullif(?, 0), -1)`, limit)
}

// Conversation finds a conversation by its ID or a unique prefix of it. It
// returns [ErrNoConversation] if there is none. If the prefix is ambiguous, the
// error lists the matching IDs.
func (s *Store) Conversation(ctx context.Context, idOrPrefix string) (_ agent.Conversation, err error) {
	defer files.Wrap(&err, "find conversation %q", idOrPrefix)
	prefix := strings.TrimSpace(idOrPrefix)
	list, err := s.conversations(ctx, conversationColumns+` WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> ''
		ORDER BY id = ?1 DESC, latest DESC LIMIT 4`, prefix)
	switch {
	case err != nil:
		return agent.Conversation{}, err
	case len(list) == 0:
		ids, err := files.AllRows(ctx, s.file.Read, func(scan files.Scan) (id string, err error) {
			return id,
				scan(&id)
		}, `SELECT id FROM conversations`)
		if err != nil {
			return agent.Conversation{}, err
		}
		near := ""
		if id := text.Nearest(prefix, ids, 3); id != "" {
			near = " (did you mean " + id + "?)"
		}
		return agent.Conversation{}, fmt.Errorf("%w%s; `lifehub chats` lists them", ErrNoConversation, near)
	case len(list) == 1 || list[0].ID == prefix:
		return list[0], nil
	}
	ids := make([]string, 0, len(list))
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return agent.Conversation{}, fmt.Errorf("ambiguous ID prefix (%s…): give more characters", strings.Join(ids, ", "))
}

// Last returns the most recently used conversation, or [ErrNoConversation].
func (s *Store) Last(ctx context.Context) (agent.Conversation, error) {
	list, err := s.Conversations(ctx, 1)
	if err != nil {
		return agent.Conversation{}, err
	}
	if len(list) == 0 {
		return agent.Conversation{}, ErrNoConversation
	}
	return list[0], nil
}

// OpenTurn returns the latest turn since the given time that has this message, is
// the last one of its conversation and never ended. turn is empty if there is
// none.
func (s *Store) OpenTurn(ctx context.Context, message string, since time.Time) (conversation, turn string, err error) {
	defer files.Wrap(&err, "find a turn that was interrupted")
	err = s.file.Read.QueryRowContext(ctx, `SELECT t.conversation, t.id FROM turns t
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
		JOIN conversations c ON c.id = t.conversation AND c.head = a.id
		WHERE t.state = 'open' AND t.undone IS NULL AND t.started >= ? AND q.text = ? ORDER BY t.started DESC
		LIMIT 1`, since.UnixMilli(), message).Scan(&conversation, &turn)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return conversation, turn, err
}

// UnfinishedConversation is a conversation whose last answer was stopped, cut off or failed.
type UnfinishedConversation struct {
	ID, Title string
	Updated   time.Time
	Outside   bool // others than the user and the user's notes had a part in it, and maybe in its title
}

// Unfinished lists the unfinished conversations that were used since a time, the most recently used first,
// without those in which an answer is being written.
func (s *Store) Unfinished(ctx context.Context, since time.Time) (list []UnfinishedConversation, err error) {
	defer files.Wrap(&err, "list unfinished conversations")
	for scan := range files.Rows(ctx, s.file.Read, `SELECT c.id, c.title, c.updated, t.id, t.state, t.owner,
		EXISTS (SELECT 1 FROM messages m WHERE m.conversation = c.id AND m.origin ->> 'outside' IS NOT NULL)
		FROM conversations c JOIN messages a ON a.id = c.head JOIN turns t ON t.id = a.turn
		WHERE t.state <> 'done' AND t.undone IS NULL AND c.updated >= ? ORDER BY c.updated DESC`, since.UnixMilli()) {
		var c UnfinishedConversation
		var turn, state, owner string
		if err := scan(&c.ID, &c.Title, files.Milliseconds(&c.Updated), &turn, &state, &owner, &c.Outside); err != nil {
			return nil, err
		}
		if !s.file.Owners.AtWork(owner, turn, state) {
			list = append(list, c)
		}
	}
	return list, nil
}

func (s *Store) conversations(ctx context.Context, query string, args ...any) ([]agent.Conversation, error) {
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (c agent.Conversation, err error) {
		var latest sql.NullInt64
		return c, scan(&c.ID, &c.Title, &c.TitledBy, files.Milliseconds(&c.Created),
			files.Milliseconds(&c.Updated), &c.Messages, &latest)
	}, query, args...)
}

// Window returns the turns of the conversation's current path after its newest
// summary that have at most so many messages. For an unknown conversation it is
// empty.
func (s *Store) Window(ctx context.Context, conversation string, messages int) (w agent.Window, err error) {
	defer files.Wrap(&err, "read recent messages")
	tx, err := s.file.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // a snapshot of both path and texts
	if err != nil {
		return w, err
	}
	defer tx.Rollback()
	var shown tree
	for scan := range files.Rows(ctx, tx, pathWhile(`(p.messages < ?2 OR EXISTS (SELECT 1 FROM summaries
		WHERE `+ofConversation+`))
		AND NOT EXISTS (SELECT 1 FROM summaries WHERE turn = p.turn)`)+
		`SELECT p.turn, p.messages, t.state, t.owner, t.undone IS NOT NULL, t.preceding, coalesce(y.text, ''),
			coalesce(y.origin, '{}')
		FROM path p JOIN turns t ON t.id = p.turn LEFT JOIN summaries y ON y.turn = p.turn WHERE p.began < ?2
		OR y.turn IS NOT NULL`, conversation, messages) {
		var n node
		var upTo, preceding int
		var state, owner, summary string
		var from origin
		if err := scan(&n.Exchange.Turn, &upTo, &state, &owner, &n.Exchange.Undone, &preceding,
			&summary, &from); err != nil {
			return w, err
		}
		n.Exchange.Open = state == "open"
		n.Exchange.Running = n.Exchange.Open && s.file.Owners.AtWork(owner, n.Exchange.Turn, state)
		if len(shown) == 0 {
			w.Before = preceding + upTo
		}
		if summary != "" {
			w.Summary = agent.Summary{Turn: n.Exchange.Turn, Text: summary, Origin: from.Origin}
		} else if upTo <= messages {
			shown, w.Before = append(shown, n), preceding
		}
	}
	slices.Reverse(shown)
	w.Exchanges, err = shown.texts(ctx, tx, false)
	return w, err
}

// Prompts returns the user's latest messages in all conversations for the
// composer's history, newest first and without duplicates.
func (s *Store) Prompts(ctx context.Context, limit int) (_ []string, err error) {
	defer files.Wrap(&err, "read earlier prompts")
	list, err := files.Column[string](ctx, s.file.Read, `SELECT text FROM
		(SELECT id, text FROM messages WHERE role = 'user' ORDER BY id DESC LIMIT 10 * ?1)
		GROUP BY text ORDER BY max(id) DESC LIMIT ?1`, limit)
	var prompts []string
	for _, saved := range list {
		message, steering := agent.SplitSteering(saved)
		slices.Reverse(steering)
		for _, text := range append(steering, message) {
			if !slices.Contains(prompts, text) {
				prompts = append(prompts, text)
			}
		}
	}
	return prompts[:min(limit, len(prompts))], err
}

// maxTitle bounds a title given by the user, in characters.
const maxTitle = 200

// Rename sets the title of a conversation, truncated to 200 characters.
func (s *Store) Rename(ctx context.Context, conversation, title string) (err error) {
	defer files.Wrap(&err, "rename conversation %q", conversation)
	title = strings.Join(strings.Fields(title), " ")
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle-1]) + "…"
	}
	if title == "" {
		return errors.New("the title is empty")
	}
	_, err = s.file.Write.ExecContext(ctx, `UPDATE conversations SET title = ?, titled = ? WHERE id = ?`, title,
		agent.ByUser, conversation)
	return err
}
