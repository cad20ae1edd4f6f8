package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// chatsCommand is `lifehub chats` and its flags.
type chatsCommand struct {
	Process      *app.Process
	limit        int
	asJSON, yes  bool
	format, file string
}

func newChats(sh *app.Process) *cobra.Command {
	c := &chatsCommand{Process: sh}
	list := &cobra.Command{Use: "list", Short: "List conversations, newest first", RunE: app.ReadingStore(sh, c.list)}
	app.AddNumber(list, &c.limit, 20, 1, "conversations", "how many")
	app.AddJSON(list, &c.asJSON, "print a JSON array")
	show := &cobra.Command{
		Use: "show [ID]", Short: "Print a conversation",
		Long: "Print a conversation, without an ID the last one. The first characters of its ID are enough.",
		RunE: app.ReadingStore(sh, c.show),
	}
	app.AddJSON(show, &c.asJSON, "print one JSON object")
	search := &cobra.Command{
		Use: "search WORDS…", Short: "Search messages, newest first",
		Long: "Find messages that contain every word, in all conversations. Words match by prefix, quoted words as a\n" +
			"phrase; case and accents are ignored. `lifehub chat -r` opens the chat at a message that was found.",
		Example: "  lifehub chats search boiler pressure\n  lifehub chats search '\"long run\"' --json\n  lifehub " +
			"chats search 富士山",
		RunE: app.ReadingStore(sh, c.search),
	}
	app.AddNumber(search, &c.limit, 20, 1, "messages", "how many")
	app.AddJSON(search, &c.asJSON, "print a JSON array")
	rename := &cobra.Command{
		Use: "rename ID TITLE…", Short: "Rename a conversation",
		Example: "  lifehub chats rename 3f9c2a Marathon plan",
		RunE:    app.WithStore(sh, c.rename),
	}
	remove := &cobra.Command{
		Use: "rm ID…", Short: "Delete conversations and everything saved with them",
		Long: "Delete conversations with their traces, memories, copies of the notes they changed, files from MCP " +
			"servers,\n" +
			"and their text in the search index and the backups. This cannot be undone.",
		Example: "  lifehub chats rm 3f9c2a 8be01d --yes",
		RunE:    app.WithStore(sh, c.remove),
	}
	remove.Flags().BoolVar(&c.yes, "yes", false, "don't ask for confirmation")
	restore := &cobra.Command{
		Use: "restore", Short: "Restore the newest backup",
		Long: "Replace the conversations by the newest intact backup, or by an empty file if there is none. The " +
			"current\n" +
			"file is saved next to it and never changed again. A backup is made once a day, by any command that saves.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := settings.FindPaths(sh.Getenv)
			if err != nil {
				return err
			}
			return app.RestoreChats(cmd.Context(), sh, p.Database(), c.yes)
		},
	}
	restore.Flags().BoolVar(&c.yes, "yes", false, "don't ask for confirmation")
	return app.Group("chats", "Saved conversations", list, show, search, rename, newExport(sh), remove, restore)
}

// newExport returns `lifehub export`, which is also `lifehub chats export`.
func newExport(sh *app.Process) *cobra.Command {
	c := &chatsCommand{Process: sh}
	export := &cobra.Command{
		Use: "export [ID]", Short: "Export a conversation as Markdown, JSON or HTML",
		Long: "Export a conversation to stdout or a file, without an ID the last one. Markdown and HTML contain the " +
			"current branch, JSON the whole\n" +
			"tree. The HTML page is self-contained: it loads and runs nothing. In Markdown, images, links and HTML\n" +
			"become plain text, because the program that opens the file might load or run them.",
		Example: "  lifehub export 3f9c2a -o trip.html\n  lifehub export 3f9c2a --format json | jq " +
			"'.exchanges[].question'",
		RunE: app.ReadingStore(sh, c.export),
	}
	export.Flags().StringVar(&c.format, "format", "", "md, json or html (default: by the file's extension, else md)")
	export.Flags().StringVarP(&c.file, "output", "o", "", "write to this file, readable only by you")
	return export
}

func (c *chatsCommand) list(ctx context.Context, s *store.Store, _ []string) error {
	list, err := s.Conversations(ctx, c.limit)
	if err != nil {
		return err
	}
	return app.PrintList(c.Process, c.asJSON, "conversations",
		"no conversations yet; `lifehub` starts one", list, conversationLine)
}

func conversationLine(c agent.Conversation) string {
	return fmt.Sprintf("%-10s  %s  %3d  %s", shortID(c.ID), c.Updated.Local().Format(app.ShownTime),
		c.Messages, safetext.Line(c.Title))
}

func (c *chatsCommand) show(ctx context.Context, s *store.Store, given []string) error {
	conversation, err := c.conversation(ctx, s, given)
	if err != nil {
		return err
	}
	exchanges, err := s.Exchanges(ctx, conversation.ID)
	if err != nil {
		return err
	}
	if c.asJSON {
		return app.PrintJSON(c.Process, "conversation", struct {
			agent.Conversation
			Exchanges []agent.Exchange `json:"exchanges"`
		}{conversation, exchanges})
	}
	return printDocument(c.Process, app.SecretsOf(c.Process).Known(app.ConversationMarkdown(conversation, exchanges)),
		0)
}

func (c *chatsCommand) search(ctx context.Context, s *store.Store, words []string) error {
	hits, err := s.Search(ctx, "", strings.Join(words, " "), c.limit)
	if err != nil {
		return err
	}
	err = app.PrintList(c.Process, c.asJSON, "conversations", "no messages match", hits, func(h agent.Hit) string {
		who := "LifeHub"
		if h.Role == llm.User {
			who = "You"
		}
		return fmt.Sprintf("%-13s %s  %s\n      %s: %s",
			safetext.Line(h.Turn), h.Time.Local().Format(app.ShownTime), safetext.Line(h.Title), who,
			safetext.Line(marked(h)))
	})
	return cmp.Or(err, app.NothingFound(len(hits) == 0))
}

// marked returns the excerpt of a message with its match, and nothing else, between **.
func marked(h agent.Hit) string {
	plain := strings.NewReplacer("***", "", "**", "").Replace
	return plain(h.Excerpt[:h.From]) + "**" + plain(h.Excerpt[h.From:h.To]) + "**" + plain(h.Excerpt[h.To:])
}

func (c *chatsCommand) rename(ctx context.Context, s *store.Store, given []string) error {
	conversation, err := conversationOf(ctx, s, given[0])
	if err != nil {
		return err
	}
	return s.Rename(ctx, conversation.ID, strings.Join(given[1:], " "))
}

func (c *chatsCommand) export(ctx context.Context, s *store.Store, given []string) error {
	conversation, err := c.conversation(ctx, s, given)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := app.WriteConversation(ctx, s, conversation, app.ExportFormat(c.format, c.file), &b); err != nil {
		return err
	}
	if c.file != "" {
		return files.Write(c.file, []byte(app.SecretsOf(c.Process).Known(b.String())))
	}
	return app.PrintText(c.Process, "conversation", b.String())
}

// conversation finds the given conversation or, without one, the last, and prints which that is.
func (c *chatsCommand) conversation(ctx context.Context, s *store.Store, given []string) (agent.Conversation, error) {
	if len(given) > 0 {
		return conversationOf(ctx, s, given[0])
	}
	last, err := s.Conversations(ctx, 1)
	if err != nil {
		return agent.Conversation{}, err
	}
	if len(last) == 0 {
		return agent.Conversation{}, app.ExitError{Err: errors.New("there are no conversations yet; `lifehub` starts one"), Code: app.ExitNothing}
	}
	fmt.Fprintf(c.Process.Err, "the last conversation, %s: %s\n", shortID(last[0].ID),
		safetext.Line(app.SecretsOf(c.Process).Known(last[0].Title)))
	return last[0], nil
}

// conversationOf finds a conversation by its ID or by the ID of one of its turns, as `chats search`
// and `trace list` print it.
func conversationOf(ctx context.Context, s *store.Store, id string) (agent.Conversation, error) {
	id, _, _ = strings.Cut(id, ".")
	c, err := s.Conversation(ctx, id)
	if err != nil {
		return c, noConversation(err)
	}
	return c, nil
}

// noConversation returns why no conversation was found by an ID, with its exit code.
func noConversation(err error) error {
	if errors.Is(err, store.ErrNoConversation) {
		return app.ExitError{Err: err, Code: app.ExitNothing}
	}
	return settings.UsageError{Err: err}
}

// shortID returns enough of an ID to name a conversation on the command line.
func shortID(id string) string { return id[:min(len(id), 10)] }
