package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/store"
	"lifehub/tui/safetext"
)

func newChatsSearch(sh *app.Process) *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "search WORDS", Short: "Find messages by their words, newest first",
		Long: "Find the messages of all conversations that hold every word. A word is found by its beginning, words in\n" +
			"quotes only side by side; case and accents don't count. `lifehub chat -r` opens the chat at what was found.",
		Example: "  lifehub chats search boiler pressure\n  lifehub chats search '\"long run\"' --json\n  lifehub chats search 富士山",
		Args:    app.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withStore(sh, func(s *store.Store) error {
				return searchChats(cmd.Context(), sh, s, strings.Join(given, " "), limit, asJSON)
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "number", "n", 20, "how many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func searchChats(ctx context.Context, sh *app.Process, s *store.Store, words string, limit int, asJSON bool) error {
	if limit < 1 {
		return settings.UsageError{Err: fmt.Errorf("-n: %d is not a number of messages", limit)}
	}
	hits, err := s.Search(ctx, words, limit)
	if err != nil {
		return err
	}
	if asJSON {
		if hits == nil {
			hits = []agent.Hit{}
		}
		return writeError(json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(hits))
	}
	var b strings.Builder
	for _, h := range hits {
		who := "LifeHub"
		if h.Role == llm.User {
			who = "You"
		}
		// ** marks what was found, as it would in a note.
		excerpt := h.Excerpt[:h.From] + "**" + h.Excerpt[h.From:h.To] + "**" + h.Excerpt[h.To:]
		fmt.Fprintf(&b, "%-13s %s  %s\n      %s: %s\n", safetext.Line(h.Turn), h.Time.Local().Format("2006-01-02 15:04"), safetext.Line(h.Title), who, safetext.Line(excerpt))
	}
	if len(hits) == 0 {
		fmt.Fprintln(sh.Err, "no message holds all of that")
	}
	_, err = io.WriteString(sh.Out, b.String())
	return writeError(err)
}

func newChatsRename(sh *app.Process) *cobra.Command {
	return &cobra.Command{
		Use: "rename ID TITLE", Short: "Give a conversation a title of your own",
		Example: "  lifehub chats rename 3f9c2a Marathon plan",
		Args:    app.Args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withStore(sh, func(s *store.Store) error {
				c, err := conversationOf(cmd.Context(), s, given[0])
				if err != nil {
					return settings.UsageError{Err: err}
				}
				return s.Rename(cmd.Context(), c.ID, strings.Join(given[1:], " "))
			})
		},
	}
}
