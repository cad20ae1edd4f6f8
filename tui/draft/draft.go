// Package draft saves what is typed and not sent, behind the screen and in the
// order of typing.
package draft

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
)

// SaveEvery is how long what is typed may be on the screen only: the first key after
// a pause is saved at once, further ones as often as this, at most, for writing
// takes no more than a part in saveShare of the time.
const (
	SaveEvery = 500 * time.Millisecond
	saveShare = 20
)

// Saver saves what is typed, and knows how far it is.
type Saver struct {
	Store   backend.Drafts     // nil: nothing is saved
	Typed   func() agent.Draft // all that is typed and not sent; required
	Sending string             // a message that is on its way to be saved; "": none

	saved  state     // what was handed to be written last
	soon   bool      // a time is set to write the next
	at     time.Time // when that was
	took   time.Duration
	failed bool // the user knows that it cannot be saved
	number int  // of the last that was handed to be written
	writer writer
}

// State tells one state of what is typed from another.
type State struct {
	Edits        int // the number of changes
	Conversation string
}

type state struct {
	State
	sending string
}

// writer writes in the order of typing, whichever goroutine comes first.
type writer struct {
	mu      sync.Mutex
	written int
}

func (w *writer) save(ctx context.Context, store backend.Drafts, number int, d agent.Draft) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number <= w.written {
		return nil
	}
	w.written = number
	return store.SaveDraft(ctx, d)
}

type (
	// DueMsg says that it is time to save what is typed.
	DueMsg struct{}
	// SavedMsg says that it was.
	SavedMsg struct {
		took time.Duration
		err  error
	}
	// LoadedMsg brings what was typed before LifeHub ended.
	LoadedMsg struct {
		Draft agent.Draft
		Err   error
	}
)

// Schedule has what is typed saved in a moment, if it has changed.
func (s *Saver) Schedule(now State) tea.Cmd {
	if s.Store == nil || s.soon || s.saved == (state{now, s.Sending}) {
		return nil
	}
	if s.number == 0 && s.Typed().Empty() { // nothing is saved, and nothing is to be
		s.saved = state{now, s.Sending}
		return nil
	}
	s.soon = true
	wait := max(SaveEvery, saveShare*s.took) - time.Since(s.at)
	return tea.Tick(max(0, wait), func(time.Time) tea.Msg { return DueMsg{} })
}

// Save saves what is typed now.
func (s *Saver) Save(ctx context.Context, now State) tea.Cmd {
	s.soon = false
	save := s.Take(now)
	return func() tea.Msg {
		began := time.Now()
		err := save(ctx, "")
		return SavedMsg{time.Since(began), err}
	}
}

// Take takes what is typed at this moment and returns how to save it. That may
// be done elsewhere; the id of the conversation is given where it had none.
func (s *Saver) Take(now State) func(ctx context.Context, conversation string) error {
	if s.Store == nil {
		return func(context.Context, string) error { return nil }
	}
	s.number++
	s.at = time.Now()
	s.saved = state{now, s.Sending}
	number, store, d := s.number, s.Store, s.Typed()
	return func(ctx context.Context, conversation string) error {
		if d.Conversation == "" {
			d.Conversation = conversation
		}
		return s.writer.save(ctx, store, number, d)
	}
}

// Saved returns the error that the user is to be told of, once, when what is
// typed cannot be saved.
func (s *Saver) Saved(msg SavedMsg) error {
	s.took = msg.took
	known := s.failed
	if s.failed = msg.err != nil; known {
		return nil
	}
	return msg.err
}

// Load looks for what was typed in a conversation, or anywhere, before LifeHub
// ended; nil: the user has typed something since.
func (s *Saver) Load(ctx context.Context, conversation string) tea.Cmd {
	if s.Store == nil || s.number > 0 && !s.Typed().Empty() {
		return nil
	}
	store := s.Store
	return func() tea.Msg {
		d, err := store.LoadDraft(ctx, conversation)
		return LoadedMsg{d, err}
	}
}

// ForEditor takes what is typed at this moment and returns how to save it and to
// write a text into a file for the user's editor.
func (s *Saver) ForEditor(now State, text string) func(ctx context.Context) (path string, err error) {
	save, store := s.Take(now), s.Store
	return func(ctx context.Context) (string, error) {
		create := func() (*os.File, error) { return os.CreateTemp("", "lifehub-*.md") }
		if store != nil {
			create = store.DraftFile
		}
		file, err := create()
		if err != nil {
			return "", err
		}
		_ = save(ctx, "") // the next change of what is typed says why it cannot be
		_, err = file.WriteString(text)
		return file.Name(), errors.Join(err, file.Close())
	}
}
