package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/cli/export"
	"lifehub/cli/settings"
	"lifehub/internal/atomicfile"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
)

// Vault is a folder of notes and its index.
type Vault struct {
	Folder  *notes.Folder
	Index   *rag.Index
	Watched bool        // a Watch of life keeps the index like the folder
	Behind  atomic.Bool // life was called to bring the index up to date, and has not
}

// dirs are the folders named, else all remembered ones.
func (a *App) dirs(named []string) []string {
	if len(named) > 0 {
		return named
	}
	return a.Settings.Notes
}

// openVaults opens the folders of the run. A remembered folder that is gone is
// a notice, not a failed start.
func (a *App) openVaults(named []string) error {
	for _, name := range a.dirs(named) {
		dir, err := settings.VaultDir(name)
		if err == nil {
			err = a.OpenVault(dir)
		}
		if err != nil && len(named) > 0 {
			return settings.UsageError{Err: err}
		}
		if err != nil {
			slog.Warn("remembered notes", "folder", name, "error", err)
			a.Gone = append(a.Gone, fmt.Sprintf("the notes in %s: %v", name, err))
		}
	}
	return nil
}

func (a *App) OpenVault(dir string) error {
	if below, err := filepath.Rel(a.Paths.Config, dir); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("open notes folder %s: it holds LifeHub's own settings, which no tool may change", dir)
	}
	folder, err := notes.Open(dir)
	if err != nil {
		return err
	}
	own := []string{a.Paths.Config, a.Data, a.State}
	folder.LeaveOut(own...)
	index, err := rag.Open(a.Index(dir), rag.Options{Vault: dir, LeaveOut: own, Chroma: OpenChroma(a.Settings)})
	if err != nil {
		folder.Close()
		return err
	}
	a.mu.Lock()
	a.Vaults = append(a.Vaults, &Vault{Folder: folder, Index: index})
	a.mu.Unlock()
	a.Servers.RootsChanged() // those of a start ask when they run
	return nil
}

// Indexed are the vaults that searches look into: the notes, and
// conversations next to them.
func (a *App) Indexed() []*Vault {
	vaults := a.OpenVaults()
	if len(vaults) > 0 && a.chats != nil {
		vaults = append(vaults, a.chats)
	}
	return vaults
}

// OpenVaults are the vaults of this moment.
func (a *App) OpenVaults() []*Vault {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Clone(a.Vaults)
}

// Library is what searches all vaults of this moment as one.
func (a *App) Library() rag.Library {
	var l rag.Library
	for _, v := range a.Indexed() {
		l.Indexes = append(l.Indexes, v.Index)
	}
	return l
}

// Search finds passages in all vaults.
func (a *App) Search(ctx context.Context, q rag.Query) (rag.Found, error) {
	return a.Library().Search(ctx, q)
}

// noteFolders are the folders of the notes.
func (a *App) noteFolders() []string {
	var dirs []string
	for _, folder := range a.Folders() {
		dirs = append(dirs, folder.Dir())
	}
	return dirs
}

func (a *App) Folders() []*notes.Folder {
	vaults := a.OpenVaults()
	folders := make([]*notes.Folder, len(vaults))
	for i, v := range vaults {
		folders[i] = v.Folder
	}
	return folders
}

// Sync makes one vault's index match its notes.
func (a *App) Sync(ctx context.Context, v *Vault, progress func(rag.Progress)) (rag.Changes, error) {
	return v.Index.Sync(ctx, v.Folder, a.Embedder(ctx), progress)
}

// Reread returns a source's lines as they stand on disk now; a source
// without a vault may be in any.
func (a *App) Reread(s agent.Source) (string, bool) {
	if text, ok := a.rereadFact(s); ok {
		return text, true
	}
	for _, v := range a.Indexed() {
		folder := v.Folder
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

// openChats has conversations found like notes, if chats.index says so. They
// are a vault of their own, which no tool writes to. Otherwise no copy of them
// stays.
func (a *App) openChats(ctx context.Context) error {
	if !a.Settings.Chats.Index {
		return dropChatNotes(a.Paths)
	}
	if err := writeChatNotes(ctx, a.Paths, a.Store); err != nil {
		return err
	}
	folder, err := notes.Open(a.ChatNotes())
	if err != nil {
		return err
	}
	index, err := rag.Open(a.ChatIndex(), rag.Options{Vault: a.ChatNotes()}) // never on a server
	if err != nil {
		folder.Close()
		return err
	}
	a.chats = &Vault{Folder: folder, Index: index, Watched: true} // they are written at the start only
	return nil
}

// writeChatNotes makes the notes of conversations match those that are kept.
func writeChatNotes(ctx context.Context, p settings.Paths, s *store.Store) error {
	if err := os.MkdirAll(p.ChatNotes(), 0o700); err != nil {
		return fmt.Errorf("make folder for conversations as notes: %w", err)
	}
	versions, err := s.Versions(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, v := range versions {
		there[v.Conversation+".md"] = true
		if err := writeChatNote(ctx, p, s, v); err != nil {
			return err
		}
	}
	return RemoveChatNotes(p, func(file string) bool { return !there[file] })
}

func writeChatNote(ctx context.Context, p settings.Paths, s *store.Store, v store.Version) error {
	file := filepath.Join(p.ChatNotes(), v.Conversation+".md")
	head := fmt.Sprintf("---\nconversation: %q\nversion: %q\n", v.Conversation, v.Mark)
	if old, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(old), head) {
		return nil
	}
	c, err := s.Conversation(ctx, v.Conversation)
	if errors.Is(err, store.ErrNoConversation) {
		return nil // another LifeHub deleted it this moment
	}
	if err != nil {
		return err
	}
	exchanges, err := s.Exchanges(ctx, c.ID)
	if err != nil {
		return err
	}
	head += "date: " + c.Created.Local().Format("2006-01-02") + "\n"
	return atomicfile.Write(file, []byte(head+"---\n\n"+export.Markdown(c, answered(exchanges))))
}

// answered are the turns that came to an answer: a question alone would be
// found whenever it is asked again.
func answered(exchanges []agent.Exchange) []agent.Exchange {
	var list []agent.Exchange
	for _, e := range exchanges {
		if !e.Open && e.Answer.Error == "" && e.Answer.Text != "" {
			e.Answer.Log = nil // what was looked for would be found in place of what was said
			list = append(list, e)
		}
	}
	return list
}

// RemoveChatNotes deletes the notes that gone names, and empties the index: an
// index keeps words of what was in it. The next search or start fills it again.
func RemoveChatNotes(p settings.Paths, gone func(file string) bool) error {
	entries, err := os.ReadDir(p.ChatNotes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !gone(e.Name()) })
	if err == nil && len(entries) > 0 {
		err = rag.Discard(p.ChatIndex())
	}
	for _, e := range entries {
		if err == nil {
			err = os.RemoveAll(filepath.Join(p.ChatNotes(), e.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("delete conversations as notes: %w", err)
	}
	return nil
}

// dropChatNotes deletes all of them, and their index with its lock: nobody
// searches it any more.
func dropChatNotes(p settings.Paths) error {
	for _, dir := range []string{p.ChatIndex(), p.ChatNotes()} {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue // deleting nothing is an error on a disk that is read-only
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("delete conversations as notes: %w", err)
		}
	}
	return nil
}
