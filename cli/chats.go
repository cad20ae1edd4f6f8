package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/export"
	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/safetext"
)

func newChats(sh *app.Process) *cobra.Command {
	var limit int
	var asJSON, showJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List conversations, newest first",
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(sh, func(s *store.Store) error { return listChats(cmd.Context(), sh, s, limit, asJSON) })
		},
	}
	list.Flags().IntVarP(&limit, "number", "n", 20, "how many")
	list.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	show := &cobra.Command{
		Use: "show ID", Short: "Print a conversation",
		Long: "Print a conversation. The beginning of its ID is enough.",
		Args: app.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withStore(sh, func(s *store.Store) error { return showChat(cmd.Context(), sh, s, given[0], showJSON) })
		},
	}
	show.Flags().BoolVar(&showJSON, "json", false, "print one JSON object")
	return app.Group("chats", "Conversations that were kept", list, show, newChatsSearch(sh), newChatsRename(sh), newChatsExport(sh), newChatsRemove(sh), newChatsRestore(sh))
}

func listChats(ctx context.Context, sh *app.Process, s *store.Store, limit int, asJSON bool) error {
	if limit < 1 {
		return settings.UsageError{Err: fmt.Errorf("-n: %d is not a number of conversations", limit)}
	}
	list, err := s.Conversations(ctx, limit)
	if err != nil {
		return err
	}
	secrets := app.SecretsOf(sh)
	for i := range list {
		list[i].Title = secrets.Known(list[i].Title)
	}
	if asJSON {
		if list == nil {
			list = []agent.Conversation{}
		}
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.Err, "no conversations yet; `lifehub` starts one")
	}
	for _, c := range list {
		fmt.Fprintf(sh.Out, "%-10s  %s  %3d  %s\n", shortID(c.ID), c.Updated.Local().Format("2006-01-02 15:04"), c.Messages, safetext.Line(c.Title))
	}
	return nil
}

func showChat(ctx context.Context, sh *app.Process, s *store.Store, id string, asJSON bool) error {
	conversation, err := conversationOf(ctx, s, id)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	exchanges, err := s.Exchanges(ctx, conversation.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(struct {
			agent.Conversation
			Exchanges []agent.Exchange `json:"exchanges"`
		}{conversation, exchanges})
	}
	_, err = io.WriteString(sh.Out, export.Markdown(conversation, exchanges))
	return writeError(err)
}
