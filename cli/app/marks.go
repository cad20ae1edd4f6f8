package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"lifehub/internal/text"
	"lifehub/rag"
	"lifehub/store"
)

// Marks records which lines of the notes LifeHub wrote from outside sources, so that a later run treats them as
// untrusted. They outlive all conversations: a run that saves none marks what it writes as well.
type Marks struct {
	app     *App
	unsaved bool // the run saves no conversation

	mu   sync.Mutex
	disk *store.Store // nil until a run that saves no conversation needs it
}

// store returns the database; nil if there is none and it is not to be created.
func (m *Marks) store(create bool) (*store.Store, error) {
	if !m.unsaved {
		return m.app.Store, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.disk != nil {
		return m.disk, nil
	}
	if _, err := os.Stat(m.app.Paths.Database()); errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	var err error
	m.disk, err = store.Open(m.app.Paths.Database())
	return m.disk, err
}

// Mark saves that lines came from a source, except those that the user's own notes hold.
func (m *Marks) Mark(ctx context.Context, source string, lines []string) error {
	s, err := m.store(true)
	if err != nil {
		return err
	}
	return s.SaveMarks(ctx, source, text.LineKeys(m.notHeld(ctx, lines)))
}

// Marked returns the sources of those lines that are marked.
func (m *Marks) Marked(ctx context.Context, lines []string) ([]string, error) {
	s, err := m.store(false)
	if s == nil || err != nil {
		return nil, err
	}
	return s.MarkedBy(ctx, text.LineKeys(lines))
}

// mostCompared bounds the lines that are looked for in the notes; a page with more of them is hardly
// made of the user's own.
const mostCompared = 1000

// notHeld returns those of lines that the user's own notes do not hold, as far as they are indexed.
func (m *Marks) notHeld(ctx context.Context, lines []string) []string {
	if len(lines) > mostCompared {
		return lines
	}
	for _, v := range m.app.OpenVaults() {
		index := v.Index
		if dir := m.app.Paths.Index(v.Folder.Dir()); index == nil && rag.Exists(dir) {
			opened, err := rag.Open(dir, rag.Options{Vault: v.Folder.Dir()})
			if err != nil {
				continue // all are marked
			}
			defer opened.Close()
			index = opened
		}
		if index == nil {
			continue
		}
		var err error
		if lines, err = index.Without(ctx, lines); err != nil {
			slog.Warn("compare lines with the notes", "folder", v.Folder.Dir(), "error", err)
		}
	}
	return lines
}

func (m *Marks) close() {
	if m.disk != nil {
		m.disk.Close()
	}
}
