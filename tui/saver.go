package tui

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
)

// draftPause is the delay after typing before a draft is saved.
const draftPause = 500 * time.Millisecond

// draftSaver saves drafts in the background, in the order of typing.
type draftSaver struct {
	store   chat.Drafts // nil if drafts are not saved
	drafter drafter     // required
	sending string      // message that is being saved as a turn; "" if none

	saved  draftState // state whose writing was requested last
	soon   bool       // the next one is scheduled or being written
	failed bool       // the failure was reported
	number int        // number of requested writes

	mu      sync.Mutex
	written int // number of the last one written
}

// drafter is where the draft is typed. *Model is the real one.
type drafter interface {
	typed() agent.Draft // the unsent text
}

// draftState identifies a state of the unsent text.
type draftState struct {
	edits        int // the number of changes
	conversation string
	sending      string
}

type (
	// draftDueMsg reports that it is time to save the draft.
	draftDueMsg struct{}
	// draftSavedMsg reports that it was saved.
	draftSavedMsg struct{ err error }
	// draftLoadedMsg has the draft of an earlier run.
	draftLoadedMsg struct {
		draft agent.Draft
		err   error
	}
)

// schedule schedules saving the draft if it has changed.
func (s *draftSaver) schedule(now draftState) tea.Cmd {
	if s.store == nil || s.soon || s.saved == now {
		return nil
	}
	if s.number == 0 && s.drafter.typed().Empty() { // there is nothing to save or to replace
		s.saved = now
		return nil
	}
	s.soon = true
	return tea.Tick(draftPause, func(time.Time) tea.Msg { return draftDueMsg{} })
}

// save saves the current draft.
func (s *draftSaver) save(ctx context.Context, now draftState) tea.Cmd {
	save := s.take(now)
	return func() tea.Msg { return draftSavedMsg{save(ctx, "")} }
}

// take snapshots the draft and returns a function that saves it, from any goroutine, in a
// conversation that may have begun meanwhile.
func (s *draftSaver) take(now draftState) func(ctx context.Context, conversation string) error {
	if s.store == nil {
		return func(context.Context, string) error { return nil }
	}
	s.number++
	s.saved = now
	number, store, d := s.number, s.store, s.drafter.typed()
	return func(ctx context.Context, conversation string) error {
		if d.Conversation == "" {
			d.Conversation = conversation
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if number <= s.written { // a later one came first
			return nil
		}
		s.written = number
		return store.SaveDraft(ctx, d)
	}
}

// done returns an error to show if the draft cannot be saved, once.
func (s *draftSaver) done(err error) error {
	s.soon = false
	known := s.failed
	if s.failed = err != nil; known {
		return nil
	}
	return err
}

// load loads the draft of an earlier run; nil if the user has typed something since.
func (s *draftSaver) load(ctx context.Context, conversation string) tea.Cmd {
	if s.store == nil || s.number > 0 && !s.drafter.typed().Empty() {
		return nil
	}
	store := s.store
	return func() tea.Msg {
		d, err := store.LoadDraft(ctx, conversation)
		return draftLoadedMsg{d, err}
	}
}

// forEditor snapshots the draft and returns a function that saves it and writes text into a
// file for the user's editor.
func (s *draftSaver) forEditor(now draftState, text string) func(ctx context.Context) (path string, err error) {
	save, store := s.take(now), s.store
	return func(ctx context.Context) (string, error) {
		_ = save(ctx, "") // the next save reports what is wrong
		create := func() (*os.File, error) { return os.CreateTemp("", "lifehub-*.md") }
		if store != nil {
			create = store.DraftFile
		}
		file, err := create()
		if err != nil {
			return "", err
		}
		_, err = file.WriteString(text)
		return file.Name(), errors.Join(err, file.Close())
	}
}
