package store

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
)

// Rename gives a conversation the user's own title, which none takes the
// place of. It is cut at 200 characters.
func (s *Store) Rename(ctx context.Context, conversation, title string) error {
	return s.entitle(ctx, conversation, title, agent.ByUser, `id = ?`)
}

// Entitle gives a conversation a title that a model made, unless the user
// gave it one.
func (s *Store) Entitle(ctx context.Context, conversation, title string) error {
	return s.entitle(ctx, conversation, title, agent.ByModel, `id = ? AND titled <> 'user'`)
}

// maxTitle bounds a title that was given, in characters.
const maxTitle = 200

func (s *Store) entitle(ctx context.Context, conversation, given string, by agent.Titled, where string) error {
	given = shorten(strings.Join(strings.Fields(given), " "), maxTitle)
	if given == "" {
		return fmt.Errorf("rename conversation %q: the title is empty", conversation)
	}
	_, err := s.write.ExecContext(ctx, `UPDATE conversations SET title = ?, titled = ? WHERE `+where, given, by, conversation)
	if err != nil {
		return fmt.Errorf("rename conversation %q: %w", conversation, err)
	}
	return nil
}
