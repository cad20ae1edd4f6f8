package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/export"
	"lifehub/cli/settings"
	"lifehub/internal/atomicfile"
	"lifehub/store"
	"lifehub/tui/backend"
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
	if err := export.Write(ctx, s, c, formatOf(format, file), &b); err != nil {
		return err
	}
	text := secretsOf(sh).Known(b.String())
	if file != "" {
		return atomicfile.Write(file, []byte(text))
	}
	_, err = io.WriteString(sh.Out, text)
	return printPaged(sh, err)
}

// formatOf is the format asked for, else the one that a file is named after,
// else markdown.
func formatOf(format, file string) string {
	switch ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")); {
	case format != "":
		return format
	case ending == "htm":
		return "html"
	case export.Formats[ending] != nil:
		return ending
	}
	return "md"
}

// exportCommand writes the open conversation to a file, or makes a note of one
// of its documents.
func (l *life) exportCommand(assistant *turn.Agent) backend.Command {
	return backend.Command{
		Name: "export", Args: "[md|json|html] [FILE] | DOCUMENT [NOTE]", Help: "write this conversation to a file, or a document of it to the notes",
		Here: l.slashExport,
		Begin: func(ctx context.Context, conversation, given string) (backend.Turn, error) {
			step, err := exportStep(ctx, l.App, conversation, given)
			if step == nil || err != nil {
				return nil, err
			}
			return func(ctx context.Context, conversation, asked string) <-chan agent.Event {
				return assistant.Call(ctx, conversation, asked, *step)
			}, nil
		},
	}
}

// slashExport writes the open conversation to a new file.
func (l *life) slashExport(ctx context.Context, conversation, given string) (string, error) {
	c, err := l.Store.Conversation(ctx, conversation)
	if errors.Is(err, store.ErrNoConversation) {
		return "", errors.New("there is nothing to export yet")
	}
	if err != nil {
		return "", err
	}
	format, file := "", strings.TrimSpace(given)
	if first, rest, _ := strings.Cut(file, " "); export.Formats[first] != nil {
		format, file = first, strings.TrimSpace(rest)
	}
	format = formatOf(format, file)
	if file == "" {
		file = fileName(c.Title) + "." + format
	}
	var b bytes.Buffer
	if err := export.Write(ctx, l.Store, c, format, &b); err != nil {
		return "", err
	}
	path, err := writeNewFile(file, []byte(l.Secrets.Known(b.String())))
	if err != nil {
		return "", err
	}
	return "Exported to `" + path + "`.", nil
}

// writeNewFile writes a file that was not there and returns its absolute path.
func writeNewFile(file string, data []byte) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("there is a file %s already; name another: /export FILE", path)
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return path, nil
}

// fileName makes a name for a file of a title.
func fileName(title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	name := strings.ToLower(strings.Join(words, "-"))
	if runes := []rune(name); len(runes) > 50 {
		name = string(runes[:50])
	}
	if name == "" {
		return "conversation"
	}
	return name
}
