package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lifehub/cli/settings"
	"lifehub/store"
)

// RemoveConversations deletes conversations and everything saved with them, including files
// outside the database.
func RemoveConversations(ctx context.Context, p settings.Paths, s *store.Store, ids []string) error {
	if err := removeServerFiles(ctx, p, s, ids); err != nil {
		return err
	}
	if err := s.Remove(ctx, ids...); err != nil {
		return err
	}
	copies := filepath.Join(p.Data, "chats") // earlier versions also saved conversations as notes
	if err := errors.Join(os.RemoveAll(copies), os.RemoveAll(p.Index(copies))); err != nil {
		return fmt.Errorf("delete old copies of conversations: %w", err)
	}
	return nil
}

// removeServerFiles deletes the files that MCP servers sent in these conversations.
func removeServerFiles(ctx context.Context, p settings.Paths, s *store.Store, ids []string) error {
	files, err := os.ReadDir(p.ServerFiles())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(files) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the files of MCP servers: %w", err)
	}
	var texts strings.Builder
	for _, id := range ids {
		tree, err := s.Tree(ctx, id)
		if err != nil {
			return err
		}
		for _, e := range tree {
			texts.WriteString(e.Answer.Text)
			if trace, err := s.Traces.Read(ctx, e.Turn); err == nil { // not every turn has a trace
				texts.Write(trace.Lines)
			}
		}
	}
	for _, f := range files {
		if !strings.Contains(texts.String(), f.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(p.ServerFiles(), f.Name())); err != nil {
			return fmt.Errorf("delete what an MCP server sent: %w", err)
		}
	}
	return nil
}
