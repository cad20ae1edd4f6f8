package rag

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag/passage"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// imagePhase is the phase of a sync that reads images.
const imagePhase = "images"

// What a sync did to a note.
const (
	added   = "added"
	changed = "changed"
	moved   = "moved"
	removed = "removed"
	skipped = "skipped"
)

// Sync updates the index to the folder: first the keywords of every note that changed,
// then the vectors of every passage that the embedder has not seen, if it is not nil.
// Each step is committed, so that the next sync continues after an interrupted one. A
// failing embedder, a broken note, or a folder that another process is indexing are
// reported in Changes. Sync fails only if the index cannot be written: ctx is cancelled,
// the disk is full, the folder is read-only. The index can be searched all the same.
//
// Images, each of which takes seconds, are left to [Index.SyncImages].
func (x *Index) Sync(ctx context.Context, folder *notes.Folder, embedder llm.Embedder,
	progress func(Progress),
) (Changes, error) {
	return x.syncUnlessLocked(ctx, syncRun{folder: folder, embedder: embedder, progress: progress})
}

// SyncImages is like Sync, and then reads images for about ten seconds, so that it does not
// hold up changes of notes for longer. Changes.Images is the number that the next call reads.
func (x *Index) SyncImages(ctx context.Context, folder *notes.Folder, embedder llm.Embedder,
	progress func(Progress),
) (Changes, error) {
	return x.syncUnlessLocked(ctx, syncRun{folder: folder, embedder: embedder, progress: progress, images: true})
}

// SyncPaths is like Sync for a few notes that were changed, added or removed. Its cost
// does not depend on the other notes. Paths are below the folder, with slashes.
func (x *Index) SyncPaths(ctx context.Context, folder *notes.Folder, embedder llm.Embedder,
	paths []string,
) (Changes, error) {
	if len(paths) == 0 {
		return Changes{}, nil
	}
	return x.syncUnlessLocked(ctx, syncRun{folder: folder, embedder: embedder, only: paths})
}

// Rebuild is like Sync with a new index, for which every note is read again. The old one
// is searched until the new one is complete, and stays if Rebuild fails. Vectors are not
// rebuilt, since each names the text it was made from and has a checksum.
func (x *Index) Rebuild(ctx context.Context, folder *notes.Folder, embedder llm.Embedder,
	progress func(Progress),
) (changes Changes, err error) {
	if err := x.Use(embedder); err != nil {
		return Changes{}, fmt.Errorf("index %s: %w", folder.Dir(), err)
	}
	x.syncing.Lock()
	defer x.syncing.Unlock()
	err = retryWhileLocked(ctx, func() error {
		changes, err = x.sync(ctx, syncRun{folder: folder, embedder: embedder, progress: progress, rebuild: true})
		return err
	})
	return changes, err
}

// syncUnlessLocked syncs, unless another process is syncing.
func (x *Index) syncUnlessLocked(ctx context.Context, s syncRun) (Changes, error) {
	if err := x.Use(s.embedder); err != nil {
		return Changes{}, fmt.Errorf("index %s: %w", s.folder.Dir(), err)
	}
	x.syncing.Lock()
	defer x.syncing.Unlock()
	changes, err := x.sync(ctx, s)
	if errors.Is(err, errLocked) {
		return x.lockedChanges(ctx)
	}
	return changes, err
}

// sync does one run. The caller must hold syncing.
func (x *Index) sync(ctx context.Context, s syncRun) (Changes, error) {
	s.index = x
	if s.progress == nil {
		s.progress = func(Progress) {}
	}
	unlock, ok, err := x.lock()
	if err == nil && !ok {
		err = errLocked
	}
	if err != nil {
		return Changes{}, fmt.Errorf("index %s: %w", s.folder.Dir(), words.Explain(err))
	}
	defer unlock() //nolint:errcheck // closing a lock's file lets go of it in any case
	x.removeOthers()
	again := s
	err = s.run(ctx)
	if s.words != nil && words.IsDamage(err) && ctx.Err() == nil {
		x.lose(s.words, err)
		s = again
		err = s.run(ctx)
	}
	if err != nil {
		return s.changes, fmt.Errorf("index %s: %w", s.folder.Dir(), words.Explain(err))
	}
	return s.changes, nil
}

// lockedChanges returns the result of a sync while another process indexes this vault.
func (x *Index) lockedChanges(ctx context.Context) (Changes, error) {
	changes := Changes{Warnings: []string{"another LifeHub is indexing these notes; what it has finished can be " +
		"searched"}}
	coverage, err := x.coverage(ctx)
	if words.IsDamage(err) {
		err = nil // the other process rebuilds it
	}
	changes.Total = coverage.Total
	return changes, err
}

// run updates the newest generation, or creates one.
func (s *syncRun) run(ctx context.Context) (err error) {
	x := s.index
	if s.words, err = x.acquire(true); err != nil {
		return err
	}
	if s.words == nil || s.rebuild {
		err = s.createGeneration(ctx)
	} else if err = s.words.limited; err == nil {
		s.db = s.words.db
		err = s.readNotes(ctx)
	}
	if s.words != nil {
		defer s.words.release() //nolint:errcheck // the index still has it
	}
	if err == nil && s.only == nil && len(s.unreadable) == 0 { // else seen lacks notes that are there
		err = s.index.remember(s.folder, s.seen)
	}
	if err == nil && s.embedder != nil {
		err = s.embed(ctx, s.embedder)
	}
	if err != nil {
		return err
	}
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&s.changes.Passages)
	if err == nil && s.only == nil {
		err = s.countLeftOut(ctx)
	}
	return errors.Join(err, s.sign())
}

// countLeftOut records how many files of the folder are not in the index. Images without
// text, or that are not read yet, are not notes and only counted.
func (s *syncRun) countLeftOut(ctx context.Context) error {
	for _, c := range s.changes.Notes {
		if _, later := s.unreadable[c.Path]; c.What == skipped && !later {
			s.changes.LeftOut.AddUnread(c.Reason)
		}
	}
	reported := len(s.changes.Notes)
	s.changes.Notes = slices.DeleteFunc(s.changes.Notes, func(c Change) bool {
		return c.What == skipped &&
			notes.IsImageReason(c.Reason)
	})
	s.changes.Total -= reported - len(s.changes.Notes)
	if s.changes.Images > 0 {
		s.changes.LeftOut[notes.UnreadImage] = s.changes.Images
	}
	now, err := json.Marshal(s.changes.LeftOut)
	if err != nil || string(now) == cmp.Or(words.Meta(ctx, s.db, "left out"), "{}") {
		return err
	}
	return errors.Join(s.begin(ctx), words.SetMeta(ctx, s.db, "left out", string(now)))
}

// createGeneration creates the next generation from the notes.
func (s *syncRun) createGeneration(ctx context.Context) error {
	x := s.index
	if s.words == nil {
		x.mu.RLock()
		s.changes.Rebuilt = "the word index could not be used: " + x.damage.Error()
		x.mu.RUnlock()
	}
	number, err := newest(x.dir)
	if err != nil {
		return err
	}
	path, made := x.rebuildPath(), x.wordsPath(number+1)
	err = s.buildIndex(ctx, path)
	if err == nil {
		err = os.Rename(path, made)
	}
	if err != nil {
		return fmt.Errorf("rebuild index: %w", errors.Join(err, words.Remove(path)))
	}
	if err := x.sign(number + 1); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	if s.words != nil {
		s.words.release() //nolint:errcheck // nothing was written to it
	}
	if s.words, err = x.acquire(true); err != nil {
		return fmt.Errorf("open rebuilt index: %w", err)
	}
	if s.words == nil {
		return errors.New("rebuild index: the new one was damaged at once")
	}
	s.db, s.unsigned = s.words.db, false
	return nil
}

// buildIndex writes a keyword index from the notes.
func (s *syncRun) buildIndex(ctx context.Context, path string) error {
	db, err := words.Make(path)
	if err != nil {
		return err
	}
	s.db, s.only, s.unsigned = db, nil, true // it has no stamp
	err = s.readNotes(ctx)
	if err == nil && s.words != nil {
		err = s.checkNothingLost(ctx)
	}
	return errors.Join(err, db.Close())
}

// syncRun is the state of one sync.
type syncRun struct {
	index    *Index
	words    *generation
	db       *sql.DB // of words, or of its replacement
	folder   *notes.Folder
	embedder llm.Embedder // nil: keywords only
	only     []string     // the notes to sync; nil: all
	images   bool         // read images too
	rebuild  bool
	progress func(Progress)
	changes  Changes
	unsigned bool          // the stamp was removed, because the index is changed
	seen     notes.Seen    // the folder as it was listed
	listing  string        // checksum of the list of files in the index; "": unknown
	pictures []notes.Entry // images that are new or changed
	unread   int           // notes that are new or changed and not read yet

	unreadable unreadable
}

// readNotes updates the keywords.
func (s *syncRun) readNotes(ctx context.Context) error {
	s.unreadable = unreadable{}
	read := s.readAll
	if s.only != nil {
		read = s.readFew
	}
	if err := read(ctx); err != nil {
		return err
	}
	return s.recordUnreadable(ctx)
}

// readAll updates the keywords of all notes.
func (s *syncRun) readAll(ctx context.Context) error {
	if err := s.expect(ctx); err != nil {
		return err
	}
	entries, problems, others, err := s.folder.Survey(ctx)
	if err != nil {
		return errors.Join(err, s.recordUnlisted(ctx))
	}
	s.seen = s.folder.Seen(entries)
	s.unreadable = unreadableOf(problems)
	s.changes.Total, s.changes.LeftOut = len(entries), others
	for _, p := range problems {
		s.report(p.Path, skipped, "", p.Reason)
	}
	s.listing = s.folder.Sum(entries)
	if len(s.unreadable) > 0 {
		s.listing = ""
	} else if s.listing == words.Meta(ctx, s.db, "listing") {
		if err := s.reportSkipped(ctx); err != nil {
			return err
		}
		return s.recordTime()
	}
	known, err := knownFiles(ctx, s.db, nil)
	if err != nil {
		return err
	}
	var todo []notes.Entry
	present := make(map[string]bool, len(entries))
	for _, e := range entries {
		present[e.Path] = true
		was, ok := known[e.Path]
		if ok && was.matches(s.folder, e) {
			if was.id == 0 {
				s.report(e.Path, skipped, "", was.reason)
			}
			continue
		}
		if !notes.IsPicture(e.Path) {
			todo = append(todo, e)
			continue
		}
		s.pictures = append(s.pictures, e)
		if !ok {
			s.changes.Total--
		}
	}
	s.changes.Images = len(s.pictures)
	var lost, again []string
	for name, was := range known {
		if present[name] {
			continue
		}
		at, stays := s.unreadable.covering(name)
		if !stays && !isUnreadPicture(s.folder, name) {
			lost = append(lost, name)
			continue
		}
		if !stays {
			s.listing = "" // the list lacks it
		}
		if stays || was.id != 0 {
			s.changes.Total++
		}
		if stays && was.id != 0 {
			s.unreadable[at]++
		}
	}
	for _, e := range slices.Concat(todo, s.pictures) {
		again = append(again, e.Path)
	}
	if len(todo) == 0 && len(lost) == 0 && (len(s.pictures) == 0 || !s.images) &&
		words.Meta(ctx, s.db, "total") == strconv.Itoa(s.changes.Total) && words.Meta(ctx, s.db, "unread") == "" {
		return s.recordTime()
	}
	return s.write(ctx, todo, again, lost, known, s.changes.Total)
}

// reportSkipped reports the unchanged files that are not notes.
func (s *syncRun) reportSkipped(ctx context.Context) error {
	for scan := range files.Rows(ctx, s.db, `SELECT path, reason FROM skipped ORDER BY path`) {
		var name, reason string
		if err := scan(&name, &reason); err != nil {
			return err
		}
		s.report(name, skipped, "", reason)
	}
	return nil
}

// write updates the notes that changed, and removes those that were lost.
func (s *syncRun) write(ctx context.Context, todo []notes.Entry, again, lost []string,
	known map[string]indexed, total int,
) error {
	s.unread = len(todo)
	if err := s.begin(ctx); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, `DELETE FROM meta WHERE key = 'listing'`); err != nil {
		return err
	}
	if total >= 0 { // searches meanwhile report the notes that are not read yet
		if err := errors.Join(words.SetMeta(ctx, s.db, "unread", strconv.Itoa(s.unread)),
			words.SetMeta(ctx, s.db, "total", strconv.Itoa(total))); err != nil {
			return err
		}
	}
	if err := s.hashes(ctx, known, slices.Concat(again, lost)); err != nil {
		return err
	}
	slices.Sort(lost)
	gone := map[string][]string{} // removed paths by content
	for _, name := range lost {
		gone[string(known[name].hash)] = append(gone[string(known[name].hash)], name)
	}
	if err := s.read(ctx, "read", todo, math.MaxInt64, known, gone); err != nil {
		return err
	}
	if s.images {
		if err := s.read(ctx, imagePhase, s.pictures, s.index.imageTime, known, gone); err != nil {
			return err
		}
	}
	return s.finish(ctx, known, gone, total)
}

// begin removes, before the first write, the stamp and the marks that every passage is
// embedded. If this process is killed, the next sync checks both.
func (s *syncRun) begin(ctx context.Context) error {
	if s.unsigned {
		return nil
	}
	s.unsigned = true
	if err := os.RemoveAll(s.index.stampPath(s.words.number)); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, `DELETE FROM meta WHERE key GLOB 'complete *'`)
	return err
}

// batchBytes is the amount of text in one transaction: large enough to make the cost of
// commits and merges small, small enough to lose only a few seconds if killed.
const batchBytes = 4 << 20

// read indexes notes that changed, at least one and further ones within a time limit, and
// removes those that were moved from gone. If ctx is cancelled, what was read is kept.
func (s *syncRun) read(ctx context.Context, phase string, todo []notes.Entry, limit time.Duration,
	known map[string]indexed, gone map[string][]string,
) error {
	in := notes.Reader{Folder: s.folder}
	defer in.Close()
	var to words.Writer
	began, done, pending := time.Now(), 0, 0
	var granted *wish
	until := 0 // the notes that a question waits for end there
	defer func() {
		if granted != nil {
			close(granted.ready)
		}
	}()
	commit := func() error {
		if to.Tx == nil {
			return nil
		}
		if s.only == nil {
			if err := words.SetMeta(context.WithoutCancel(ctx), to.Tx, "unread", strconv.Itoa(s.unread)); err != nil {
				return err
			}
		}
		err := to.Tx.Commit()
		to, pending = words.Writer{}, 0
		return err
	}
	defer func() {
		if to.Tx != nil {
			to.Tx.Rollback() //nolint:errcheck // the error that led here counts
		}
	}()
	for ; done < len(todo) && (done == 0 || time.Since(began) < limit); done++ {
		if phase == imagePhase && s.folder.GaveUpScans() {
			s.changes.Warnings = append(s.changes.Warnings, "tesseract does not finish in time; "+
				"images and scanned PDFs are left out until LifeHub is started again")
			break
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(err, commit())
		}
		mayGrant := granted == nil && s.only == nil && phase != imagePhase && len(todo)-done > fewNotes
		if w := s.index.wish.Load(); w != nil && mayGrant && s.index.wish.CompareAndSwap(w, nil) {
			if err := commit(); err != nil { // no transaction stays open while files are searched
				return err
			}
			first, err := s.grant(ctx, w, todo[done:])
			if err != nil {
				return err
			}
			granted, until = w, done+first
		}
		if granted != nil && done >= until {
			if err := commit(); err != nil {
				return err
			}
			close(granted.ready)
			granted = nil
		}
		entry := todo[done]
		s.progress(Progress{Phase: phase, Done: done, Total: len(todo)})
		if to.Tx == nil {
			var err error
			if to.Tx, err = s.db.BeginTx(context.WithoutCancel(ctx), nil); err != nil {
				return err
			}
		}
		err := s.readOne(ctx, &in, &to, entry, known[entry.Path], gone)
		if err != nil && ctx.Err() != nil {
			return errors.Join(err, commit())
		}
		if err != nil {
			return err
		}
		if phase == imagePhase {
			s.changes.Images--
			if _, ok := known[entry.Path]; !ok {
				s.changes.Total++
			}
		} else {
			s.unread--
		}
		if pending += int(entry.Size) + 512; pending >= batchBytes {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	s.progress(Progress{Phase: phase, Done: done, Total: len(todo)})
	return commit()
}

func (s *syncRun) readOne(ctx context.Context, in *notes.Reader, to *words.Writer, listed notes.Entry, was indexed,
	gone map[string][]string,
) error {
	name := listed.Path
	raw, entry, err := in.Load(ctx, name)
	if errors.Is(err, os.ErrNotExist) {
		s.listing = ""
		return nil // deleted since it was listed: the next sync removes it
	}
	if entry.Size != listed.Size || !entry.ModTime.Equal(listed.ModTime) {
		s.listing = ""
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	if errors.Is(err, notes.ErrBusy) { // the next sync reads it again
		s.listing, entry.ModTime = "", time.Unix(0, 0)
	}
	if notes.CannotRead(err) {
		s.listing, s.unreadable[name], entry = "", 1, notes.Entry{} // the next sync reads it again
	}
	if err != nil {
		entry.Path = name
		s.report(name, skipped, "", notes.Reason(err))
		if _, later := s.unreadable[name]; later && was.id != 0 {
			return nil // its earlier content stays
		}
		return to.Skip(entry, was.id, notes.Reason(err))
	}
	hash := contentHash(raw)
	if was.id != 0 && bytes.Equal(hash, was.hash) && was.copyOf == listed.CopyOf {
		_, err := to.Tx.ExecContext(ctx, `UPDATE notes SET size = ?, mtime = ? WHERE id = ?`, entry.Size,
			entry.ModTime.UnixNano(), was.id)
		return err
	}
	entry.CopyOf = listed.CopyOf
	note := notes.Parse(entry, raw)
	if note.Exported {
		s.report(entry.Path, skipped, "", notes.ExportedChat)
		return to.Skip(entry, was.id, notes.ExportedChat)
	}
	note.Title = passage.Shorten(note.Title, passage.MaxHeading) // it is in the row of each passage
	note.Text = note.Indexed()
	pieces := passage.Cut(note, s.index.options.Size)
	what, from, id, keys := added, "", was.id, []vectors.Key(nil)
	if was.id != 0 {
		what = changed
	} else if paths := gone[string(hash)]; len(paths) > 0 {
		what, from = moved, paths[0]
		gone[string(hash)] = paths[1:]
		if id, keys, err = to.MovedFrom(ctx, from); err != nil {
			return err
		}
	}
	reason := strings.ReplaceAll(strings.Join(note.Problems, "; "), "\x00", "")
	s.report(entry.Path, what, from, reason)
	return to.WriteNote(id, note, hash, reason, pieces, keys)
}

// finish removes notes, and records the state of the index. total is the number of files
// in the folder; -1 if only a few were synced.
func (s *syncRun) finish(ctx context.Context, known map[string]indexed, gone map[string][]string, total int) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	to := words.Writer{Tx: tx}
	for _, paths := range gone {
		for _, name := range paths {
			if id := known[name].id; id != 0 {
				s.report(name, removed, "", "")
				if err := to.RemoveNote(id); err != nil {
					return err
				}
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM skipped WHERE path = ?`, name); err != nil {
				return err
			}
		}
	}
	if total < 0 {
		err = tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM notes) + (SELECT count(*)
			FROM skipped)`).Scan(&total)
		s.changes.Total = total
	} else {
		err = errors.Join(words.CountFrequent(ctx, tx), words.MeasureLength(ctx, tx),
			words.SetMeta(ctx, tx, "unread", ""))
		total = s.changes.Total // with the images
	}
	if s.changes.Images > 0 {
		s.listing = "" // the next sync compares again
	}
	err = errors.Join(err, words.SetMeta(ctx, tx, "total", strconv.Itoa(total)),
		words.SetMeta(ctx, tx, "listing", s.listing))
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	slices.SortFunc(s.changes.Notes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return s.recordTime()
}

// recordTime notes when the index was last compared with the folder: the time of
// the lock file, so that a sync that finds nothing writes nothing.
func (s *syncRun) recordTime() error {
	now := time.Now()
	return os.Chtimes(s.index.lockPath(), now, now)
}

// sign ends the writing.
func (s *syncRun) sign() error {
	if !s.unsigned {
		return nil
	}
	return s.index.sign(s.words.number)
}

func (s *syncRun) report(name, what, from, reason string) {
	s.changes.Notes = append(s.changes.Notes, Change{Path: name, What: what, From: from, Reason: reason})
}
