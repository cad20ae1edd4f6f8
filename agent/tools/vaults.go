package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/tools/web"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// vaults returns the open folders of notes.
type vaults func() []*notes.Folder

// place is the location of a note.
type place struct {
	folder  *notes.Folder
	Entry   notes.Entry
	instead string // notice that another note was requested; may be ""
}

func (p place) read(ctx context.Context) (notes.Note, error) {
	raw, entry, err := p.folder.Load(ctx, p.Entry.Path)
	if err != nil {
		return notes.Note{}, err
	}
	return notes.Parse(entry, raw), nil
}

// glance is like read, for many notes at once: it skips the pages of PDFs and images.
func (p place) glance(ctx context.Context) (notes.Note, error) {
	if notes.IsPaged(p.Entry.Path) {
		return notes.Parse(p.Entry, nil), nil
	}
	return p.read(ctx)
}

// errNoVault is shown to the model if no folder is open.
var errNoVault = errors.New("no notes folder is open")

// list returns the notes of all vaults, except hidden ones.
func (v vaults) list(ctx context.Context) ([]place, error) {
	places, _, err := v.visible(ctx)
	return places, err
}

// visible is list, with the paths of the notes and folders that could not be read.
func (v vaults) visible(ctx context.Context) (places []place, unread []string, err error) {
	places, unread, err = v.walk(ctx)
	if agent.HidesNotes(ctx) {
		places = slices.DeleteFunc(places, func(p place) bool {
			return agent.HidesNote(ctx, PathOf(v, p.folder, p.Entry.Path))
		})
		unread = slices.DeleteFunc(unread, func(name string) bool { return agent.HidesNote(ctx, name) })
	}
	return places, unread, err
}

// all is like list but includes hidden notes.
func (v vaults) all(ctx context.Context) ([]place, error) {
	places, _, err := v.walk(ctx)
	return places, err
}

func (v vaults) walk(ctx context.Context) (places []place, unread []string, err error) {
	folders := v()
	if len(folders) == 0 {
		return nil, nil, errNoVault
	}
	for _, folder := range folders {
		entries, problems, err := folder.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, entry := range entries {
			places = append(places, place{folder: folder, Entry: entry})
		}
		for _, p := range problems {
			if p.Unknown {
				unread = append(unread, PathOf(v, folder, p.Path))
			}
		}
	}
	return places, unread, nil
}

// missing says which notes and folders a list lacks because they could not be read.
func missing(unread []string) string {
	if len(unread) == 0 {
		return ""
	}
	said := "\n\nNot readable now, so missing here: " + strings.Join(unread[:min(len(unread), mostNamed)], ", ")
	if more := len(unread) - mostNamed; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said + "."
}

// locate returns the vault that a path belongs to, and the path within it. The
// path may be absolute or begin with the vault's name; otherwise it belongs to
// the first vault.
func (v vaults) locate(name string) (*notes.Folder, string, error) {
	folders := v()
	if len(folders) == 0 {
		return nil, "", errNoVault
	}
	if filepath.IsAbs(name) {
		for _, folder := range folders {
			if below, err := filepath.Rel(folder.Dir(), name); err == nil && filepath.IsLocal(below) {
				return folder, filepath.ToSlash(below), nil
			}
		}
	}
	name = path.Clean("/" + filepath.ToSlash(name))[1:] // "/a", "./a" and "a" are equivalent
	if first, below, ok := strings.Cut(name, "/"); ok && len(folders) > 1 {
		for _, folder := range folders {
			if text.Key(filepath.Base(folder.Dir())) == text.Key(first) {
				return folder, below, nil
			}
		}
	}
	return folders[0], name, nil
}

// find returns the note with a path, file name or title, as written by the user
// or a model. If there are several, the error lists them; if there is none, it
// is [fs.ErrNotExist].
func (v vaults) find(ctx context.Context, name string) (place, error) {
	called := strings.TrimSpace(name)
	if inner, ok := strings.CutPrefix(called, "[["); ok {
		called, _, _ = strings.Cut(strings.TrimSuffix(inner, "]]"), "|")
		called, _, _ = strings.Cut(called, "#")
	}
	if id, size := notes.ReferredID(called); size > 0 {
		called = id
	}
	if called == "" {
		return place{}, errors.New("which note? Its path, file name or title is missing")
	}
	places, unread, err := v.visible(ctx)
	if err != nil {
		return place{}, err
	}
	folder, below, err := v.locate(called)
	if err != nil {
		return place{}, err
	}
	found := firstFitting(places,
		func(p place) bool { return p.folder == folder && p.Entry.Path == below },
		func(p place) bool { return p.Entry.Path == below },
		func(p place) bool { return notes.SameName(p.Entry.Path, below) },
		func(p place) bool { return notes.HasNameSuffix("/"+p.Entry.Path, below) },
		func(p place) bool { return text.Key(notes.NameOf(p.Entry.Path)) == text.Key(called) },
		func(p place) bool { return !notes.IsPaged(p.Entry.Path) && titled(p, called) },
	)
	if len(found) > 1 {
		found = firstFitting(found,
			func(p place) bool { return notes.EndsAsSpelled(p.Entry.Path, below) },
			func(place) bool { return true })
	}
	switch len(found) {
	case 0:
		if at := slices.IndexFunc(unread, func(p string) bool {
			return notes.SameName(p, below) ||
				notes.HasNameSuffix("/"+p, below)
		}); at >= 0 {
			return place{}, fmt.Errorf("%s cannot be read now: it is in the cloud only, or the system refuses it",
				unread[at])
		}
		close, alike := near(places, called)
		return place{}, &noNoteError{name, pathsOf(ctx, close), alike}
	case 1:
		return found[0], nil
	}
	return place{}, fmt.Errorf("several notes are called %q: %s; give the path", name, pathsOf(ctx, found))
}

// FindNote returns the note with a path, file name or title. The error lists
// candidates or similar names.
func FindNote(ctx context.Context, folders []*notes.Folder, name string) (*notes.Folder, string, error) {
	at, err := vaults(func() []*notes.Folder { return folders }).find(ctx, name)
	return at.folder, at.Entry.Path, err
}

// FindTyped is like FindNote for a name that a person typed: if no note has it, it also accepts the only one that is
// written so apart from its accents.
func FindTyped(ctx context.Context, folders []*notes.Folder, name string) (*notes.Folder, string, error) {
	folder, found, err := FindNote(ctx, folders, name)
	if none := (*noNoteError)(nil); errors.As(err, &none) && len(none.alike) == 1 {
		if at := none.alike[0]; notes.HasNameSuffix("/"+text.Fold(at.Entry.Path), text.Fold(strings.TrimSpace(name))) {
			return at.folder, at.Entry.Path, nil
		}
	}
	return folder, found, err
}

// firstFitting returns the items that satisfy the first condition that any item
// satisfies.
func firstFitting[T any](list []T, ways ...func(T) bool) (found []T) {
	for _, fits := range ways {
		if found = slices.DeleteFunc(slices.Clone(list), func(item T) bool { return !fits(item) }); len(found) > 0 {
			break
		}
	}
	return found
}

// PathOf returns the path that tools and rules use for a note: as it is for the
// first vault, with the vault's name as prefix for others.
func PathOf(v vaults, folder *notes.Folder, name string) string {
	if at, below, err := v.locate(name); err == nil && at == folder && below == name {
		return name
	}
	return filepath.Base(folder.Dir()) + "/" + name
}

// byPath is a read-only tool whose argument path names a note.
type byPath struct {
	agent.Tool
	vaults
}

// ByPath wraps a read-only tool whose argument path names a note.
func ByPath(tool agent.Tool, folders func() []*notes.Folder) agent.Tool {
	return byPath{tool, folders}
}

// Places returns the path of the note.
func (b byPath) Places(ctx context.Context, raw json.RawMessage) map[string]string {
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(raw, &args) != nil {
		return nil
	}
	at, err := b.findToRead(ctx, args.Path)
	if err != nil {
		return nil
	}
	return map[string]string{"path": PathOf(b.vaults, at.folder, at.Entry.Path)}
}

// findToRead is like find but also accepts the only note with a similar name.
func (v vaults) findToRead(ctx context.Context, name string) (place, error) {
	at, err := v.find(ctx, name)
	if none := (*noNoteError)(nil); errors.As(err, &none) && len(none.alike) == 1 {
		at, err = none.alike[0], nil
		at.instead = fmt.Sprintf("No note %q; this is the only similar name.\n\n", name)
	}
	return at, err
}

// open finds a note like findToRead, and reads it.
func (v vaults) open(ctx context.Context, name string) (at place, note notes.Note, err error) {
	if at, err = v.findToRead(ctx, name); err == nil {
		note, err = at.read(ctx)
	}
	return at, note, err
}

// noNoteError means that there is no such note. It is [fs.ErrNotExist].
type noNoteError struct {
	name, near string
	alike      []place // notes whose file names have the same words
}

func (e *noNoteError) Error() string {
	if e.near == "" {
		return fmt.Sprintf("no note %q", e.name)
	}
	return fmt.Sprintf("no note %q; similar: %s", e.name, e.near)
}
func (e *noNoteError) Is(target error) bool { return target == fs.ErrNotExist }

// titled reports whether a note has the title or the id "id:…". It parses the note only if it
// contains the text of the title.
func titled(p place, title string) bool {
	raw, entry, err := p.folder.Raw(p.Entry.Path)
	if err != nil || !strings.Contains(text.Key(string(raw)), text.Key(strings.TrimPrefix(title, "id:"))) {
		return false
	}
	note := notes.Parse(entry, raw)
	return slices.ContainsFunc(slices.Concat(note.Titles(), note.IDs),
		func(own string) bool { return text.Key(own) == text.Key(title) })
}

// near returns notes whose path contains a word of the name, and those with
// exactly the same words, folded as the search does.
func near(places []place, name string) (close, alike []place) {
	words := notes.NameWords(text.Fold(name))
	for _, p := range places {
		folded := text.Fold(p.Entry.Path)
		if slices.ContainsFunc(words, func(word string) bool {
			return len(word) > 2 &&
				strings.Contains(folded, word)
		}) {
			close = append(close, p)
		}
		if len(words) > 0 && slices.Equal(words, notes.NameWords(folded)) {
			alike = append(alike, p)
		}
	}
	return close, alike
}

// mostNamed is how many places an error lists.
const mostNamed = 8

// pathsOf lists some places, and the number of further ones.
func pathsOf(ctx context.Context, places []place) string {
	var names []string
	for _, p := range places[:min(len(places), mostNamed)] {
		note, err := p.glance(ctx)
		// file names may come from web pages
		agent.Shows(ctx, agent.Source{Path: p.Entry.Path, Untrusted: err == nil && note.Untrusted})
		names = append(names, p.Entry.Path)
	}
	text := strings.Join(names, ", ")
	if more := len(places) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tasks collects the tasks of all vaults, in path order, and the paths of the
// notes and folders that could not be read.
func (v vaults) tasks(ctx context.Context) (all []vaultTask, unread []string, err error) {
	places, unread, err := v.visible(ctx)
	if err != nil {
		return nil, nil, err
	}
	places = slices.DeleteFunc(places, func(p place) bool {
		return notes.IsPaged(p.Entry.Path) ||
			p.Entry.CopyOf != ""
	})
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		raw, entry, err := p.folder.Raw(p.Entry.Path)
		if notes.CannotRead(err) {
			unread = append(unread, PathOf(v, p.folder, p.Entry.Path))
		}
		if err != nil || !notes.MayHoldAny(raw) {
			continue
		}
		note := notes.Parse(entry, raw)
		for _, t := range note.Tasks {
			all = append(all, newVaultTask(place{folder: p.folder, Entry: entry}, note, t))
		}
	}
	return all, unread, nil
}

// vaultTask is a task and the note that contains it.
type vaultTask struct {
	place
	Task    notes.Task
	outside bool        // its note is not the user's own text
	heading string      // headings above it
	days    []when.Span // dates of its line, as used by the search
}

func newVaultTask(at place, note notes.Note, t notes.Task) vaultTask {
	var above []notes.Heading
	for _, h := range note.Headings {
		if h.Line < t.Line {
			above = append(slices.DeleteFunc(above, func(o notes.Heading) bool { return o.Level >= h.Level }), h)
		}
	}
	task := vaultTask{place: at, Task: t, outside: note.Untrusted, heading: web.HeadingPath(above)}
	for _, d := range note.Dates {
		if d.First <= t.Line && t.Line <= d.Last {
			task.days = append(task.days, d.Span)
		}
	}
	return task
}

// source returns the task as a source.
func (t vaultTask) source() agent.Source {
	return agent.Source{
		Path: t.place.Entry.Path, Line: t.Task.Line, EndLine: t.Task.Line, Text: t.Task.Text,
		Lines: t.Task.Raw, Untrusted: t.outside,
	}
}

// at returns the location of the task as shown to the user.
func (t vaultTask) at() string { return agent.PlaceName(t.place.Entry.Path, t.Task.Line) }
