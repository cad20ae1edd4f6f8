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

// Watcher watches a folder of notes.
type folderWatcher struct {
	Dir string
	// Sync takes changes in: of the notes at these paths, or of the whole folder;
	// nil: whole.
	Sync func(ctx context.Context, paths []string)
	// Incomplete is asked now and then whether the whole folder is to be taken in
	// though it has not changed.
	Incomplete func() bool
	// Warn is told what is wrong with the folder.
	Warn func(text string)

	// Poll and Again are how often a folder is polled and tried again, as the
	// constants say; tests have less patience.
	Poll, Again time.Duration
	Start       func() (*fsnotify.Watcher, error)

	watcher *fsnotify.Watcher // nil: the folder is polled
	changed map[string]bool   // notes, by their paths
	whole   bool              // more happened than single notes tell
	gone    bool              // the folder is not there now
}

// New returns a watcher of a folder that does nothing with its changes yet.
func newFolderWatcher(dir string) *folderWatcher {
	return &folderWatcher{Dir: dir, Poll: poll, Again: again, Start: fsnotify.NewWatcher}
}

// Run watches until ctx ends, and returns why it ended. Where the system cannot
// watch, the folder is compared every few seconds.
func (w *folderWatcher) Run(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("watch %s: %v\n%s", w.Dir, r, debug.Stack())
		}
	}()
	w.changed = map[string]bool{}
	if w.watcher, err = w.Start(); err != nil {
		w.cannot(err)
	} else {
		defer w.watcher.Close() //nolint:errcheck // the watch is over
	}
	w.takeWhole(ctx) // what happened before the watch began
	w.loop(ctx)
	return ctx.Err()
}

// cannot goes over to polling, and says so.
func (w *folderWatcher) cannot(err error) {
	w.watcher = nil
	w.Warn(fmt.Sprintf("the folder cannot be watched (%v); it is checked every %v", err, w.Poll))
}

func (w *folderWatcher) loop(ctx context.Context) {
	polling, sweeping, retrying := time.NewTicker(w.Poll), time.NewTicker(sweep), time.NewTicker(w.Again)
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
				w.takeWhole(ctx)
			}
		case <-sweeping.C:
			w.takeWhole(ctx)
		case <-retrying.C:
			if w.Incomplete() {
				w.takeWhole(ctx)
			}
		}
	}
}

// note remembers what an event is about, and reports whether it matters.
func (w *folderWatcher) note(event fsnotify.Event) bool {
	relative, err := filepath.Rel(w.Dir, event.Name)
	if err != nil || event.Op == fsnotify.Chmod {
		return false
	}
	relative = filepath.ToSlash(relative)
	if relative == "." || filepath.Base(event.Name) == ".lifehubignore" { // the folder itself went, or is another one now
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
	case notes.IsNote(relative):
		w.changed[relative] = true
		return true
	case filepath.Ext(relative) == "": // perhaps a folder that is no more
		w.whole = w.whole || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
		return w.whole
	}
	return false
}

// watchBelow watches a folder and all in it that are not hidden.
func (w *folderWatcher) watchBelow(dir string) error {
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
		if path != w.Dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return w.watcher.Add(path)
	})
}

// takeWhole takes the whole folder in.
func (w *folderWatcher) takeWhole(ctx context.Context) {
	w.whole = true
	w.take(ctx)
}

// take takes in what was noted.
func (w *folderWatcher) take(ctx context.Context) {
	paths := slices.Collect(maps.Keys(w.changed))
	whole := w.whole || len(paths) > few
	clear(w.changed)
	w.whole = false
	if w.away() {
		return
	}
	if whole {
		paths = nil
		if w.watcher != nil { // a folder that moved lost its watch when the system told of the move
			if err := w.watchBelow(w.Dir); err != nil {
				w.cannot(err)
			}
		}
	}
	w.Sync(ctx, paths)
	w.away() // it may have gone while it was read
}

// away reports whether the folder is gone, and says so once. An unplugged disk
// is no reason to forget the notes: they are looked for every few seconds.
func (w *folderWatcher) away() bool {
	_, err := os.Stat(w.Dir)
	was := w.gone
	w.gone = err != nil
	if w.gone && !was {
		w.Warn("the folder " + w.Dir + " is gone; its index stays until it is back")
	}
	w.whole = w.whole || w.gone
	return w.gone
}
