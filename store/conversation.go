package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/rows"
	"lifehub/llm"
)

// ErrNoConversation says that nothing has been talked about yet, or not
// under that id.
var ErrNoConversation = errors.New("no such conversation")

const conversationColumns = `SELECT id, title, titled, created, updated,
	(SELECT count(*) FROM messages WHERE conversation = c.id AND text <> ''),
	(SELECT max(id) FROM messages WHERE conversation = c.id) AS latest
	FROM conversations c`

// Conversations lists the last conversations, the most recently used first.
// limit 0 lists all.
func (s *Store) Conversations(ctx context.Context, limit int) ([]agent.Conversation, error) {
	if limit == 0 {
		limit = -1
	}
	list, err := s.conversations(ctx, conversationColumns+` ORDER BY latest DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	return list, nil
}

// Conversation finds a conversation by its id or a unique beginning of it.
// The error is [ErrNoConversation] when there is none, and names the
// candidates when there are several.
func (s *Store) Conversation(ctx context.Context, idOrPrefix string) (agent.Conversation, error) {
	prefix := strings.TrimSpace(idOrPrefix)
	list, err := s.conversations(ctx, conversationColumns+` WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> ''
		ORDER BY id = ?1 DESC, latest DESC LIMIT 4`, prefix)
	switch {
	case err != nil:
		return agent.Conversation{}, fmt.Errorf("find conversation %q: %w", idOrPrefix, err)
	case len(list) == 0:
		return agent.Conversation{}, fmt.Errorf("find conversation %q: %w", idOrPrefix, ErrNoConversation)
	case len(list) == 1 || list[0].ID == prefix:
		return list[0], nil
	}
	ids := make([]string, 0, len(list))
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return agent.Conversation{}, fmt.Errorf("find conversation %q: it begins several ids (%s…): give more letters", idOrPrefix, strings.Join(ids, ", "))
}

// Last returns the conversation used last, or [ErrNoConversation].
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

func (s *Store) conversations(ctx context.Context, query string, args ...any) ([]agent.Conversation, error) {
	var list []agent.Conversation
	for scan := range rows.Of(ctx, s.file.Read, query, args...) {
		var c agent.Conversation
		var created, updated int64
		var latest sql.NullInt64
		if err := scan(&c.ID, &c.Title, &c.TitledBy, &created, &updated, &c.Messages, &latest); err != nil {
			return nil, err
		}
		c.Created, c.Updated = time.UnixMilli(created), time.UnixMilli(updated)
		list = append(list, c)
	}
	return list, nil
}

// path walks from a conversation's head to its beginning and keeps the last
// ?2 messages of that way.
const path = `WITH RECURSIVE path (id, parent, turn, role, text, depth) AS (
	SELECT m.id, m.parent, m.turn, m.role, m.text, 1 FROM messages m JOIN conversations c ON m.id = c.head WHERE c.id = ?1
	UNION ALL
	SELECT m.id, m.parent, m.turn, m.role, m.text, depth + 1 FROM messages m JOIN path p ON m.id = p.parent WHERE depth < ?2
) `

// Recent returns the last messages of the conversation's current path before
// the turn under way, oldest first. An answer that was cut counts as far as
// it got; one that never began is left out. Of a conversation that does not
// exist there are none.
func (s *Store) Recent(ctx context.Context, conversation string, limit int) ([]llm.Message, error) {
	if limit <= 0 {
		return nil, nil
	}
	// The turn under way is the open one at the head: two messages to pass
	// over. Of the others every second may be an empty answer.
	var list []llm.Message
	for scan := range rows.Of(ctx, s.file.Read, path+`SELECT role, text FROM path
		WHERE text <> '' AND NOT (depth <= 2 AND (SELECT state FROM turns WHERE id = turn) = 'open')
		ORDER BY depth LIMIT ?3`, conversation, 2*limit+2, limit) {
		var m llm.Message
		if err := scan(&m.Role, &m.Text); err != nil {
			return nil, fmt.Errorf("read recent messages: %w", err)
		}
		list = append([]llm.Message{m}, list...)
	}
	return list, nil
}

// Prompts returns what the user asked last, in any conversation, newest
// first and each text once: what the composer's history holds.
func (s *Store) Prompts(ctx context.Context, limit int) ([]string, error) {
	list, err := texts(ctx, s.file.Read, `SELECT text FROM
		(SELECT id, text FROM messages WHERE role = 'user' ORDER BY id DESC LIMIT 10 * ?1)
		GROUP BY text ORDER BY max(id) DESC LIMIT ?1`, limit)
	if err != nil {
		return nil, fmt.Errorf("read earlier prompts: %w", err)
	}
	return list, nil
}

// maxTitle bounds a title that was given, in characters.
const maxTitle = 200

// Rename gives a conversation the user's own title, cut at 200 characters.
func (s *Store) Rename(ctx context.Context, conversation, title string) error {
	title = strings.Join(strings.Fields(title), " ")
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle-1]) + "…"
	}
	if title == "" {
		return fmt.Errorf("rename conversation %q: the title is empty", conversation)
	}
	_, err := s.file.Write.ExecContext(ctx, `UPDATE conversations SET title = ?, titled = ? WHERE id = ?`, title, agent.ByUser, conversation)
	if err != nil {
		return fmt.Errorf("rename conversation %q: %w", conversation, err)
	}
	return nil
}
