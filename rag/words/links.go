package words

import (
	"context"
	"database/sql"
	"path"
	"strings"

	"lifehub/internal/database"
	"lifehub/notes"
)

// Link is a link as it is in the index.
type Link struct {
	From   string // the path of its note
	Target string // as written
	Line   int
	Embed  bool
}

// maxLinks is how many links of a note are indexed.
const maxLinks = 10_000

// writeLinks puts the links of a note into the index: where they lead shows
// when it is asked, since notes come and go.
func (w *Writer) writeLinks(id int64, note notes.Note) error {
	for _, link := range note.Links[:min(len(note.Links), maxLinks)] {
		if link.Target == "" {
			continue // a place in the same note
		}
		if _, err := w.exec(`INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)`,
			id, link.Line, link.Target, LinkBase(link.Target), NameKey(link.Text), link.Embed); err != nil {
			return err
		}
	}
	return nil
}

// LinkBase is what all links to a note by its path, by its file's name or by
// one of its titles have in common with that name.
func LinkBase(name string) string { return path.Base(notes.BareName(name)) }

// Links returns the links for which a condition on them, l, or on their note,
// n, holds.
func Links(ctx context.Context, db *sql.DB, where string, args ...any) ([]Link, error) {
	return database.AllRows(ctx, db, func(scan database.Scan) (l Link, err error) {
		return l, scan(&l.From, &l.Target, &l.Line, &l.Embed)
	}, `SELECT n.path, l.target, l.line, l.embed FROM links l JOIN notes n ON n.id = l.note WHERE `+where+` ORDER BY n.path, l.line LIMIT 10000`, args...)
}

// LeadsTo is the path of the note that a link means; "": there is none.
func LeadsTo(ctx context.Context, db *sql.DB, l Link) (string, error) {
	key, file := NameKey(l.Target), NameKey(SpacedName(LinkBase(l.Target)+".md"))
	var names notes.Names
	for scan := range database.Rows(ctx, db, `SELECT path, title, 0 FROM notes WHERE name_key = ? OR title_key = ?
		UNION ALL SELECT n.path, n.title, 1 FROM aliases a JOIN notes n ON n.id = a.note WHERE a.key = ?`, file, key, key) {
		var path, title string
		var alias bool
		if err := scan(&path, &title, &alias); err != nil {
			return "", err
		}
		if names.Add(path, title); alias {
			names.Add(path, strings.ToLower(l.Target))
		}
	}
	return names.To(l.From, l.Target), nil
}
