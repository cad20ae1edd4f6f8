package rag

import (
	"context"
	"errors"
	"io/fs"

	"github.com/fsnotify/fsnotify"

	"lifehub/llm"
	"lifehub/notes"
)

// Embedders has the embedder of the moment. *app.App is the real one.
type Embedders interface {
	// Embedder returns the current embedder; nil: only keywords are indexed.
	Embedder(ctx context.Context) llm.Embedder
}

// Watch syncs the index whenever the folder changes, until ctx is done, and returns its
// error. The embedder is asked for before each sync and periodically, so that it may change.
// report is called after every sync that changed something or failed. While the folder is
// missing the index stays as it is.
func (x *Index) Watch(ctx context.Context, folder *notes.Folder, of Embedders, report func(Changes, error)) error {
	return x.watcher(folder, of, report).Run(ctx, fsnotify.NewWatcher)
}

func (x *Index) watcher(folder *notes.Folder, of Embedders, report func(Changes, error)) *folderWatcher {
	return &folderWatcher{
		index: x, folder: folder, embedders: of, report: report,
		Dir: folder.Dir(), Poll: pollInterval, Again: retryInterval,
	}
}

// warn reports what is wrong with the folder.
func (w *folderWatcher) warn(text string) { w.report(Changes{Warnings: []string{text}}, nil) }

// incomplete reports whether to sync the whole folder though it has not changed: the embedder
// changed, images are waiting, or notes, embedder or vectors were not available.
func (w *folderWatcher) incomplete(ctx context.Context) bool {
	if w.index.someUnreadable.Load() || w.images > 0 {
		return true
	}
	if e := w.embedders.Embedder(ctx); e != nil {
		return e.Name() != w.model || w.index.lastEmbedFailure() != ""
	}
	return w.model != ""
}

// sync syncs the notes at these paths, or the whole folder if paths is nil.
func (w *folderWatcher) sync(ctx context.Context, paths []string) {
	var changes Changes
	var err error
	e := w.embedders.Embedder(ctx)
	if paths == nil {
		changes, err = w.index.SyncImages(ctx, w.folder, e, nil)
		if w.images = changes.Images; w.folder.GaveUpScans() {
			w.images = 0
		}
	} else {
		changes, err = w.index.SyncPaths(ctx, w.folder, e, paths)
	}
	if gone := w.folder.Check(); gone != nil && errors.Is(err, fs.ErrNotExist) {
		return // while it was read
	}
	if w.model = ""; e != nil {
		w.model = e.Name()
	}
	other := err == nil && changes.Unreadable != w.unreadable
	if ctx.Err() == nil && (err != nil || changes.Embedded > 0 || changes.altered() || other) {
		w.report(changes, err)
	}
	w.unreadable = changes.Unreadable
}

// altered reports whether a sync changed any note.
func (c Changes) altered() bool {
	for _, change := range c.Notes {
		if change.What != skipped {
			return true
		}
	}
	return false
}
