package tui

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/transcript"
)

// draftPause is the delay after typing before a draft is saved.
const draftPause = 500 * time.Millisecond

// draftSaver is what is known of the saved draft. Drafts are saved in the background, in the order of typing.
type draftSaver struct {
	sending string // message that is being saved as a turn; "" if none

	saved  draftState // state whose writing was requested last
	soon   bool       // the next one is scheduled or being written
	failed bool       // the failure was reported
	number int        // number of requested writes

	mu      sync.Mutex
	written int // number of the last one written
}

// draftState identifies a state of the unsent text.
type draftState struct {
	edits        int // the number of changes
	conversation string
	sending      string
}

// typedState identifies the current state of the unsent text.
func (m *Model) typedState() draftState {
	return draftState{edits: m.composer.Edits, conversation: m.chat.id, sending: m.draft.sending}
}

// scheduleDraft schedules saving the draft if it has changed.
func (m *Model) scheduleDraft() tea.Cmd {
	s, now := &m.draft, m.typedState()
	if m.Options.Drafts == nil || s.soon || s.saved == now {
		return nil
	}
	if s.number == 0 && m.typed().Empty() { // there is nothing to save or to replace
		s.saved = now
		return nil
	}
	s.soon = true
	return tea.Tick(draftPause, func(time.Time) tea.Msg { return then(m.saveDraft) })
}

// saveDraft saves the current draft, and shows once if it cannot be saved.
func (m *Model) saveDraft() tea.Cmd {
	save := m.takeDraft()
	return func() tea.Msg {
		err := save(m.base, "")
		return then(func() tea.Cmd {
			if err != nil && !m.draft.failed {
				m.transcript.Add(&transcript.Notice{Text: "What you type could not be saved: " + err.Error()})
			}
			m.draft.soon, m.draft.failed = false, err != nil
			return nil
		})
	}
}

// takeDraft snapshots the draft and returns a function that saves it, from any goroutine, in a
// conversation that may have begun meanwhile.
func (m *Model) takeDraft() func(ctx context.Context, conversation string) error {
	s, store := &m.draft, m.Options.Drafts
	if store == nil {
		return func(context.Context, string) error { return nil }
	}
	s.number++
	s.saved = m.typedState()
	number, d := s.number, m.typed()
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

// loadDraft loads the draft of an earlier run; nil if the user has typed something since.
func (m *Model) loadDraft() tea.Cmd {
	store, conversation := m.Options.Drafts, m.chat.id
	if store == nil || m.draft.number > 0 && !m.typed().Empty() {
		return nil
	}
	return func() tea.Msg {
		d, err := store.LoadDraft(m.base, conversation)
		return then(func() tea.Cmd { return tea.Batch(m.restoreDraft(d, err), m.askFirst()) })
	}
}

// draftFile snapshots the draft and returns a function that saves it and writes the input into a file for the
// user's editor.
func (m *Model) draftFile() func() (path string, err error) {
	save, text := m.takeDraft(), m.composer.Text()
	create := func() (*os.File, error) { return os.CreateTemp("", "lifehub-*.md") }
	if m.Options.Drafts != nil {
		create = m.Options.Drafts.DraftFile
	}
	return func() (string, error) {
		_ = save(m.base, "") // the next save reports what is wrong
		file, err := create()
		if err != nil {
			return "", err
		}
		_, err = file.WriteString(text)
		return file.Name(), errors.Join(err, file.Close())
	}
}
