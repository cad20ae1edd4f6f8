package search

import (
	"context"
	"database/sql"

	"lifehub/internal/rows"
	"lifehub/internal/text"
)

// place is where a passage stands in its note, from its neighbour before to
// the one after.
type place struct {
	id, note              int64
	start, stop, from, to int
	heading, title, path  string
	language              text.Lang
	first                 bool // of its note
}

// oneIn is the condition that a passage p is one in so many, by its id: a
// sample of which no other row is read.
const oneIn = `p.id IN (WITH RECURSIVE sample (id) AS (SELECT ?1 UNION ALL SELECT id + ?1 FROM sample WHERE id < (SELECT max(id) FROM passages)) SELECT id FROM sample)`

// placesOf reads the places of the passages p for which a condition holds, in
// their order.
func placesOf(ctx context.Context, db *sql.DB, where string, args ...any) (places []place, err error) {
	// The passages of a note have ids in order, so a neighbour's is one away.
	for scan := range rows.Of(ctx, db, `SELECT p.id, p.note, p.start, p.stop, p.heading, n.title, n.path, n.language,
		coalesce((SELECT start FROM passages b WHERE b.id = p.id - 1 AND b.note = p.note), -1),
		coalesce((SELECT stop FROM passages a WHERE a.id = p.id + 1 AND a.note = p.note), p.stop)
		FROM passages p JOIN notes n ON n.id = p.note WHERE `+where+` ORDER BY p.id`, args...) {
		var p place
		if err := scan(&p.id, &p.note, &p.start, &p.stop, &p.heading, &p.title, &p.path, &p.language, &p.from, &p.to); err != nil {
			return nil, err
		}
		if p.first = p.from < 0; p.first {
			p.from = 0
		}
		places = append(places, p)
	}
	return places, nil
}
