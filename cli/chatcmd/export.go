package chatcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/store"
)

// exportStep returns the step for /export NAME [NOTE], which saves a document as a note, and the
// origin of the document. The step is nil if no document has that name.
func exportStep(ctx context.Context, a *app.App, conversation,
	given string,
) (step *agent.Step, from agent.Origin, err error) {
	if conversation == "" {
		return nil, from, nil
	}
	list, err := a.Store.Artifacts(ctx, conversation)
	if err != nil {
		return nil, from, err
	}
	for _, document := range list {
		path, named := strings.CutPrefix(given, document.Name)
		if !named || path != "" && !strings.HasPrefix(path, " ") {
			continue
		}
		if path = strings.TrimSpace(path); path == "" {
			path = fileName(document.Name) + ".md"
		}
		input, err := json.Marshal(map[string]string{
			"path":    path,
			"content": app.Sourced(app.Disarm(document.Text), document.Origin),
		})
		if err != nil {
			return nil, from, fmt.Errorf("export %s: %w", document.Name, err)
		}
		return &agent.Step{Tool: "create_note", Input: input, Description: "make a note of " + document.Name},
			document.Origin, nil
	}
	return nil, from, nil
}

// exportCommand returns /export, which writes the conversation to a file or saves one of its
// documents as a note.
func (bg *background) exportCommand(assistant *turn.Agent) chat.Command {
	return chat.Command{
		Name: "export", Group: chat.InConversation, Args: "[md|json|html|DOCUMENT] [PATH]",
		Help: "export this conversation, or a document to your notes",
		Run:  bg.slashExport,
		Begin: func(ctx context.Context, conversation, given string) (chat.TurnStarter, error) {
			step, from, err := exportStep(ctx, bg.App, conversation, given)
			if step == nil || err != nil {
				return nil, err
			}
			return func(ctx context.Context, conversation, line string) <-chan agent.Event {
				return assistant.Call(ctx, conversation, line, *step, from.Outside...)
			}, nil
		},
	}
}

// slashExport writes the open conversation to a new file.
func (bg *background) slashExport(ctx context.Context, conversation, given string) (string, error) {
	c, err := bg.App.Store.Conversation(ctx, conversation)
	if errors.Is(err, store.ErrNoConversation) {
		return "", errors.New("there is nothing to export yet")
	}
	if err != nil {
		return "", err
	}
	format, file := "", strings.TrimSpace(given)
	if first, rest, _ := strings.Cut(file, " "); app.ExportFormats[first] != nil {
		format, file = first, strings.TrimSpace(rest)
	}
	format = app.ExportFormat(format, file)
	if file == "" {
		file = fileName(c.Title) + "." + format
	}
	var b bytes.Buffer
	if err := app.WriteConversation(ctx, bg.App.Store, c, format, &b); err != nil {
		return "", err
	}
	path, err := writeNewFile(file, []byte(bg.App.Secrets.Known(b.String())))
	if err != nil {
		return "", err
	}
	return "Exported to `" + path + "`.", nil
}

// writeNewFile creates a file that must not exist and returns its absolute path.
func writeNewFile(file string, data []byte) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s exists already; choose another name: /export FILE", path)
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

// fileName derives a file name from a title.
func fileName(title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	name := strings.ToLower(strings.Join(words, "-"))
	if runes := []rune(name); len(runes) > 50 {
		name = string(runes[:50])
	}
	if name == "" {
		return "conversation"
	}
	return name
}
