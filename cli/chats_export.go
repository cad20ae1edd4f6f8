package cli

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/export"
	"lifehub/cli/settings"
	"lifehub/internal/atomicfile"
	"lifehub/store"
)

func newChatsExport(sh *app.Process) *cobra.Command {
	var format, file string
	cmd := &cobra.Command{
		Use: "export ID", Short: "Write a conversation as markdown, JSON or a web page",
		Long: "Write a conversation to stdout or a file. Markdown and HTML hold the path that is shown, JSON the whole\n" +
			"tree. The web page stands alone: it loads and runs nothing. In markdown, pictures, links and HTML are\n" +
			"text that shows their addresses, for the program that opens it may load or run them.",
		Example: "  lifehub chats export 3f9c2a -o trip.html\n  lifehub chats export 3f9c2a --format json | jq '.exchanges[].question'",
		Args:    app.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withStore(sh, func(s *store.Store) error { return exportChat(cmd.Context(), sh, s, given[0], format, file) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "md, json or html (by the file's ending, else md)")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this file, which only you may read")
	return cmd
}

func exportChat(ctx context.Context, sh *app.Process, s *store.Store, id, format, file string) error {
	c, err := conversationOf(ctx, s, id)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	var b bytes.Buffer
	if err := export.Write(ctx, s, c, export.FormatOf(format, file), &b); err != nil {
		return err
	}
	text := app.SecretsOf(sh).Known(b.String())
	if file != "" {
		return atomicfile.Write(file, []byte(text))
	}
	_, err = io.WriteString(sh.Out, text)
	return writeError(err)
}
