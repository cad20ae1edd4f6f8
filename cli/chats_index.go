package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/cli/export"
	"lifehub/cli/settings"
	"lifehub/internal/atomicfile"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
)

// openChats has conversations found like notes, if chats.index says so. They
// are a vault of their own, which no tool writes to. Otherwise no copy of them
// stays.
func (a *app) openChats(ctx context.Context) error {
	if !a.config.Chats.Index {
		return dropChatNotes(a.Paths)
	}
	if err := writeChatNotes(ctx, a.Paths, a.store); err != nil {
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
	a.chats = &vault{folder: folder, index: index, watched: true} // they are written at the start only
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
	return removeChatNotes(p, func(file string) bool { return !there[file] })
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

// removeChatNotes deletes the notes that gone names, and empties the index: an
// index keeps words of what was in it. The next search or start fills it again.
func removeChatNotes(p settings.Paths, gone func(file string) bool) error {
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
