package rag

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/notes"
	"lifehub/rag/encoder"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// The states of a note in Status, besides skipped.
const (
	indexedNote = "indexed"
	staleNote   = "stale"   // changed since it was indexed
	missingNote = "missing" // not indexed yet
)

// FileStatus is the state of a file of the folder in the index.
type FileStatus struct {
	Path     string `json:"path"`
	State    string `json:"state"`             // indexed, stale, missing, skipped
	Passages int    `json:"passages"`          // 0: none
	Embedded int    `json:"embedded"`          // passages with a vector
	Reason   string `json:"reason,omitempty"`  // why it was skipped, or what is wrong with it
	CopyOf   string `json:"copy_of,omitempty"` // the note next to it, of which a sync program made this copy
}

// Status returns the state of every file of the folder in the index, by path.
func (x *Index) Status(ctx context.Context, folder *notes.Folder) ([]FileStatus, error) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", folder.Dir(), err)
	}
	defer g.release() //nolint:errcheck // it was only read
	entries, problems, known, err := compare(ctx, folder, g.db)
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", folder.Dir(), err)
	}
	counts, err := x.countPassages(ctx, g.db)
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", folder.Dir(), err)
	}
	all := make([]FileStatus, 0, len(entries)+len(problems))
	for _, e := range entries {
		was, ok := known[e.Path]
		s := FileStatus{Path: e.Path, State: indexedNote, Reason: was.reason, CopyOf: e.CopyOf}
		s.Passages, s.Embedded = counts[e.Path][0], counts[e.Path][1]
		switch {
		case !ok && notes.IsPicture(e.Path):
			continue // only counted
		case !ok:
			s.State = missingNote
		case !was.matches(folder, e):
			s.State = staleNote
		case was.id == 0:
			s.State = skipped
		}
		all = append(all, s)
	}
	for _, p := range problems {
		all = append(all, FileStatus{Path: p.Path, State: skipped, Reason: p.Reason})
	}
	slices.SortFunc(all, func(a, b FileStatus) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// Foreign reports whether most of the notes are in a language that the built-in encoder does not know.
// It looks at a sample of them.
func (x *Index) Foreign(ctx context.Context) (bool, error) {
	const notes, length, fewest = 60, 2_000, 40 // notes, bytes of each, and words by which a language can be told
	g, err := x.acquireUndamaged()
	if err != nil {
		return false, err
	}
	defer g.release() //nolint:errcheck // it was only read
	ids, err := files.AllRows(ctx, g.db, func(scan files.Scan) (id int64, err error) {
		return id, scan(&id)
	}, `SELECT id FROM notes ORDER BY id * 7919 % 10007 LIMIT ?`, notes)
	if err != nil {
		return false, err
	}
	texts := words.Texts{DB: g.db}
	if err := texts.Load(ctx, ids...); err != nil {
		return false, err
	}
	known, all := 0, 0
	for _, id := range ids {
		text, err := texts.Whole(ctx, id)
		if err != nil {
			return false, err
		}
		k, n, err := encoder.Words(strings.ToValidUTF8(text[:min(len(text), length)], ""))
		if err != nil {
			return false, err
		}
		known, all = known+k, all+n
	}
	return all >= fewest && 2*known < all, nil
}

// DryRun returns what a sync would change, by the sizes and times of files. It reads only
// new files that have the size of a removed one, to recognise moved notes.
func (x *Index) DryRun(ctx context.Context, folder *notes.Folder) (Changes, error) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return Changes{}, fmt.Errorf("dry run on %s: %w", folder.Dir(), err)
	}
	defer g.release() //nolint:errcheck // it was only read
	entries, problems, known, err := compare(ctx, folder, g.db)
	if err != nil {
		return Changes{}, fmt.Errorf("dry run on %s: %w", folder.Dir(), err)
	}
	changes := Changes{Total: len(entries)}
	for _, p := range problems {
		changes.Notes = append(changes.Notes, Change{Path: p.Path, What: skipped, Reason: p.Reason})
	}
	var fresh []notes.Entry
	for _, e := range entries {
		was, ok := known[e.Path]
		delete(known, e.Path)
		switch {
		case !ok || was.id == 0 && !was.matches(folder, e):
			fresh = append(fresh, e)
		case !was.matches(folder, e):
			changes.Notes = append(changes.Notes, Change{Path: e.Path, What: changed})
		case was.id == 0:
			changes.Notes = append(changes.Notes, Change{Path: e.Path, What: skipped, Reason: was.reason})
		}
	}
	files, err := diffFiles(ctx, folder, g.db, fresh, known)
	if err != nil {
		return Changes{}, fmt.Errorf("dry run on %s: %w", folder.Dir(), err)
	}
	changes.Notes = append(changes.Notes, files...)
	slices.SortFunc(changes.Notes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, g.db.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&changes.Passages)
}

// diffFiles returns which notes were moved, added and removed.
func diffFiles(ctx context.Context, folder *notes.Folder, db *sql.DB, fresh []notes.Entry,
	lost map[string]indexed,
) (all []Change, err error) {
	maps.DeleteFunc(lost, func(_ string, was indexed) bool { return was.id == 0 })
	names := slices.Sorted(maps.Keys(lost))
	s := syncRun{db: db, folder: folder}
	if err := s.hashes(ctx, lost, names); err != nil {
		return nil, err
	}
	gone := map[string][]string{} // removed paths by content
	sizes := map[int64]bool{}
	for _, name := range names {
		gone[string(lost[name].hash)] = append(gone[string(lost[name].hash)], name)
		sizes[lost[name].size] = true
	}
	for _, e := range fresh {
		change := Change{Path: e.Path, What: added}
		if sizes[e.Size] {
			raw, _, err := folder.Raw(e.Path)
			if paths := gone[string(contentHash(raw))]; err == nil && len(paths) > 0 {
				change.What, change.From = moved, paths[0]
				gone[string(contentHash(raw))] = paths[1:]
			}
		}
		all = append(all, change)
	}
	for _, names := range gone {
		for _, name := range names {
			all = append(all, Change{Path: name, What: removed})
		}
	}
	return all, nil
}

func compare(ctx context.Context, folder *notes.Folder, db *sql.DB) ([]notes.Entry, []notes.Problem, map[string]indexed, error) {
	entries, problems, err := folder.List(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	known, err := knownFiles(ctx, db, nil)
	entries = slices.DeleteFunc(entries, func(e notes.Entry) bool { // images without text are only counted
		was := known[e.Path]
		return was.matches(folder, e) && notes.IsImageReason(was.reason)
	})
	listed := map[string]bool{}
	for _, e := range entries {
		listed[e.Path] = true
	}
	u := unreadableOf(problems)
	maps.DeleteFunc(known, func(name string, _ indexed) bool {
		_, stays := u.covering(name)
		return (stays || isUnreadPicture(folder, name)) && !listed[name]
	})
	return entries, problems, known, err
}

// countPassages returns the number of passages of each note, and of those with a vector.
func (x *Index) countPassages(ctx context.Context, db *sql.DB) (map[string][2]int, error) {
	m, _, err := x.Vectors()
	if err != nil {
		return nil, err
	}
	counts := map[string][2]int{}
	notesOf := map[vectors.Key][]string{} // a note as often as it holds the passage
	for scan := range files.Rows(ctx, db, `SELECT n.path, p.key FROM passages p JOIN notes n ON n.id = p.note`) {
		var name string
		var raw []byte
		if err := scan(&name, &raw); err != nil {
			return nil, err
		}
		c := counts[name]
		counts[name] = [2]int{c[0] + 1, c[1] + 1}
		notesOf[vectors.KeyOf(raw)] = append(notesOf[vectors.KeyOf(raw)], name)
	}
	missing := slices.Collect(maps.Keys(notesOf))
	if m != nil {
		missing, err = m.Missing(ctx, missing)
		if unavailable := (*vectors.UnavailableError)(nil); errors.As(err, &unavailable) && ctx.Err() == nil {
			x.setEmbedFailure(err.Error())
			missing = slices.Collect(maps.Keys(notesOf)) // none that could be searched now
		} else if err != nil {
			return nil, err
		}
	}
	for _, k := range missing {
		for _, name := range notesOf[k] {
			c := counts[name]
			counts[name] = [2]int{c[0], c[1] - 1}
		}
	}
	return counts, nil
}
