package cli

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
)

// withStore opens the conversations for one command.
func withStore(sh *app.Process, do func(*store.Store) error) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	s, err := store.Open(p.Database())
	if err != nil {
		return err
	}
	defer s.Close()
	if text := s.Warning(); text != "" {
		fmt.Fprintf(sh.Err, "! %s\n", text)
	}
	return do(s)
}

// conversationOf finds a conversation by its id, or by that of a message in it
// as `chats search` and `trace list` print it.
func conversationOf(ctx context.Context, s *store.Store, id string) (agent.Conversation, error) {
	id, _, _ = strings.Cut(id, ".")
	return s.Conversation(ctx, id)
}

// shortID is enough of an id to name a conversation on the command line.
func shortID(id string) string {
	if len(id) > 10 {
		return id[:10]
	}
	return id
}

// writeError names what an error of writing to stdout stopped.
func writeError(err error) error {
	if err != nil {
		return fmt.Errorf("write the conversations: %w", err)
	}
	return nil
}
