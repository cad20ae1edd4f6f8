package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// Mentions returns what a message can name after @: notes, resources and tools or, if place is not
// "", the files in it.
func (bg *background) Mentions(ctx context.Context, place string) ([]chat.Mention, error) {
	if place != "" {
		return filesIn(place)
	}
	var list []chat.Mention
	vaults := bg.App.OpenVaults()
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
			_, indexed := titles[e.Path]
			if bg.App.Hides(v.Folder, e.Path) || notes.IsPicture(e.Path) && !indexed { // a photo without text
				continue
			}
			name := e.Path
			if len(vaults) > 1 {
				name = filepath.Base(v.Folder.Dir()) + "/" + name
			}
			list = append(list, chat.Mention{Name: name, Detail: plainTitle(titles[e.Path])})
		}
	}
	for _, r := range bg.App.Servers.Resources() {
		detail := r.Name
		if r.Description != "" && r.Description != r.Name {
			detail = strings.TrimSpace(r.Name + ": " + r.Description)
		}
		list = append(list, chat.Mention{Name: r.Server + ":" + r.URI, Detail: detail})
	}
	for _, t := range bg.App.Offered() {
		spec := t.Spec()
		list = append(list, chat.Mention{Name: spec.Name, Detail: gistOf(spec.Description), Tool: true})
	}
	return list, nil
}

// filesIn lists a folder, subfolders first.
func filesIn(place string) ([]chat.Mention, error) {
	entries, err := os.ReadDir(app.AtHome(place))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the path is still being typed
	}
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var folders, files []chat.Mention
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(app.AtHome(place), e.Name()))
		switch {
		case err != nil || strings.HasPrefix(e.Name(), "."):
		case info.IsDir():
			folders = append(folders, chat.Mention{Name: place + e.Name() + "/", Detail: "folder"})
		case info.Mode().IsRegular():
			files = append(files, chat.Mention{Name: place + e.Name(), Detail: draw.Bytes(info.Size())})
		}
	}
	return append(folders, files...), nil
}

// Note reads what a name refers to, as typed by the user or, with from, as in a link of that note.
// A link only leads to notes.
func (bg *background) Note(ctx context.Context, name, from string) (chat.Note, error) {
	server, _, _ := strings.Cut(name, ":")
	within := func(folder *notes.Folder) bool {
		path, err := filepath.Abs(app.AtHome(name))
		if err != nil {
			return false
		}
		below, err := filepath.Rel(folder.Dir(), path)
		return err == nil && filepath.IsLocal(below)
	}
	switch {
	case from == "" && bg.App.Servers.Has(server):
		return chat.Note{}, fmt.Errorf("%s is a resource of a server, not a note", name)
	case from == "" && app.IsFile(name) && !slices.ContainsFunc(bg.App.Folders(), within):
		text, err := app.ReadTextFile(name, maxRead)
		return chat.Note{Path: name, File: app.AtHome(name), Text: text}, err
	}
	note, file, line, err := bg.App.ReadNote(ctx, name, from)
	if notes.IsPaged(file) {
		file = "" // editors cannot change a PDF or an image
	}
	return chat.Note{Path: note.Path, File: file, Text: note.Shown(), Line: line, Body: note.BodyLine}, err
}

// maxRead bounds what is read of a file, in bytes.
const maxRead = 1 << 20

var _ agent.Attacher = app.Attached{}

// plainTitle removes Markdown from a title; a link is replaced by its text.
func plainTitle(title string) string {
	if !strings.Contains(title, "[") { // fast path, as there may be many notes
		return title
	}
	return agent.PlainLine(title)
}
