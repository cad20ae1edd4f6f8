package words

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"unicode"

	"lifehub/internal/files"
	"lifehub/internal/when"
	"lifehub/notes"
)

// mostNotable limits the titles of each kind that Notable returns.
const mostNotable = 12

// NotableNote is a note that a suggested question could be about.
type NotableNote struct{ Path, Title string }

// Notable returns such notes of the user, alternating between the most recently changed
// ones and those that most others link to; of several notes changed on one day, the
// longest. It omits daily notes, templates, and titles that are file names.
func Notable(ctx context.Context, db *sql.DB) ([]NotableNote, error) {
	read := func(scan files.Scan) (n NotableNote, err error) { return n, scan(&n.Path, &n.Title) }
	const own = `SELECT path, title FROM notes WHERE outside = 0 AND copy_of = '' AND path_key NOT GLOB '*template*'`
	latest, err := files.AllRows(ctx, db, read, own+` ORDER BY mtime / 86400000000000 DESC, size DESC, path LIMIT ?`,
		mostNotable)
	if err != nil {
		return nil, err
	}
	targets, err := files.Column[string](ctx, db, `SELECT base FROM links GROUP BY base
		ORDER BY count(DISTINCT note) DESC, base LIMIT ?`, mostNotable)
	if err != nil {
		return nil, err
	}
	var all []NotableNote
	add := func(list []NotableNote) {
		for _, n := range list[:min(len(list), 1)] {
			if _, daily := notes.DateIn(n.Path); !daily && isPlainTitle(n.Title) && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	for i := range mostNotable {
		if i < len(latest) {
			add(latest[i:])
		}
		if i < len(targets) {
			to, err := LeadsTo(ctx, db, Link{Link: notes.Link{Target: targets[i]}})
			if err != nil {
				return nil, err
			}
			linked, err := files.AllRows(ctx, db, read, own+` AND path = ?`, to)
			if err != nil {
				return nil, err
			}
			add(linked)
		}
	}
	return all, nil
}

// isPlainTitle reports whether a title is ordinary words, and not a name such as README
// or changelog_06.
func isPlainTitle(title string) bool {
	odd := strings.ContainsFunc(title, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -'’&,", r)
	})
	odd = odd || strings.Contains(title, "-") && !strings.Contains(title, " ")
	odd = odd || strings.EqualFold(title, "readme") || !strings.ContainsFunc(title, unicode.IsLetter)
	shouted := title == strings.ToUpper(title) && title != strings.ToLower(title)
	return !odd && !shouted
}

// News counts the user's own notes that changed since the day before today, and the
// open tasks that are overdue or due within days.
func News(ctx context.Context, db *sql.DB, today when.Day, days int) (changed, due int, err error) {
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM notes WHERE outside = 0 AND copy_of = ''
		AND mtime >= ?), (SELECT count(*) FROM due JOIN notes ON id = note WHERE outside = 0 AND copy_of = ''
		AND day <= ?)`,
		today.Add(-1).Begins().UnixNano(), today.Add(days).Number()).Scan(&changed, &due)
	return changed, due, err
}

// DueNotes returns the paths of the user's own notes with open tasks that are overdue
// or due within days, the earliest first.
func DueNotes(ctx context.Context, db *sql.DB, today when.Day, days, limit int) ([]string, error) {
	return files.Column[string](ctx, db, `SELECT path FROM due JOIN notes ON id = note WHERE outside = 0
		AND copy_of = '' AND day <= ? GROUP BY path ORDER BY min(day), path LIMIT ?`,
		today.Add(days).Number(), limit)
}

// writeDue indexes the due dates of a note's open tasks.
func (w *Writer) writeDue(id int64, note notes.Note) error {
	for _, t := range note.Tasks {
		day := t.Day()
		if !t.Open() || day.IsZero() {
			continue
		}
		if _, err := w.exec(`INSERT INTO due VALUES (?, ?)`, id, day.Number()); err != nil {
			return err
		}
	}
	return nil
}
