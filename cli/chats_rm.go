package cli

import (
	"context"
	"fmt"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
)

// remove deletes conversations and everything saved with them.
func (c *chatsCommand) remove(ctx context.Context, s *store.Store, given []string) error {
	p, err := settings.FindPaths(c.Process.Getenv)
	if err != nil {
		return err
	}
	var ids []string
	for _, id := range given {
		conversation, err := s.Conversation(ctx, id)
		if err != nil {
			return noConversation(err)
		}
		ids = append(ids, conversation.ID)
		fmt.Fprintln(c.Process.Err, app.SecretsOf(c.Process).Known(conversationLine(conversation)))
	}
	if err := app.Confirm(ctx, c.Process, "Delete this and everything saved with it?", "delete", c.yes); err != nil {
		return err
	}
	if err := app.RemoveConversations(ctx, p, s, ids); err != nil {
		return err
	}
	for _, aside := range s.Aside() {
		c.Process.Notice("the damaged file " + aside + " may still contain the text; delete it when you no longer " +
			"need it")
	}
	return nil
}
