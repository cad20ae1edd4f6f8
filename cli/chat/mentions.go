package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
)

// mentions are what a message can name after an @: the notes and the resources
// of servers, or the files of a place.
func (bg *background) mentions(ctx context.Context, place string) ([]backend.Mention, error) {
	if place != "" {
		return filesIn(place)
	}
	var list []backend.Mention
	vaults := bg.OpenVaults()
	for _, v := range vaults {
		titles, err := v.Index.Titles(ctx)
		if err != nil {
			return nil, err
		}
		entries, _, err := v.Folder.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := e.Path
			if len(vaults) > 1 {
				name = filepath.Base(v.Folder.Dir()) + "/" + name
			}
			list = append(list, backend.Mention{Name: name, Detail: titles[e.Path]})
		}
	}
	for _, r := range bg.Servers.Resources() {
		detail := r.Name
		if r.Description != "" && r.Description != r.Name {
			detail = strings.TrimSpace(r.Name + ": " + r.Description)
		}
		list = append(list, backend.Mention{Name: r.Server + ":" + r.URI, Detail: detail})
	}
	return list, nil
}

// filesIn lists a folder, its folders first.
func filesIn(place string) ([]backend.Mention, error) {
	entries, err := os.ReadDir(app.AtHome(place))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it is still being typed
	}
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var folders, files []backend.Mention
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(app.AtHome(place), e.Name()))
		switch {
		case err != nil || strings.HasPrefix(e.Name(), "."):
		case info.IsDir():
			folders = append(folders, backend.Mention{Name: place + e.Name() + "/", Detail: "folder"})
		case info.Mode().IsRegular():
			files = append(files, backend.Mention{Name: place + e.Name(), Detail: draw.Bytes(info.Size())})
		}
	}
	return append(folders, files...), nil
}

// previewSize is how much of a note or file a preview reads, in bytes.
const previewSize = 2 << 10

// preview is the beginning of what a name after an @ stands for.
func (bg *background) preview(_ context.Context, name string) string {
	switch folder, below := bg.NoteOf(name); {
	case folder != nil:
		note, err := folder.Read(below)
		if err != nil {
			return err.Error()
		}
		lines := strings.Split(note.Text, "\n")
		text := strings.TrimSpace(strings.Join(lines[min(len(lines), max(0, note.BodyLine-1)):], "\n"))
		return strings.ToValidUTF8(text[:min(len(text), previewSize)], "")
	case app.IsFile(name) && !app.IsImage(name):
		text, err := app.ReadTextFile(name, previewSize)
		if err != nil {
			return err.Error()
		}
		return text
	}
	return ""
}

var _ agent.Attacher = app.Attached{}
