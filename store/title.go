package store

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
)

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
	_, err := s.write.ExecContext(ctx, `UPDATE conversations SET title = ?, titled = ? WHERE id = ?`, title, agent.ByUser, conversation)
	if err != nil {
		return fmt.Errorf("rename conversation %q: %w", conversation, err)
	}
	return nil
}
