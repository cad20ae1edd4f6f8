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
	"lifehub/internal/database"
	"lifehub/internal/text"
	"lifehub/internal/wrap"
	"lifehub/llm"
)

// ErrNoConversation reports that there are no conversations, or none with the
// given ID.
var ErrNoConversation = errors.New("no such conversation")

const conversationColumns = `SELECT id, title, titled, created, updated,
	(SELECT count(*) FROM messages WHERE conversation = c.id AND text <> ''),
	(SELECT max(id) FROM messages WHERE conversation = c.id) AS latest
	FROM conversations c`

// Conversations lists conversations, the most recently used first; limit 0 lists
// all.
func (s *Store) Conversations(ctx context.Context, limit int) (_ []agent.Conversation, err error) {
	defer wrap.Error(&err, "list conversations")
	return s.conversations(ctx, conversationColumns+` ORDER BY latest DESC LIMIT ifnull(nullif(?, 0), -1)`, limit)
}

// Conversation finds a conversation by its ID or a unique prefix of it. It
// returns [ErrNoConversation] if there is none. If the prefix is ambiguous, the
// error lists the matching IDs.
func (s *Store) Conversation(ctx context.Context, idOrPrefix string) (_ agent.Conversation, err error) {
	defer wrap.Error(&err, "find conversation %q", idOrPrefix)
	prefix := strings.TrimSpace(idOrPrefix)
	list, err := s.conversations(ctx, conversationColumns+` WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> ''
		ORDER BY id = ?1 DESC, latest DESC LIMIT 4`, prefix)
	switch {
	case err != nil:
		return agent.Conversation{}, err
	case len(list) == 0:
		ids, err := database.AllRows(ctx, s.file.Read, func(scan database.Scan) (id string, err error) { return id, scan(&id) }, `SELECT id FROM conversations`)
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
	defer wrap.Error(&err, "find a turn that was interrupted")
	err = s.file.Read.QueryRowContext(ctx, `SELECT t.conversation, t.id FROM turns t
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
		JOIN conversations c ON c.id = t.conversation AND c.head = a.id
		WHERE t.state = 'open' AND t.undone IS NULL AND t.started >= ? AND q.text = ? ORDER BY t.started DESC LIMIT 1`, since.UnixMilli(), message).Scan(&conversation, &turn)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return conversation, turn, err
}

func (s *Store) conversations(ctx context.Context, query string, args ...any) ([]agent.Conversation, error) {
	return database.AllRows(ctx, s.file.Read, func(scan database.Scan) (c agent.Conversation, err error) {
		var latest sql.NullInt64
		return c, scan(&c.ID, &c.Title, &c.TitledBy, database.Milliseconds(&c.Created), database.Milliseconds(&c.Updated), &c.Messages, &latest)
	}, query, args...)
}

// path follows parents from a conversation's head to its root and selects the
// last ?2 messages.
const path = `WITH RECURSIVE path (id, parent, turn, role, text, depth) AS (
	SELECT m.id, m.parent, m.turn, m.role, m.text, 1 FROM messages m JOIN conversations c ON m.id = c.head WHERE c.id = ?1
	UNION ALL
	SELECT m.id, m.parent, m.turn, m.role, m.text, depth + 1 FROM messages m JOIN path p ON m.id = p.parent WHERE depth < ?2
) `

// Recent returns the last messages of the conversation's current path before the
// running turn, oldest first. A truncated answer is included as far as it was
// saved; an empty one is omitted. For an unknown conversation the list is empty.
func (s *Store) Recent(ctx context.Context, conversation string, limit int) (list []llm.Message, err error) {
	defer wrap.Error(&err, "read recent messages")
	// Skip two messages of the running turn, which is the open one at the head.
	// Every second of the others may be an empty answer.
	list, err = database.AllRows(ctx, s.file.Read, func(scan database.Scan) (m llm.Message, err error) {
		return m, scan(&m.Role, &m.Text)
	}, path+`SELECT role, text FROM path
		WHERE text <> '' AND NOT (depth <= 2 AND (SELECT state FROM turns WHERE id = turn) = 'open')
		ORDER BY depth LIMIT ?3`, conversation, 2*limit+2, max(0, limit))
	slices.Reverse(list)
	return list, err
}

// Prompts returns the user's latest messages in all conversations for the
// composer's history, newest first and without duplicates.
func (s *Store) Prompts(ctx context.Context, limit int) (_ []string, err error) {
	defer wrap.Error(&err, "read earlier prompts")
	list, err := database.Column[string](ctx, s.file.Read, `SELECT text FROM
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
	defer wrap.Error(&err, "rename conversation %q", conversation)
	title = strings.Join(strings.Fields(title), " ")
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle-1]) + "…"
	}
	if title == "" {
		return errors.New("the title is empty")
	}
	_, err = s.file.Write.ExecContext(ctx, `UPDATE conversations SET title = ?, titled = ? WHERE id = ?`, title, agent.ByUser, conversation)
	return err
}
