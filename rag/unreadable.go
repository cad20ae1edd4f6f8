package rag

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"lifehub/notes"
	"lifehub/rag/words"
)

// unreadable holds the files and folders that could not be looked at, by path, with
// the number of notes of the index in each. What is known of them stays: a note is
// gone only if a complete list of its folder lacks it.
type unreadable map[string]int

// unreadableOf are those of a list of the folder.
func unreadableOf(problems []notes.Problem) unreadable {
	u := unreadable{}
	for _, p := range problems {
		if p.Unknown {
			u[p.Path] = 0
		}
	}
	return u
}

// over returns the one that a file is, or is in; false: there is none.
func (u unreadable) over(name string) (at string, ok bool) {
	for at = name; at != "."; at = path.Dir(at) {
		if _, ok := u[at]; ok {
			return at, true
		}
	}
	return "", false
}

// notes returns how many notes they are; one without a note in the index counts as one.
func (u unreadable) notes() (sum int) {
	for _, n := range u {
		sum += max(n, 1)
	}
	return sum
}

const unreadableKey = "unreadable"

// readUnreadable reads what the last sync wrote down.
func readUnreadable(ctx context.Context, db *sql.DB) unreadable {
	u := unreadable{}
	_ = json.Unmarshal([]byte(words.Meta(ctx, db, unreadableKey)), &u) // not written down: there are none
	return u
}

// noteUnreadable writes down what could not be read now. A sync of a few notes
// knows nothing of the others.
func (s *syncRun) noteUnreadable(ctx context.Context) error {
	was := readUnreadable(ctx, s.db)
	if s.only != nil {
		for name, n := range was {
			if _, looked := s.unreadable[name]; !looked && !slices.Contains(s.only, name) {
				s.unreadable[name] = n
			}
		}
	}
	s.changes.Unreadable = s.unreadable.notes()
	s.index.someUnreadable.Store(len(s.unreadable) > 0)
	now, err := json.Marshal(s.unreadable)
	before, errBefore := json.Marshal(was)
	if err = errors.Join(err, errBefore); err != nil || string(now) == string(before) {
		return err
	}
	return errors.Join(s.begin(ctx), words.SetMeta(ctx, s.db, unreadableKey, string(now)))
}

// noteNothingRead writes down that the folder itself could not be listed.
func (s *syncRun) noteNothingRead(ctx context.Context) error {
	if ctx.Err() != nil || s.words == nil || s.db != s.words.db {
		return nil
	}
	var n int
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM notes`).Scan(&n); err != nil {
		return err
	}
	s.unreadable["."] = n
	return errors.Join(s.noteUnreadable(ctx), s.sign(ctx))
}

// losesNothing says why a new index must not replace the one there is; nil: all that
// is not in the new one was looked for and is gone.
func (s *syncRun) losesNothing(ctx context.Context) error {
	if len(s.unreadable) == 0 {
		return nil
	}
	known, err := knownFiles(ctx, s.words.db, nil)
	if err != nil {
		return err
	}
	for name, was := range known {
		if _, ok := s.unreadable.over(name); ok && was.id != 0 {
			return fmt.Errorf("%s cannot be read now and would be lost: the index stays as it is; `lifehub index` says why", name)
		}
	}
	return nil
}
