package rag

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lifehub/internal/files"
	"lifehub/notes"
)

// indexed is the state of a file in the index.
type indexed struct {
	id     int64 // 0: it was skipped
	size   int64
	mtime  int64  // nanoseconds
	hash   []byte // nil: not asked for yet
	reason string // why it was skipped, or what is wrong with it
	copyOf string
}

// readFew updates the keywords of a few notes.
func (s *syncRun) readFew(ctx context.Context) error {
	known, err := knownFiles(ctx, s.db, s.only)
	if err != nil {
		return err
	}
	var todo []notes.Entry
	var again, lost []string
	for _, name := range s.only {
		info, err := os.Lstat(filepath.Join(s.folder.Dir(), filepath.FromSlash(name)))
		switch was, ok := known[name]; {
		case errors.Is(err, os.ErrNotExist):
			if ok {
				lost = append(lost, name)
			}
		case err != nil || !ok || !was.matches(s.folder, notes.Entry{
			Size:    info.Size(),
			ModTime: info.ModTime(), CopyOf: was.copyOf,
		}):
			todo = append(todo, notes.Entry{Path: name, CopyOf: was.copyOf}) // a full sync recognises new copies
			again = append(again, name)
		}
	}
	if len(todo) == 0 && len(lost) == 0 {
		return s.recordTime()
	}
	if _, err := os.Stat(s.folder.Dir()); err != nil { // it is the folder that is gone
		return fmt.Errorf("look at the notes folder: %w", err)
	}
	return s.write(ctx, todo, again, lost, known, -1)
}

// matches reports whether the file has the indexed size and time, or was skipped for a
// reason that still holds.
func (f indexed) matches(folder *notes.Folder, e notes.Entry) bool {
	unchanged := f.size == e.Size && f.mtime == e.ModTime.UnixNano()
	if f.id == 0 { // it was skipped
		return unchanged && !folder.IsOutdated(f.reason)
	}
	return unchanged && f.copyOf == e.CopyOf
}

// isUnreadPicture reports whether a file of the index is an image of a folder that does not
// read images now. It stays, since reading all of them again could take hours.
func isUnreadPicture(folder *notes.Folder, name string) bool {
	return notes.IsPicture(name) && !folder.ReadsPictures() && folder.Has(name)
}

// knownFiles returns the indexed state of some files, or of all if only is nil. SQLite
// joins the rows to one text, since fetching ten thousand rows would cost as much as
// examining the files.
func knownFiles(ctx context.Context, db files.Querier, only []string) (map[string]indexed, error) {
	where, args := "", []any(nil)
	if only != nil {
		list, err := json.Marshal(only)
		if err != nil {
			return nil, err
		}
		where, args = ` WHERE path IN (SELECT value FROM json_each(?))`, []any{string(list), string(list)}
	}
	var all sql.NullString
	err := db.QueryRowContext(ctx, `SELECT group_concat(row, char(0)) FROM (
		SELECT path || char(0) || id || char(0) || size || char(0) || mtime || char(0) || problem || char(0) ||
		copy_of AS row FROM notes`+where+`
		UNION ALL SELECT path || char(0) || 0 || char(0) || size || char(0) || mtime || char(0) || reason || char(0) ||
		'' FROM skipped`+where+`)`, args...).Scan(&all)
	if err != nil || !all.Valid {
		return map[string]indexed{}, err
	}
	const columns = 6
	known := make(map[string]indexed, strings.Count(all.String, "\x00")/columns+1)
	var row [columns]string
	for rest, more := all.String, true; more; {
		for i := range row {
			row[i], rest, more = strings.Cut(rest, "\x00")
		}
		var f indexed
		var err [3]error
		f.id, err[0] = strconv.ParseInt(row[1], 10, 64)
		f.size, err[1] = strconv.ParseInt(row[2], 10, 64)
		f.mtime, err[2] = strconv.ParseInt(row[3], 10, 64)
		if err := errors.Join(err[:]...); err != nil {
			return nil, fmt.Errorf("read what is indexed: %w", err)
		}
		f.reason, f.copyOf = row[4], row[5]
		known[row[0]] = f
	}
	return known, nil
}

// contentHash identifies the content of a file, whatever its name.
func contentHash(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return sum[:16]
}

// hashes reads the content hashes of some notes into known.
func (s *syncRun) hashes(ctx context.Context, known map[string]indexed, names []string) error {
	statement, err := s.db.PrepareContext(ctx, `SELECT hash FROM notes WHERE path = ?`)
	if err != nil {
		return err
	}
	defer statement.Close() //nolint:errcheck // nothing was written
	for _, name := range names {
		f, ok := known[name]
		if !ok || f.id == 0 {
			continue
		}
		if err := statement.QueryRowContext(ctx, name).Scan(&f.hash); err != nil {
			return err
		}
		known[name] = f
	}
	return nil
}
