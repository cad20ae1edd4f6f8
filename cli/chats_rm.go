package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
			return settings.UsageError{Err: err}
		}
		ids = append(ids, conversation.ID)
		fmt.Fprintln(c.Process.Err, app.SecretsOf(c.Process).Known(conversationLine(conversation)))
	}
	if err := app.Confirm(c.Process, "Delete this and everything saved with it?", "delete", c.yes); err != nil {
		return err
	}
	if err := removeFiles(ctx, p, s, ids); err != nil {
		return err
	}
	if err := s.Remove(ctx, ids...); err != nil {
		return err
	}
	copies := filepath.Join(p.Data, "chats") // earlier versions also saved conversations as notes
	if err := errors.Join(os.RemoveAll(copies), os.RemoveAll(p.Index(copies))); err != nil {
		return fmt.Errorf("delete old copies of conversations: %w", err)
	}
	for _, aside := range s.Aside() {
		fmt.Fprintf(c.Process.Err, "! the damaged file %s may still contain the text; delete it when you no longer need it\n", aside)
	}
	return nil
}

// removeFiles deletes the files that MCP servers sent in these conversations, which are outside the
// database.
func removeFiles(ctx context.Context, p settings.Paths, s *store.Store, ids []string) error {
	files, err := os.ReadDir(p.ServerFiles())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(files) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the files of MCP servers: %w", err)
	}
	var said strings.Builder
	for _, id := range ids {
		tree, err := s.Tree(ctx, id)
		if err != nil {
			return err
		}
		for _, e := range tree {
			said.WriteString(e.Answer.Text)
			if trace, err := s.Traces.Read(ctx, e.Turn); err == nil { // not every turn has a trace
				said.Write(trace.Lines)
			}
		}
	}
	for _, f := range files {
		if !strings.Contains(said.String(), f.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(p.ServerFiles(), f.Name())); err != nil {
			return fmt.Errorf("delete what an MCP server sent: %w", err)
		}
	}
	return nil
}
