package tools

import (
	"bytes"
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
	"lifehub/agent/tools/excerpt"
	"lifehub/internal/when"
	"lifehub/notes"
)

// vaults are the open folders of notes.
type vaults func() []*notes.Folder

// place is where a note is.
type place struct {
	folder  *notes.Folder
	Entry   notes.Entry
	instead string // what is said where another note was asked for
}

func (p place) read(ctx context.Context) (notes.Note, error) {
	raw, entry, err := p.folder.Load(ctx, p.Entry.Path)
	if err != nil {
		return notes.Note{}, err
	}
	return opened(ctx, notes.Parse(entry, raw)), nil
}

// glance is read for many notes at once: it leaves the pages of a PDF out.
func (p place) glance(ctx context.Context) (notes.Note, error) {
	if notes.IsPDF(p.Entry.Path) {
		return opened(ctx, notes.Parse(p.Entry, nil)), nil
	}
	return p.read(ctx)
}

// opened says so when a note names a source elsewhere.
func opened(ctx context.Context, note notes.Note) notes.Note {
	if note.Untrusted {
		agent.Opened(ctx, note.Path, note.Title, note.Text)
	}
	return note
}

// errNoVault is told to the model when there is nothing to work on.
var errNoVault = errors.New("no notes folder is open")

// list finds the notes of all vaults that no rule hides.
func (v vaults) list(ctx context.Context) ([]place, error) {
	places, err := v.all(ctx)
	if agent.HidesNotes(ctx) {
		places = slices.DeleteFunc(places, func(p place) bool { return agent.HidesNote(ctx, PathOf(v, p.folder, p.Entry.Path)) })
	}
	return places, err
}

// all finds the hidden ones too, for what only adds to them.
func (v vaults) all(ctx context.Context) ([]place, error) {
	folders := v()
	if len(folders) == 0 {
		return nil, errNoVault
	}
	var places []place
	for _, folder := range folders {
		entries, _, err := folder.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			places = append(places, place{folder: folder, Entry: entry})
		}
	}
	return places, nil
}

// locate finds the vault that a path belongs to, and the path below it. The
// path may be absolute or begin with the vault's name; else it is that of the
// first vault.
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
	name = path.Clean("/" + filepath.ToSlash(name))[1:] // "/a", "./a" and "a" are one
	if first, below, ok := strings.Cut(name, "/"); ok && len(folders) > 1 {
		for _, folder := range folders {
			if filepath.Base(folder.Dir()) == first {
				return folder, below, nil
			}
		}
	}
	return folders[0], name, nil
}

// find looks a note up by path, file name or title, as the user or a model
// calls it. The error names the candidates when there are several, and is
// [fs.ErrNotExist] when there is none.
func (v vaults) find(ctx context.Context, name string) (place, error) {
	called := strings.TrimSpace(name)
	if inner, ok := strings.CutPrefix(called, "[["); ok {
		called, _, _ = strings.Cut(strings.TrimSuffix(inner, "]]"), "|")
		called, _, _ = strings.Cut(called, "#")
	}
	if called == "" {
		return place{}, errors.New("which note? Its path, file name or title is missing")
	}
	places, err := v.list(ctx)
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
		func(p place) bool { return strings.EqualFold(notes.NameOf(p.Entry.Path), called) },
		func(p place) bool { return !notes.IsPDF(p.Entry.Path) && titled(p, called) },
	)
	switch len(found) {
	case 0:
		close, alike := near(places, called)
		return place{}, &noNoteError{name, pathsOf(ctx, close), alike}
	case 1:
		return found[0], nil
	}
	return place{}, fmt.Errorf("several notes are called %q: %s; give the path", name, pathsOf(ctx, found))
}

// FindNote looks a note up by path, file name or title. The error names the
// candidates, or what is near.
func FindNote(ctx context.Context, folders []*notes.Folder, name string) (*notes.Folder, string, error) {
	at, err := vaults(func() []*notes.Folder { return folders }).find(ctx, name)
	return at.folder, at.Entry.Path, err
}

// firstFitting are those that fit by the first way in which any does.
func firstFitting[T any](list []T, ways ...func(T) bool) (found []T) {
	for _, fits := range ways {
		if found = slices.DeleteFunc(slices.Clone(list), func(item T) bool { return !fits(item) }); len(found) > 0 {
			break
		}
	}
	return found
}

// PathOf is the path by which tools and rules know a note: that of the first vault as it
// is, others behind their vault's name.
func PathOf(v vaults, folder *notes.Folder, name string) string {
	if at, below, err := v.locate(name); err == nil && at == folder && below == name {
		return name
	}
	return filepath.Base(folder.Dir()) + "/" + name
}

// byPath is a reading tool whose argument path names a note.
type byPath struct {
	agent.Tool
	vaults
}

func (byPath) ReadOnly() bool { return true }

// ByPath is a reading tool whose argument path names a note.
func ByPath(tool agent.Tool, folders func() []*notes.Folder) agent.Tool {
	return byPath{tool, folders}
}

// Places finds the note.
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

// findToRead finds a note as find does, or else the only one that is called alike.
func (v vaults) findToRead(ctx context.Context, name string) (place, error) {
	at, err := v.find(ctx, name)
	if none := (*noNoteError)(nil); errors.As(err, &none) && len(none.alike) == 1 {
		at, err = none.alike[0], nil
		at.instead = fmt.Sprintf("There is no note %q; this is the only one that is called alike.\n\n", name)
	}
	return at, err
}

// open finds a note as findToRead does, and reads it.
func (v vaults) open(ctx context.Context, name string) (at place, note notes.Note, err error) {
	if at, err = v.findToRead(ctx, name); err == nil {
		note, err = at.read(ctx)
	}
	return at, note, err
}

// noNoteError says that there is no such note; it is [fs.ErrNotExist].
type noNoteError struct {
	name, near string
	alike      []place // whose file names have the same words
}

func (e *noNoteError) Error() string {
	if e.near == "" {
		return fmt.Sprintf("there is no note %q", e.name)
	}
	return fmt.Sprintf("there is no note %q; similar: %s", e.name, e.near)
}
func (e *noNoteError) Is(target error) bool { return target == fs.ErrNotExist }

// titled reads a note only when its text holds the title's words at all.
func titled(p place, title string) bool {
	raw, entry, err := p.folder.Raw(p.Entry.Path)
	if err != nil || !bytes.Contains(bytes.ToLower(raw), []byte(strings.ToLower(title))) {
		return false
	}
	return slices.ContainsFunc(notes.Parse(entry, raw).Titles(), func(own string) bool { return strings.EqualFold(own, title) })
}

// near suggests notes whose path has a word of the name; alike have the same words.
func near(places []place, name string) (close, alike []place) {
	words := notes.NameWords(name)
	for _, p := range places {
		if slices.ContainsFunc(words, func(word string) bool { return len(word) > 2 && strings.Contains(strings.ToLower(p.Entry.Path), word) }) {
			close = append(close, p)
		}
		if len(words) > 0 && slices.Equal(words, notes.NameWords(p.Entry.Path)) {
			alike = append(alike, p)
		}
	}
	return close, alike
}

// mostNamed is how many places an error names.
const mostNamed = 8

// pathsOf names some places, and how many more there are.
func pathsOf(ctx context.Context, places []place) string {
	var names []string
	for _, p := range places[:min(len(places), mostNamed)] {
		_, _ = p.glance(ctx) // a clipping's file is called as a page wanted it
		names = append(names, p.Entry.Path)
	}
	text := strings.Join(names, ", ")
	if more := len(places) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tasks collects the tasks of all vaults, in path order.
func (v vaults) tasks(ctx context.Context) ([]vaultTask, error) {
	places, err := v.list(ctx)
	if err != nil {
		return nil, err
	}
	places = slices.DeleteFunc(places, func(p place) bool { return notes.IsPDF(p.Entry.Path) })
	var all []vaultTask
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw, entry, err := p.folder.Raw(p.Entry.Path)
		if err != nil || !notes.MayHoldAny(raw) { // a note that cannot be read is reported by the index
			continue
		}
		note := opened(ctx, notes.Parse(entry, raw))
		for _, t := range note.Tasks {
			all = append(all, newVaultTask(place{folder: p.folder, Entry: entry}, note, t))
		}
	}
	return all, nil
}

// vaultTask is a task and the vault it is in.
type vaultTask struct {
	place
	Task    notes.Task
	heading string      // those above it
	days    []when.Span // the dates of its line, as a search has them
}

func newVaultTask(at place, note notes.Note, t notes.Task) vaultTask {
	var above []notes.Heading
	for _, h := range note.Headings {
		if h.Line < t.Line {
			above = append(slices.DeleteFunc(above, func(o notes.Heading) bool { return o.Level >= h.Level }), h)
		}
	}
	task := vaultTask{place: at, Task: t, heading: excerpt.HeadingPath(above)}
	for _, d := range note.Dates {
		if d.First <= t.Line && t.Line <= d.Last {
			task.days = append(task.days, d.Span)
		}
	}
	return task
}

// at is the task's place as the user sees it.
func (t vaultTask) at() string { return agent.PlaceName(t.place.Entry.Path, t.Task.Line) }
