package search

import (
	"context"
	"time"

	"lifehub/internal/rows"
	"lifehub/internal/when"
	"lifehub/rag/words"
)

const (
	// ownDateBoost is what a note gains whose name or front matter bears a date
	// that the question speaks of, against the best score of 1. Many questions
	// hold such words by chance, so it lifts and does not decide.
	ownDateBoost = 0.25
	// fileDateBoost is the same for a note that only was written then.
	fileDateBoost = 0.08
)

// asksForTheTimeItself reports whether nothing but the time is left of a
// question.
func asksForTheTimeItself(rest string) bool {
	for _, t := range words.Terms(rest, "") {
		if !t.Exact && !when.SaysNothing(t.Text) {
			return false
		}
	}
	return true
}

// liftDated raises the passages of notes whose own date fits the time that
// the question speaks of. Asked for the time itself, those notes come first,
// found by words or not.
func (s *search) liftDated(ctx context.Context, found map[int64]*candidate) error {
	when, rest := when.In(s.query.Text, s.query.today())
	if when.IsZero() {
		return nil
	}
	itself := asksForTheTimeItself(rest)
	s.undated = itself
	aDay := when.To.Sub(when.From) <= 25*time.Hour // one of them may be longer than 24 hours
	query := `SELECT p.id, n.dated FROM notes n JOIN passages p ON p.note = n.id WHERE n.date >= ? AND n.date < ?`
	args := []any{when.From.Format(time.DateOnly), when.To.Format(time.DateOnly)}
	if s.filter.where != "" {
		query += ` AND n.id IN (SELECT id FROM notes WHERE ` + s.filter.where + `)`
		args = append(args, s.filter.args...)
	}
	place := 0
	for scan := range rows.Of(ctx, s.db, query+` ORDER BY n.dated DESC, n.date DESC, p.id LIMIT 2000`, args...) {
		var id int64
		var dated bool
		if err := scan(&id, &dated); err != nil {
			return err
		}
		c := found[id]
		if c == nil && (itself || aDay) && dated && place < nearCandidates {
			c = &candidate{id: id}
			found[id] = c
		}
		s.dated = s.dated || aDay && dated // "what did I eat yesterday": its words may be others
		s.undated = false
		switch {
		case c == nil:
		case dated && itself:
			s.dated, c.dated = true, true
			c.boost = 1.5 - float64(place)/1e4 // above any words; the newest first, and a note's passages in their order
		case dated:
			c.boost, c.dated = ownDateBoost, aDay
		default:
			c.boost = fileDateBoost
		}
		place++
	}
	return nil
}
