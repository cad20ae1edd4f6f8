package rag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"lifehub/llm"
	"lifehub/notes"
)

const (
	// settle is how long a folder must be quiet before its changes are taken
	// in: editors write, rename and touch a file in one save.
	settle = 250 * time.Millisecond
	// longest is how long a folder that is never quiet is waited for.
	longest = 2 * time.Second
	// few is how many notes are taken in one by one; more are a sync of the
	// whole folder.
	few = 100
	// poll is how often a folder that cannot be watched is compared, and one
	// that is gone looked for.
	poll = 5 * time.Second
	// sweep is how often a watched folder is compared all the same, since
	// network folders lose events.
	sweep = 10 * time.Minute
	// again is how often an embedder or a place of the vectors that was away
	// is tried.
	again = 30 * time.Second
)

// Watch keeps the index like the folder until ctx ends, and returns why it
// ended. embedder is asked before each sync and now and then, so that it may
// change; nil from it: words only. told hears of every sync that changed
// something or failed. Where the system cannot watch, the folder is compared
// every few seconds. While the folder is gone the index stays as it is.
func (x *Index) Watch(ctx context.Context, folder *notes.Folder, embedder func() llm.Embedder, told func(Changes, error)) error {
	w := watch{
		index: x, folder: folder, embedder: embedder, told: told,
		start: fsnotify.NewWatcher, poll: poll, again: again,
	}
	return w.run(ctx)
}

// watch is one Watch at work.
type watch struct {
	index    *Index
	folder   *notes.Folder
	embedder func() llm.Embedder
	told     func(Changes, error)
	start    func() (*fsnotify.Watcher, error)
	poll     time.Duration
	again    time.Duration

	watcher *fsnotify.Watcher // nil: the folder is polled
	changed map[string]bool   // notes, by their paths
	whole   bool              // more happened than single notes tell
	gone    bool              // the folder is not there now
	model   string            // that made the meaning of the last sync
}

func (w *watch) run(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("watch %s: %v\n%s", w.folder.Dir(), r, debug.Stack())
		}
	}()
	w.changed = map[string]bool{}
	if w.watcher, err = w.start(); err != nil {
		w.cannot(err)
	} else {
		defer w.watcher.Close() //nolint:errcheck // the watch is over
	}
	w.whole = true // what happened before the watch began
	w.take(ctx)
	w.loop(ctx)
	return ctx.Err()
}

// cannot goes over to polling, and says so.
func (w *watch) cannot(err error) {
	w.watcher = nil
	w.told(Changes{Warnings: []string{fmt.Sprintf("the folder cannot be watched (%v); it is checked every %v", err, w.poll)}}, nil)
}

func (w *watch) loop(ctx context.Context) {
	polling, sweeping, retrying := time.NewTicker(w.poll), time.NewTicker(sweep), time.NewTicker(w.again)
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
			if !w.note(event) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			quiet.Reset(max(0, min(settle, longest-time.Since(first))))
		case <-failures: // events were lost
			w.whole = true
			quiet.Reset(settle)
		case <-quiet.C:
			first = time.Time{}
			w.take(ctx)
		case <-polling.C:
			if w.watcher == nil || w.gone {
				w.whole = true
				w.take(ctx)
			}
		case <-sweeping.C:
			w.whole = true
			w.take(ctx)
		case <-retrying.C:
			if w.incomplete() {
				w.whole = true
				w.take(ctx)
			}
		}
	}
}

// incomplete reports whether the meaning is not what it should be: another model
// is in use, or what makes or keeps the vectors was away.
func (w *watch) incomplete() bool {
	embedder := w.embedder()
	if embedder == nil {
		return w.model != ""
	}
	return embedder.Name() != w.model || w.index.whyNot() != ""
}

// note remembers what an event is about, and reports whether it matters.
func (w *watch) note(event fsnotify.Event) bool {
	relative, err := filepath.Rel(w.folder.Dir(), event.Name)
	if err != nil || event.Op == fsnotify.Chmod {
		return false
	}
	relative = filepath.ToSlash(relative)
	if relative == "." { // the folder itself went, or is another one now
		w.whole = true
		return true
	}
	if filepath.Base(event.Name) == ".lifehubignore" {
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
	switch strings.ToLower(filepath.Ext(relative)) {
	case ".md", ".markdown":
		w.changed[relative] = true
		return true
	case "": // perhaps a folder that is no more
		w.whole = w.whole || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
		return w.whole
	}
	return false
}

// watchBelow watches a folder and all in it that are not hidden.
func (w *watch) watchBelow(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil // gone already, or reported by the sync
			}
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if path != w.folder.Dir() && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return w.watcher.Add(path)
	})
}

// take brings the index up to date with what was noted.
func (w *watch) take(ctx context.Context) {
	paths := make([]string, 0, len(w.changed))
	for name := range w.changed {
		paths = append(paths, name)
	}
	whole := w.whole || len(paths) > few
	clear(w.changed)
	w.whole = false
	if w.away() {
		return
	}
	if whole && w.watcher != nil {
		// A folder that moved lost its watch when the system told of the move.
		if err := w.watchBelow(w.folder.Dir()); err != nil {
			w.cannot(err)
		}
	}
	var changes Changes
	var err error
	embedder := w.embedder()
	if whole {
		changes, err = w.index.Sync(ctx, w.folder, embedder, nil)
	} else {
		changes, err = w.index.SyncPaths(ctx, w.folder, embedder, paths)
	}
	if errors.Is(err, fs.ErrNotExist) && w.away() {
		return // it went while it was read
	}
	w.model = ""
	if embedder != nil {
		w.model = embedder.Name()
	}
	if ctx.Err() == nil && (err != nil || changes.Embedded > 0 || changes.altered()) {
		w.told(changes, err)
	}
}

// away reports whether the folder is gone, and says so once. An unplugged disk
// is no reason to forget the notes: they are looked for every few seconds.
func (w *watch) away() bool {
	_, err := os.Stat(w.folder.Dir())
	was := w.gone
	w.gone = err != nil
	if w.gone && !was {
		w.told(Changes{Warnings: []string{"the folder " + w.folder.Dir() + " is gone; its index stays until it is back"}}, nil)
	}
	w.whole = w.whole || w.gone
	return w.gone
}

// altered reports whether a sync did more than report again what it skipped.
func (c Changes) altered() bool {
	for _, change := range c.Notes {
		if change.What != skipped {
			return true
		}
	}
	return false
}
