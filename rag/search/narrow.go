package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Every filter becomes the set of matching notes. If they are few, only their
// passages are searched. If they are many, all passages are searched, and hits in other
// notes are dropped (docs/design/vectors.md).

// breakEven is the square of the filter's share of the passages, times their number, above
// which all passages are searched. Reading a passage of the list takes about 1 µs, testing
// a hit 8 µs, and 125 hits divided by that share are tested to find the 100 nearest.
const breakEven = 8 * 125

// inList is the condition that a note is one of search.list.
const inList = ` IN (SELECT value FROM json_each(?))`

// narrow reads the notes that match the filter.
func (s *search) narrow(ctx context.Context) error {
	if s.filter.notes == "" {
		return nil
	}
	var notes int
	if err := s.db.QueryRowContext(ctx, `SELECT json_group_array(note), (SELECT count(*) FROM notes) FROM (`+
		s.filter.notes+`)`, s.filter.args...).
		Scan(&s.list, &notes); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(s.list), &s.matching); err != nil {
		return fmt.Errorf("read the notes to search: %w", err)
	}
	slices.Sort(s.matching)
	s.matching = slices.Compact(s.matching) // a note may have a tag and one below it
	s.share = float64(len(s.matching)) / float64(max(1, notes))
	s.many = s.share*s.share*float64(s.words.passages) > breakEven
	return nil
}

// matches reports whether a note matches the filter.
func (s *search) matches(note int64) bool {
	_, found := slices.BinarySearch(s.matching, note)
	return found || s.filter.notes == ""
}
