package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// A filter becomes the set of notes that it keeps, whatever it asks for. Few of
// them are a list: what they hold is looked at and nothing else. Many are a
// test: all is looked at as without a filter, and what is of another note is
// passed over (docs/design/vectors.md).

// toTest is where a test begins to cost less: a passage of a list takes about a
// microsecond, a test eight, and for the hundred nearest 125 are tested divided
// by the share of the passages that is kept.
const toTest = 8 * 125

// inList is the condition that a note is one of search.list.
const inList = ` IN (SELECT value FROM json_each(?))`

// narrow finds the notes that the filter keeps.
func (s *search) narrow(ctx context.Context) error {
	if s.filter.notes == "" {
		return nil
	}
	var notes int
	if err := s.db.QueryRowContext(ctx, `SELECT json_group_array(note), (SELECT count(*) FROM notes) FROM (`+s.filter.notes+`)`, s.filter.args...).
		Scan(&s.list, &notes); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(s.list), &s.kept); err != nil {
		return fmt.Errorf("read the notes to search: %w", err)
	}
	slices.Sort(s.kept)
	s.kept = slices.Compact(s.kept) // a note may have a tag and one below it
	s.share = float64(len(s.kept)) / float64(max(1, notes))
	s.many = s.share*s.share*float64(s.words.passages) > toTest
	return nil
}

// keeps reports whether the filter keeps a note.
func (s *search) keeps(note int64) bool {
	_, kept := slices.BinarySearch(s.kept, note)
	return kept || s.filter.notes == ""
}
