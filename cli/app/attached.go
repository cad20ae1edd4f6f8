package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/mcpclient"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// AtHome expands a leading ~/.
func AtHome(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, below)
		}
	}
	return name
}

// NoteOf finds the note with exactly this path. It returns a nil folder if there is none or a rule
// hides it.
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

// IsFile reports whether name is the path of a regular file, beginning with /, ~/, ./ or ../.
func IsFile(name string) bool {
	begins := func(with string) bool { return strings.HasPrefix(name, with) }
	if !filepath.IsAbs(name) && !slices.ContainsFunc([]string{"~/", "./", "../"}, begins) {
		return false
	}
	info, err := os.Stat(AtHome(name))
	return err == nil && info.Mode().IsRegular()
}

// isFile is like IsFile but excludes notes that a rule hides.
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

// ReadTextFile reads at most the given number of bytes of a text file.
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

// Attached reads what a message mentions with @: @note.md, @./file or @server:uri, in quotes if the
// name contains a space.
type Attached struct{ *App }

// Find returns the mentioned notes, files and resources of known servers. Punctuation after a name
// is not part of it, unless something has exactly that name.
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

// there reports whether name refers to something. A server may have resources that it does not
// list.
func (a Attached) there(name string) bool {
	if folder, _ := a.NoteOf(name); folder != nil || a.isFile(name) {
		return true
	}
	server, uri, ok := strings.Cut(name, ":")
	if !ok || uri == "" || !a.Servers.Has(server) {
		return false
	}
	listed := slices.ContainsFunc(a.Servers.Resources(), func(r mcpclient.Resource) bool {
		return r.Server == server &&
			r.URI == uri
	})
	return listed || uri == strings.TrimRight(uri, ".,;:!?)]")
}

// Read reads one attachment. A note comes with its sources, an image in a folder of notes with the
// text that was read from it; files and resources are untrusted.
func (a Attached) Read(ctx context.Context, name string) (agent.Result, error) {
	if folder, below := a.NoteOf(name); folder != nil {
		result, err := a.readNote(ctx, name)
		if !notes.IsPicture(below) {
			return result, err
		}
		shown, unseen := readPicture(filepath.Join(folder.Dir(), filepath.FromSlash(below)))
		if err != nil { // it shows no text, or is not read
			return shown, unseen
		}
		result.Images = shown.Images
		return result, nil
	}
	if a.isFile(name) && agent.IsPicture(name) {
		return readPicture(name)
	}
	if a.isFile(name) {
		text, err := ReadTextFile(name, maxFile)
		return agent.Result{Text: text, Untrusted: true}, err
	}
	server, uri, _ := strings.Cut(name, ":")
	return a.Servers.ReadResource(ctx, server, uri)
}

// readPicture attaches an image file.
func readPicture(name string) (agent.Result, error) {
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
	return agent.Result{
		Text:   "the image " + filepath.Base(name) + " is with this message",
		Images: [][]byte{image}, Untrusted: true,
	}, nil
}

// readNote runs the read_note tool.
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
	return agent.Result{}, errors.New("no tool reads notes")
}

const maxFile = 1 << 20 // bytes read of a text file; the window decides how much of it is used

const maxImage = 20 << 20 // bytes

// mention matches an @name at the beginning of a word.
var mention = regexp.MustCompile(`(?:^|[\s(])@(?:"([^"\n]+)"|([\pL\pN_./~]\S*))`)

// maxAttachments bounds the attachments of one message.
const maxAttachments = 10
