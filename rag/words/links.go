package words

import (
	"context"
	"path"
	"strings"

	"lifehub/internal/files"
	"lifehub/notes"
)

// Link is an indexed link.
type Link struct {
	From string // path of its note
	Link notes.Link
}

// maxLinks is the maximum number of indexed links per note.
const maxLinks = 10_000

// writeLinks indexes the links of a note. Their targets are resolved when they are
// queried, since notes are added and removed.
func (w *Writer) writeLinks(id int64, note notes.Note) error {
	for _, link := range note.Links[:min(len(note.Links), maxLinks)] {
		if link.Target == "" {
			continue // a link within the note
		}
		if _, err := w.exec(`INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			id, link.Line, link.Target, LinkBase(link.Target), link.Text, NameKey(link.Text), link.Wiki,
			link.Embed); err != nil {
			return err
		}
	}
	return nil
}

// LinkBase returns the part of a name that all links to the note have, whether by path,
// file name or title.
func LinkBase(name string) string { return path.Base(notes.Key(name)) }

// Links returns the links that satisfy a condition on the link l and its note n.
func Links(ctx context.Context, db files.Querier, where string, args ...any) ([]Link, error) {
	return files.AllRows(ctx, db, func(scan files.Scan) (l Link, err error) {
		return l, scan(&l.From, &l.Link.Target, &l.Link.Text, &l.Link.Line, &l.Link.Wiki, &l.Link.Embed)
	}, `SELECT n.path, l.target, l.shown, l.line, l.wiki, l.embed FROM links l JOIN notes n ON n.id = l.note WHERE `+
		where+` ORDER BY n.path, l.line LIMIT 10000`, args...)
}

// LeadsTo returns the path of the note that a link refers to, or "".
func LeadsTo(ctx context.Context, db files.Querier, l Link) (string, error) {
	var names notes.Names
	for _, half := range []string{l.Link.Target, l.Link.Text} {
		if half == l.Link.Text && !l.Link.Wiki {
			continue
		}
		half, _, _ = strings.Cut(half, "#")
		key, file := NameKey(half), NameKey(SpacedName(LinkBase(half)+".md"))
		for scan := range files.Rows(ctx, db, `SELECT path, title, 0 FROM notes WHERE name_key = ? OR title_key = ?
			UNION ALL SELECT n.path, n.title, 1 FROM aliases a JOIN notes n ON n.id = a.note
			WHERE a.key = ?`, file, key, key) {
			var path, title string
			var alias bool
			if err := scan(&path, &title, &alias); err != nil {
				return "", err
			}
			if names.Add(path, title); alias {
				names.Add(path, half)
			}
		}
	}
	return names.Of(l.From, l.Link), nil
}
