package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/mcpclient"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// AtHome writes ~/ out.
func AtHome(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, below)
		}
	}
	return name
}

// NoteOf finds the note of exactly this path; nil: there is none, or it is hidden.
func (a *App) NoteOf(name string) (folder *notes.Folder, path string) {
	folders := a.Folders()
	for _, folder := range folders {
		below := name
		if len(folders) > 1 {
			var ok bool
			if below, ok = strings.CutPrefix(name, filepath.Base(folder.Dir())+"/"); !ok {
				continue
			}
		}
		if folder.Has(below) && !a.Hides(folder, below) {
			return folder, below
		}
	}
	return nil, ""
}

// IsFile reports whether a name is the path of a file, which says where it begins.
func IsFile(name string) bool {
	if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/") && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		return false
	}
	info, err := os.Stat(AtHome(name))
	return err == nil && info.Mode().IsRegular()
}

// isFile reports whether a name is the path of a file that no rule hides.
func (a *App) isFile(name string) bool {
	if !IsFile(name) {
		return false
	}
	path, err := filepath.Abs(AtHome(name))
	return err == nil && !slices.ContainsFunc(a.Folders(), func(folder *notes.Folder) bool {
		below, err := filepath.Rel(folder.Dir(), path)
		return err == nil && filepath.IsLocal(below) && a.Hides(folder, filepath.ToSlash(below))
	})
}

// IsImage goes by the name: these are the kinds that models take.
func IsImage(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp", ".gif"}, strings.ToLower(filepath.Ext(name)))
}

// ReadTextFile reads the beginning of a file of text.
func ReadTextFile(name string, most int64) (string, error) {
	raw, err := readFile(name, most)
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(raw), "")
	if len(raw)-len(text) > utf8.UTFMax || strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%s is not text", filepath.Base(name))
	}
	return text, nil
}

func readFile(name string, most int64) ([]byte, error) {
	file, err := os.Open(AtHome(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// Attached reads what a message names after an @: @note.md, @./file and
// @server:uri; in quotes when there is a blank in it.
type Attached struct{ *App }

// Find lists the notes, files and resources of known servers. A mark that ends
// a sentence is not part of a name, unless there is one that is called so.
func (a Attached) Find(message string) (names, unknown []string) {
	for _, found := range mention.FindAllStringSubmatch(message, -1) {
		name := found[1] + found[2]
		if !a.there(name) && found[2] != "" {
			name = strings.TrimRight(name, ".,;:!?)]")
		}
		list := &names
		if !a.there(name) {
			list = &unknown
		}
		if !slices.Contains(*list, name) && len(*list) < maxAttachments {
			*list = append(*list, name)
		}
	}
	return names, unknown
}

// there reports whether a name stands for something. A resource may be of those
// that a server does not list.
func (a Attached) there(name string) bool {
	if folder, _ := a.NoteOf(name); folder != nil || a.isFile(name) {
		return true
	}
	server, uri, ok := strings.Cut(name, ":")
	if !ok || uri == "" || !a.Servers.Has(server) {
		return false
	}
	listed := slices.ContainsFunc(a.Servers.Resources(), func(r mcpclient.Resource) bool { return r.Server == server && r.URI == uri })
	return listed || uri == strings.TrimRight(uri, ".,;:!?)]")
}

// Read reads one of them. A note brings its sources along; a file and what a
// server holds are untrusted.
func (a Attached) Read(ctx context.Context, name string) (agent.Result, error) {
	if folder, _ := a.NoteOf(name); folder != nil {
		return a.readNote(ctx, name)
	}
	if a.isFile(name) && IsImage(name) {
		image, err := readFile(name, maxImage+1)
		switch {
		case err != nil:
			return agent.Result{}, err
		case len(image) > maxImage:
			return agent.Result{}, fmt.Errorf("%s is larger than %s", filepath.Base(name), draw.Bytes(maxImage))
		}
		if err := agent.CheckPicture(image); err != nil {
			return agent.Result{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		return agent.Result{Text: "the image " + filepath.Base(name) + " is with this message", Images: [][]byte{image}, Untrusted: true}, nil
	}
	if a.isFile(name) {
		text, err := ReadTextFile(name, maxFile)
		return agent.Result{Text: text, Untrusted: true}, err
	}
	server, uri, _ := strings.Cut(name, ":")
	return a.Servers.ReadResource(ctx, server, uri)
}

// readNote reads a note as the tool does.
func (a Attached) readNote(ctx context.Context, name string) (agent.Result, error) {
	input, err := json.Marshal(map[string]string{"path": name})
	if err != nil {
		return agent.Result{}, err
	}
	for _, t := range a.Builtin {
		if t.Spec().Name == "read_note" {
			return t.Run(ctx, input)
		}
	}
	return agent.Result{}, errors.New("there is no tool that reads notes")
}

const maxFile = 1 << 20 // bytes of a text that are read; how much of it fits is the window's affair

const maxImage = 20 << 20 // bytes of an image

// mention is a name at the beginning of a word.
var mention = pattern.Lazy(`(?:^|[\s(])@(?:"([^"\n]+)"|([\pL\pN_./~]\S*))`)

// maxAttachments bounds what one message brings along.
const maxAttachments = 10
