package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/safetext"
)

func newChatsRemove(sh *app.Process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm ID…", Short: "Delete conversations and all that was kept of them",
		Long: "Delete conversations with their traces, memories, the copies of notes they changed, files of MCP servers,\n" +
			"and their text in the search index and the backups. It cannot be undone.",
		Example: "  lifehub chats rm 3f9c2a 8be01d --yes",
		Args:    app.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			p, err := settings.FindPaths(sh.Getenv)
			if err != nil {
				return err
			}
			return withStore(sh, func(s *store.Store) error { return removeChats(cmd.Context(), sh, p, s, given, yes) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return cmd
}

func removeChats(ctx context.Context, sh *app.Process, p settings.Paths, s *store.Store, given []string, yes bool) error {
	var ids []string
	for _, id := range given {
		c, err := s.Conversation(ctx, id)
		if err != nil {
			return settings.UsageError{Err: err}
		}
		ids = append(ids, c.ID)
		fmt.Fprintf(sh.Err, "%-10s  %s  %3d  %s\n", shortID(c.ID), c.Updated.Local().Format("2006-01-02 15:04"), c.Messages, safetext.Line(c.Title))
	}
	if !yes {
		if !term.IsTerminal(sh.In.Fd()) {
			return settings.UsageError{Err: errors.New("nobody can be asked whether to delete: say --yes")}
		}
		if !app.Agrees(sh, "Delete all that was kept of this?") {
			return app.ExitError{Err: errors.New("nothing was deleted"), Code: app.ExitFailed}
		}
	}
	if err := removeFiles(ctx, p, s, ids); err != nil {
		return err
	}
	if err := s.Remove(ctx, ids...); err != nil {
		return err
	}
	copies := filepath.Join(p.Data, "chats") // earlier versions kept conversations as notes too
	if err := errors.Join(os.RemoveAll(copies), os.RemoveAll(p.Index(copies))); err != nil {
		return fmt.Errorf("delete conversations as notes: %w", err)
	}
	for _, aside := range s.Aside() {
		fmt.Fprintf(sh.Err, "! %s was set aside when it was damaged and may hold the text still; delete it when you need it no more\n", aside)
	}
	return nil
}

// removeFiles deletes what is next to the database: the files that MCP
// servers sent in these conversations.
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
			writeTrace(ctx, &said, s, e)
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

func writeTrace(ctx context.Context, said *strings.Builder, s *store.Store, e agent.Exchange) {
	if trace, err := s.Traces.Read(ctx, e.Turn); err == nil { // none is kept of every turn
		said.Write(trace.Lines)
	}
}
