package cli

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/cli/settings"
	"lifehub/notes"
	"lifehub/rag"
)

// vault is a folder of notes and its index.
type vault struct {
	folder  *notes.Folder
	index   *rag.Index
	watched bool        // a Watch of life keeps the index like the folder
	behind  atomic.Bool // life was called to bring the index up to date, and has not
}

// dirs are the folders named, else all remembered ones.
func (a *app) dirs(named []string) []string {
	if len(named) > 0 {
		return named
	}
	return a.config.Notes
}

// openVaults opens the folders of the run. A remembered folder that is gone is
// a notice, not a failed start.
func (a *app) openVaults(named []string) error {
	for _, name := range a.dirs(named) {
		dir, err := settings.VaultDir(name)
		if err == nil {
			err = a.openVault(dir)
		}
		if err != nil && len(named) > 0 {
			return settings.UsageError{Err: err}
		}
		if err != nil {
			slog.Warn("remembered notes", "folder", name, "error", err)
			a.gone = append(a.gone, fmt.Sprintf("the notes in %s: %v", name, err))
		}
	}
	return nil
}

func (a *app) openVault(dir string) error {
	if below, err := filepath.Rel(a.Paths.Config, dir); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("open notes folder %s: it holds LifeHub's own settings, which no tool may change", dir)
	}
	folder, err := notes.Open(dir)
	if err != nil {
		return err
	}
	own := []string{a.Paths.Config, a.Data, a.State}
	folder.LeaveOut(own...)
	index, err := rag.Open(a.Index(dir), rag.Options{Vault: dir, LeaveOut: own, Chroma: openChroma(a.config)})
	if err != nil {
		folder.Close()
		return err
	}
	a.mu.Lock()
	a.vaults = append(a.vaults, &vault{folder: folder, index: index})
	a.mu.Unlock()
	a.servers.RootsChanged() // those of a start ask when they run
	return nil
}

// indexed are the vaults that searches look into: the notes, and
// conversations beside them.
func (a *app) indexed() []*vault {
	vaults := a.open()
	if len(vaults) > 0 && a.chats != nil {
		vaults = append(vaults, a.chats)
	}
	return vaults
}

// open are the vaults of this moment.
func (a *app) open() []*vault {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Clone(a.vaults)
}

// library is what searches all vaults of this moment as one.
func (a *app) library() rag.Library {
	var l rag.Library
	for _, v := range a.indexed() {
		l.Indexes = append(l.Indexes, v.index)
	}
	return l
}

// Search finds passages in all vaults.
func (a *app) Search(ctx context.Context, q rag.Query) (rag.Found, error) {
	return a.library().Search(ctx, q)
}

// noteFolders are the folders of the notes.
func (a *app) noteFolders() []string {
	var dirs []string
	for _, folder := range a.folders() {
		dirs = append(dirs, folder.Dir())
	}
	return dirs
}

func (a *app) folders() []*notes.Folder {
	vaults := a.open()
	folders := make([]*notes.Folder, len(vaults))
	for i, v := range vaults {
		folders[i] = v.folder
	}
	return folders
}

// sync makes one vault's index match its notes.
func (a *app) sync(ctx context.Context, v *vault, progress func(rag.Progress)) (rag.Changes, error) {
	return v.index.Sync(ctx, v.folder, a.embedder(ctx), progress)
}

// reread returns a source's lines as they stand on disk now; a source
// without a vault may be in any.
func (a *app) reread(s agent.Source) (string, bool) {
	if text, ok := a.rereadFact(s); ok {
		return text, true
	}
	for _, v := range a.indexed() {
		folder := v.folder
		if s.Vault != "" && folder.Dir() != s.Vault {
			continue
		}
		note, err := folder.Read(s.Path)
		if err != nil {
			continue
		}
		lines := strings.Split(note.Text, "\n")
		if s.Line >= 1 && s.Line <= len(lines) {
			return strings.Join(lines[s.Line-1:min(s.EndLine, len(lines))], "\n"), true
		}
	}
	return "", false
}
