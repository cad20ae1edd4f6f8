package tools

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

// linkWeb are the notes of a folder and their links.
type linkWeb struct {
	noteWriter
	folder *notes.Folder
	notes  []notes.Note // without text
	hidden map[string]bool
	was    map[string][]byte // files of notes that change, by path
	fresh  map[string][]byte // what they become
	left   []string          // places of links that stay as they are
}

// web reads the notes of a folder, hidden ones too: their names decide where links lead.
func (d noteWriter) web(ctx context.Context, folder *notes.Folder) (*linkWeb, error) {
	w := &linkWeb{
		noteWriter: d, folder: folder, hidden: map[string]bool{}, was: map[string][]byte{},
		fresh: map[string][]byte{},
	}
	places, err := d.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		if p.folder != folder {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		note, err := p.glance(ctx)
		if err != nil { // it has a name all the same
			note = notes.Note{Entry: p.Entry}
		}
		note.Text = ""
		w.notes = append(w.notes, note)
		w.hidden[p.Entry.Path] = agent.HidesNote(ctx, PathOf(d.vaults, folder, p.Entry.Path))
	}
	return w, nil
}

// follow computes the files in which links change when notes are renamed; those of always are among them in any case.
func (w *linkWeb) follow(ctx context.Context, renames notes.Renames, always map[string][]byte) error {
	r := notes.Relinking{Before: &notes.Names{}, After: &notes.Names{}, Renames: renames, Files: w.folder}
	for _, note := range w.notes {
		r.Before.Add(note.Path, slices.Concat(note.Titles(), note.IDs)...)
		to := renames.Of(note.Path)
		titles := slices.Concat(note.Titles(), note.IDs)
		if raw, given := always[note.Path]; given && to != note.Path {
			is := notes.ParseFile(notes.Entry{Path: to}, raw)
			titles = is.IDs // merged: its blocks are there, its title is not
			if !slices.ContainsFunc(w.notes, func(n notes.Note) bool { return n.Path == to }) {
				titles = slices.Concat(is.Titles(), is.IDs)
			}
		}
		r.After.Add(to, titles...)
	}
	for _, note := range w.notes {
		raw, needed := always[note.Path]
		if !needed && (w.hidden[note.Path] || !r.Affects(note)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !notes.Movable(note.Path) {
			w.left = append(w.left, PathOf(w.vaults, w.folder, note.Path))
			continue
		}
		var err error
		if raw == nil {
			if raw, err = w.folder.File(note.Path); err != nil {
				return err
			}
		}
		now, err := r.Relink(note.Entry, raw)
		switch {
		case err != nil && !needed:
			w.left = append(w.left, PathOf(w.vaults, w.folder, note.Path))
		case err != nil:
			return err
		case needed || !bytes.Equal(now, raw):
			w.was[note.Path], w.fresh[note.Path] = raw, now
		}
	}
	return nil
}

// changes are the changes of the notes, in the order of their paths.
func (w *linkWeb) changes() (list []change) {
	for name, now := range w.fresh {
		if !bytes.Equal(now, w.was[name]) {
			list = append(list, change{folder: w.folder, path: name, was: w.was[name], now: now})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return list
}

// says tells in how many notes other than one links change, and where they do not.
func (w *linkWeb) says(but string) string {
	said := ""
	n := len(slices.DeleteFunc(w.changes(), func(c change) bool { return c.path == but }))
	if n > 0 {
		said = fmt.Sprintf(" Links change in %s.", text.Count(n, "other note"))
	}
	return said + notChanged(w.left)
}
