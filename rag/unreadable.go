package rag

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"lifehub/internal/files"
	"lifehub/notes"
	"lifehub/rag/words"
)

// unreadable contains the files and folders that could not be read, by path, with the
// number of indexed notes in each. These stay: a note is removed only if it is missing
// from a complete list of its folder.
type unreadable map[string]int

// unreadableOf returns the unreadable files among the problems of a folder.
func unreadableOf(problems []notes.Problem) unreadable {
	u := unreadable{}
	for _, p := range problems {
		if p.Unknown {
			u[p.Path] = 0
		}
	}
	return u
}

// covering returns the unreadable path that is a file or contains it.
func (u unreadable) covering(name string) (at string, ok bool) {
	for at = name; at != "."; at = path.Dir(at) {
		if _, ok := u[at]; ok {
			return at, true
		}
	}
	return "", false
}

// count returns the number of unreadable notes. A path without indexed notes counts as
// one.
func (u unreadable) count() (sum int) {
	for _, n := range u {
		sum += max(n, 1)
	}
	return sum
}

const unreadableKey = "unreadable"

// readUnreadable reads what the last sync recorded.
func readUnreadable(ctx context.Context, db files.Querier) unreadable {
	u := unreadable{}
	_ = json.Unmarshal([]byte(words.Meta(ctx, db, unreadableKey)), &u) // not recorded: there are none
	return u
}

// recordUnreadable records what could not be read. A sync of a few notes keeps the record
// of the others.
func (s *syncRun) recordUnreadable(ctx context.Context) error {
	was := readUnreadable(ctx, s.db)
	if s.only != nil {
		for name, n := range was {
			if _, looked := s.unreadable[name]; !looked && !slices.Contains(s.only, name) {
				s.unreadable[name] = n
			}
		}
	}
	s.changes.Unreadable = s.unreadable.count()
	s.index.someUnreadable.Store(len(s.unreadable) > 0)
	now, err := json.Marshal(s.unreadable)
	before, errBefore := json.Marshal(was)
	if err = errors.Join(err, errBefore); err != nil || string(now) == string(before) {
		return err
	}
	return errors.Join(s.begin(ctx), words.SetMeta(ctx, s.db, unreadableKey, string(now)))
}

// recordUnlisted records that the folder could not be listed.
func (s *syncRun) recordUnlisted(ctx context.Context) error {
	if ctx.Err() != nil || s.words == nil || s.db != s.words.db {
		return nil
	}
	var n int
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM notes`).Scan(&n); err != nil {
		return err
	}
	s.unreadable["."] = n
	return errors.Join(s.recordUnreadable(ctx), s.sign())
}

// checkNothingLost returns an error if the new index must not replace the old one, because
// notes that it lacks could not be read.
func (s *syncRun) checkNothingLost(ctx context.Context) error {
	if len(s.unreadable) == 0 {
		return nil
	}
	known, err := knownFiles(ctx, s.words.db, nil)
	if err != nil {
		return err
	}
	for name, was := range known {
		if _, ok := s.unreadable.covering(name); ok && was.id != 0 {
			return fmt.Errorf("%s cannot be read now and would be lost: the index stays as it is; `lifehub index` "+
				"says why", name)
		}
	}
	return nil
}
