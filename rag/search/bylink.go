package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"lifehub/rag/words"
)

// byLink finds the note that links call by the text of the question. The text of a
// link is a name of the note it leads to, unless other links with the same text lead to
// another note. Links in untrusted notes do not count.
func (s *search) byLink(ctx context.Context) error {
	if len(s.named) > 0 || s.words.key == "" {
		return nil
	}
	// The second condition lets SQLite use the partial index.
	links, err := words.Links(ctx, s.db, `l.key = ? AND l.key != '' AND n.outside = 0`, s.words.key)
	if err != nil {
		return err
	}
	named := ""
	for _, l := range links {
		path, err := words.LeadsTo(ctx, s.db, l)
		if err != nil || named != "" && path != "" && path != named {
			return err
		}
		named = cmp.Or(path, named)
	}
	var note, first int64
	err = s.db.QueryRowContext(ctx, `SELECT note, min(id) FROM passages WHERE note = (SELECT id FROM notes
		WHERE path = ?) GROUP BY note`, named).Scan(&note, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // it leads nowhere
	}
	if err == nil && s.matches(note) {
		s.named[note], s.linked = true, first
	}
	return err
}
