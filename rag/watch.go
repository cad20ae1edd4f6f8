package rag

import (
	"context"
	"errors"
	"io/fs"

	"lifehub/llm"
	"lifehub/notes"
)

// Watch syncs the index whenever the folder changes, until ctx is done, and returns its
// error. embedder is called before each sync and periodically, so that the embedder may
// change; if it returns nil, only keywords are indexed. report is called after every sync
// that changed something or failed. While the folder is missing the index stays as it is.
func (x *Index) Watch(ctx context.Context, folder *notes.Folder, embedder func() llm.Embedder, report func(Changes, error)) error {
	return x.watcher(folder, embedder, report).Run(ctx)
}

func (x *Index) watcher(folder *notes.Folder, embedder func() llm.Embedder, report func(Changes, error)) *folderWatcher {
	model, unreadable, images := "", 0, 0 // of the last sync
	w := newFolderWatcher(folder.Dir())
	w.Warn = func(text string) { report(Changes{Warnings: []string{text}}, nil) }
	w.Incomplete = func() bool { // the embedder changed, images are waiting, or notes, embedder or vectors were not available
		if x.someUnreadable.Load() || images > 0 {
			return true
		}
		if e := embedder(); e != nil {
			return e.Name() != model || x.lastEmbedFailure() != ""
		}
		return model != ""
	}
	w.Sync = func(ctx context.Context, paths []string) {
		var changes Changes
		var err error
		e := embedder()
		if paths == nil {
			changes, err = x.SyncImages(ctx, folder, e, nil)
			if images = changes.Images; folder.GaveUpScans() {
				images = 0
			}
		} else {
			changes, err = x.SyncPaths(ctx, folder, e, paths)
		}
		if gone := folder.Check(); gone != nil && errors.Is(err, fs.ErrNotExist) {
			return // while it was read
		}
		if model = ""; e != nil {
			model = e.Name()
		}
		other := err == nil && changes.Unreadable != unreadable
		if ctx.Err() == nil && (err != nil || changes.Embedded > 0 || changes.altered() || other) {
			report(changes, err)
		}
		unreadable = changes.Unreadable
	}
	return w
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
