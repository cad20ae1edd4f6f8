package search

import (
	"context"

	"lifehub/internal/files"
	"lifehub/internal/text"
)

// location is a passage with its location in a note.
type location struct {
	id, note             int64
	start, stop          int // in the text of the note
	heading, title, path string
	language             text.Lang
	first                bool // of its note
}

// located returns the locations of the candidates that are to be kept, ordered by id.
func (s *search) located(ctx context.Context, candidates map[int64]*candidate, keep func(*candidate) bool) ([]location,
	error,
) {
	var ids []any
	for id, c := range candidates {
		if keep(c) {
			ids = append(ids, id)
		}
	}
	return passagesWhere(ctx, s.db, `p.id IN (`+marks(len(ids))+`)`, ids...)
}

// passagesWhere reads the passages p for which a condition holds, ordered by id.
func passagesWhere(ctx context.Context, db files.Querier, where string, args ...any) (locations []location, err error) {
	// The passages of a note have consecutive ids.
	for scan := range files.Rows(ctx, db, `SELECT p.id, p.note, p.start, p.stop, p.heading, n.title, n.path, n.language,
		NOT EXISTS (SELECT 1 FROM passages b WHERE b.id = p.id - 1 AND b.note = p.note)
		FROM passages p JOIN notes n ON n.id = p.note WHERE `+where+` ORDER BY p.id`, args...) {
		var p location
		if err := scan(&p.id, &p.note, &p.start, &p.stop, &p.heading, &p.title, &p.path, &p.language,
			&p.first); err != nil {
			return nil, err
		}
		locations = append(locations, p)
	}
	return locations, nil
}
