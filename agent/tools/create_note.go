package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

type createArgs struct {
	Path    string `json:"path" description:"such as recipes/ramen.md"`
	Content string `json:"content"`
}

func newCreateNote(v noteWriter) agent.Tool {
	return newWriter(v, spec[createArgs]("create_note"), func(ctx context.Context, args createArgs) (change, error) {
		name := strings.TrimSpace(args.Path)
		if ext := strings.ToLower(path.Ext(name)); ext != ".md" && ext != ".markdown" {
			name += ".md"
		}
		folder, name, err := v.locate(name)
		if err != nil {
			return change{}, err
		}
		asked := name
		for _, called := range []string{name, notes.Portable(name)} {
			var taken bool
			if name, taken, err = folder.Spelled(called); err != nil {
				return change{}, err
			}
			if taken {
				return change{}, fmt.Errorf("there is a note %s already; append_note adds to it", name)
			}
		}
		if _, _, err := folder.Raw(name); !errors.Is(err, fs.ErrNotExist) {
			return change{}, err
		}
		created := newNote(folder, name, text.Unfenced(args.Content))
		if !notes.SameName(name, asked) {
			created.report += fmt.Sprintf(", a name that every system accepts, not %s", asked)
		}
		return created, nil
	}, "path")
}

// newNote returns the change that creates a note.
func newNote(folder *notes.Folder, name, content string) change {
	return change{
		folder: folder, path: name, now: []byte(strings.TrimRight(content, "\n") + "\n"), line: 1,
		report: "created " + name,
	}
}
