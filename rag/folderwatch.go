package rag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"lifehub/internal/files"
	"lifehub/notes"
)

const (
	// settle is how long a folder must be quiet before a sync, since editors write,
	// rename and touch a file in one save.
	settle = 250 * time.Millisecond
	// maxWait bounds the wait for a folder that is never quiet.
	maxWait = 2 * time.Second
	// maxPaths is the maximum number of notes that are synced one by one.
	maxPaths = 100
	// pollInterval is how often a folder is synced that cannot be watched, and how
	// often a missing folder is looked for.
	pollInterval = 5 * time.Second
	// sweepInterval is how often a watched folder is synced, since network folders
	// lose events.
	sweepInterval = 10 * time.Minute
	// retryInterval is how often a sync is repeated that lacked notes, embedder or
	// vectors, or left images.
	retryInterval = 30 * time.Second
)

// folderWatcher watches a folder of notes.
type folderWatcher struct {
	index     *Index
	folder    *notes.Folder
	embedders Embedders
	report    func(Changes, error)
	Dir       string

	// Poll and Again are the constants, or shorter in tests.
	Poll, Again time.Duration

	model              string // of the last sync
	unreadable, images int

	watcher *fsnotify.Watcher // nil: the folder is polled
	changed map[string]bool   // paths of notes
	whole   bool              // the whole folder must be synced
	missing bool              // the folder is missing
}

// Run watches until ctx is done, and returns its error. If the system cannot watch the
// folder, so that start fails, it is polled.
func (w *folderWatcher) Run(ctx context.Context, start func() (*fsnotify.Watcher, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("watch %s: %v\n%s", w.Dir, r, debug.Stack())
		}
	}()
	w.changed = map[string]bool{}
	if w.watcher, err = start(); err != nil {
		w.fallBackToPolling(err)
	} else {
		defer w.watcher.Close() //nolint:errcheck // the watch is over
	}
	w.syncAll(ctx) // for changes before the watch began
	w.loop(ctx)
	return ctx.Err()
}

// fallBackToPolling switches to polling, with a warning.
func (w *folderWatcher) fallBackToPolling(err error) {
	w.watcher = nil
	w.warn(fmt.Sprintf("the folder cannot be watched (%v); it is checked every %v", err, w.Poll))
}

func (w *folderWatcher) loop(ctx context.Context) {
	polling, sweeping, retrying := time.NewTicker(w.Poll), time.NewTicker(sweepInterval), time.NewTicker(w.Again)
	defer polling.Stop()
	defer sweeping.Stop()
	defer retrying.Stop()
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	var first time.Time // of the changes waiting; zero: none wait
	for {
		var events chan fsnotify.Event
		var failures chan error
		if w.watcher != nil {
			events, failures = w.watcher.Events, w.watcher.Errors
		}
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			if !w.record(event) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			quiet.Reset(max(0, min(settle, maxWait-time.Since(first))))
		case <-failures: // events were lost
			w.whole = true
			quiet.Reset(settle)
		case <-quiet.C:
			first = time.Time{}
			w.syncPending(ctx)
		case <-polling.C:
			if w.watcher == nil || w.missing {
				w.syncAll(ctx)
			}
		case <-sweeping.C:
			w.syncAll(ctx)
		case <-retrying.C:
			if w.incomplete(ctx) {
				w.syncAll(ctx)
			}
		}
	}
}

// record adds the path of an event to the pending changes, and reports whether it matters.
func (w *folderWatcher) record(event fsnotify.Event) bool {
	relative, err := filepath.Rel(w.Dir, event.Name)
	if err != nil || event.Op == fsnotify.Chmod {
		return false
	}
	relative = filepath.ToSlash(relative)
	if relative == "." || filepath.Base(event.Name) == ".lifehubignore" { // the folder was removed or replaced
		w.whole = true
		return true
	}
	for part := range strings.SplitSeq(relative, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
		w.whole = true
		return true
	}
	switch {
	case notes.IsPicture(relative):
		w.whole = true
		return true
	case notes.IsNote(relative):
		w.changed[relative] = true
		return true
	case filepath.Ext(relative) == "": // perhaps a removed folder
		w.whole = w.whole || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
		return w.whole
	}
	return false
}

// watchBelow watches a folder and all visible folders in it. One that does not answer is an error.
func (w *folderWatcher) watchBelow(dir string) error {
	_, err := files.Promptly(func(beat func()) (struct{}, error) { return struct{}{}, w.watchEach(dir, beat) })
	return err
}

func (w *folderWatcher) watchEach(dir string, beat func()) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		beat()
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil // gone already, or reported by the sync
			}
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if path != w.Dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return w.watcher.Add(path)
	})
}

// syncAll syncs the whole folder.
func (w *folderWatcher) syncAll(ctx context.Context) {
	w.whole = true
	w.syncPending(ctx)
}

// syncPending syncs the recorded changes.
func (w *folderWatcher) syncPending(ctx context.Context) {
	paths := slices.Collect(maps.Keys(w.changed))
	whole := w.whole || len(paths) > maxPaths
	clear(w.changed)
	w.whole = false
	if w.checkMissing() {
		return
	}
	if whole {
		paths = nil
		if w.watcher != nil { // a folder that was moved is no longer watched
			if err := w.watchBelow(w.Dir); err != nil {
				w.fallBackToPolling(err)
			}
		}
	}
	w.sync(ctx, paths)
	w.checkMissing() // it may have gone while it was read
}

// checkMissing reports whether the folder is missing, with a warning the first time. The index
// stays, since a disk may have been unplugged.
func (w *folderWatcher) checkMissing() bool {
	_, err := files.Promptly(func(func()) (fs.FileInfo, error) { return os.Stat(w.Dir) })
	was := w.missing
	w.missing = err != nil
	if w.missing && !was {
		w.warn("the folder " + w.Dir + " is gone; its index stays until it is back")
	}
	w.whole = w.whole || w.missing
	return w.missing
}
