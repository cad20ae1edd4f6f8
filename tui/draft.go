package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
	"lifehub/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// keepEvery is how long what is typed may be on the screen only. It is the
// least: writing takes no more than a part in keepShare of the time.
const (
	keepEvery = 500 * time.Millisecond
	keepShare = 20
)

// draftState is how far what is typed is kept. All writing is behind the screen.
type draftState struct {
	sending string   // a message that is on its way to be kept; "": none
	kept    draftKey // what was handed to be written last
	soon    bool     // a time is set to write the next
	took    time.Duration
	failed  bool // the user knows that it cannot be kept
	number  int  // of the last that was handed to be written
	writer  draftWriter
}

// draftKey tells one state of what is typed from another.
type draftKey struct {
	edits                 int
	conversation, sending string
}

// draftWriter writes in the order of typing, whichever goroutine comes first.
type draftWriter struct {
	mu      sync.Mutex
	written int
}

func (w *draftWriter) keep(ctx context.Context, kept backend.Drafts, number int, u agent.Draft) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number <= w.written {
		return nil
	}
	w.written = number
	return kept.SaveDraft(ctx, u)
}

type (
	// saveDraftMsg says that it is time to keep what is typed.
	saveDraftMsg struct{}
	// draftSavedMsg says that it was.
	draftSavedMsg struct {
		took time.Duration
		err  error
	}
	// draftMsg brings what was typed before LifeHub ended.
	draftMsg struct {
		unsent agent.Draft
		err    error
	}
)

// scheduleSave has what is typed kept in a moment, if it has changed.
func (m *Model) scheduleSave() tea.Cmd {
	s := &m.draft
	if m.Drafts == nil || m.player != nil || s.soon || s.kept == m.draftKey() {
		return nil
	}
	if s.number == 0 && m.typed().Empty() { // nothing is kept, and nothing is to be
		s.kept = m.draftKey()
		return nil
	}
	s.soon = true
	return tea.Tick(max(keepEvery, keepShare*s.took), func(time.Time) tea.Msg { return saveDraftMsg{} })
}

// saveDraft keeps what is typed now.
func (m *Model) saveDraft() tea.Cmd {
	keep := m.draftSaver()
	return func() tea.Msg {
		began := time.Now()
		err := keep(m.base, "")
		return draftSavedMsg{time.Since(began), err}
	}
}

// draftSaver takes what is typed at this moment and returns how to keep it. That
// may be done elsewhere; the id of the conversation is given where it had none.
func (m *Model) draftSaver() func(ctx context.Context, conversation string) error {
	if m.Drafts == nil || m.player != nil {
		return func(context.Context, string) error { return nil }
	}
	s := &m.draft
	s.number++
	s.kept = m.draftKey()
	number, kept, u := s.number, m.Drafts, m.typed()
	return func(ctx context.Context, conversation string) error {
		if u.Conversation == "" {
			u.Conversation = conversation
		}
		return s.writer.keep(ctx, kept, number, u)
	}
}

func (m *Model) draftKey() draftKey {
	return draftKey{m.composer.Edits, m.conversation, m.draft.sending}
}

// draftSaved tells the user, once, when what is typed cannot be kept.
func (m *Model) draftSaved(msg draftSavedMsg) {
	m.draft.took = msg.took
	if msg.err != nil && !m.draft.failed {
		m.transcript.Add(&transcript.Notice{Text: "What you type stands on this screen only: " + msg.err.Error()})
	}
	m.draft.failed = msg.err != nil
}

// typed is all that is typed and not sent.
func (m *Model) typed() agent.Draft {
	c := &m.composer
	u := agent.Draft{Conversation: m.conversation, Text: c.Text(), Sending: m.draft.sending, Editing: c.Away}
	var behind []string // drafts that made room for what stands in the composer
	if c.At >= 0 {
		if u.Text == safetext.Text(c.History[c.At]) {
			u.Text = c.Draft
		} else if !draw.Blank(c.Draft) {
			behind = append(behind, composer.Written{Text: c.Draft, Pastes: c.Pastes}.Whole())
		}
	}
	if m.editing != nil {
		u.Changing = m.editing.question.Turn
		if draft := m.editing.draft.Whole(); !draw.Blank(draft) {
			behind = append(behind, draft)
		}
	}
	for _, p := range c.Pastes {
		if u.Text != "" {
			u.Pastes = append(u.Pastes, agent.Paste{Name: p.Name, Text: p.Text, Own: p.Own})
		}
	}
	u.Waiting = append(append(u.Waiting, c.Queue...), behind...)
	return u
}

// takeUnsent looks for what was typed here, or anywhere, before LifeHub ended.
func (m *Model) takeUnsent() tea.Cmd {
	if m.Drafts == nil || m.player != nil || m.draft.number > 0 && !m.typed().Empty() {
		return nil
	}
	conversation := m.conversation
	return func() tea.Msg {
		u, err := m.Drafts.LoadDraft(m.base, conversation)
		return draftMsg{u, err}
	}
}

// tookUnsent puts what was typed where it was. Nothing of it is sent automatically.
func (m *Model) tookUnsent(msg draftMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return nil
	case msg.unsent.Empty():
		return nil
	}
	u, c := msg.unsent, &m.composer
	for _, text := range u.Waiting {
		c.Hold(safetext.Text(text), len(c.Queue))
	}
	w := composer.Written{Text: safetext.Text(u.Text)}
	for _, p := range u.Pastes {
		w.Pastes = append(w.Pastes, composer.Paste{Name: safetext.Line(p.Name), Text: safetext.Text(p.Text), Own: p.Own})
	}
	switch {
	case draw.Blank(w.Text):
	case !c.Empty() || m.editing != nil: // the user has begun to write something else
		c.Hold(w.Whole(), len(c.Queue))
	default:
		if q := m.transcript.QuestionOf(u.Changing); q != nil && m.turn == nil {
			m.editing = &editing{question: q}
		}
		c.Put(w)
		c.Area.MoveToEnd()
		c.Changed("", "")
		c.Afresh()
	}
	says := "What you had typed is here again; nothing of it was sent."
	if u.Conversation != m.conversation && u.Title != "" {
		says = "What you had typed in “" + draw.Summary(u.Title, 60) + "” is here again; nothing of it was sent."
	}
	m.transcript.Add(&transcript.Notice{Text: says})
	return m.saveDraft() // together with what was typed meanwhile
}

type (
	// editorMsg says that a file is there to be edited.
	editorMsg struct {
		path string
		err  error
	}
	// editedMsg says that the editor was left.
	editedMsg struct {
		text  string
		draft string // the file with what the user is writing; "": it was another
		err   error
	}
)

// openSource opens the note of a citation at its line.
func (m *Model) openSource(c transcript.Cited) tea.Cmd {
	path := c.Path
	if path == "" {
		path = c.Source.Path
	}
	if agent.OnWeb(path) {
		m.flash("the terminal opens it: hold Ctrl or Shift and click; y copies the address")
		return nil
	}
	if c.Source.Call != "" {
		m.flash("a tool returned it: there is no note to open")
		return nil
	}
	local := filepath.FromSlash(path)
	if c.Source.Vault == "" || !filepath.IsLocal(local) {
		m.flash("the note of this source is not known")
		return nil
	}
	line := c.Line
	if line == 0 {
		line = c.Source.Line
	}
	return m.run(filepath.Join(c.Source.Vault, local), line, func(err error) tea.Msg { return editedMsg{err: err} })
}

// run starts the user's editor on a file. It takes the terminal until the
// editor is left.
func (m *Model) run(path string, line int, done tea.ExecCallback) tea.Cmd {
	command, err := terminal.EditorCommand(m.Editor, path, line)
	if err != nil {
		m.flash(err.Error())
		return nil
	}
	command.Env = m.Environ
	return tea.Exec(&terminal.Visit{Command: command}, done)
}

// compose hands what is written to the editor.
func (m *Model) compose() tea.Cmd {
	if m.Editor == "" {
		m.flash(terminal.ErrNoEditor.Error())
		return nil
	}
	text := m.composer.Text()
	m.composer.Away = true
	keep := m.draftSaver()
	return func() tea.Msg {
		file, err := m.draftFile()
		if err != nil {
			return editorMsg{err: err}
		}
		_ = keep(m.base, "") // the next change of what is typed says why it cannot be
		_, err = file.WriteString(text)
		return editorMsg{file.Name(), errors.Join(err, file.Close())}
	}
}

// draftFile is the file in which the editor gets what is written.
func (m *Model) draftFile() (*os.File, error) {
	if m.Drafts != nil {
		return m.Drafts.DraftFile()
	}
	return os.CreateTemp("", "lifehub-*.md")
}

// startEditor opens what compose has written down.
func (m *Model) startEditor(msg editorMsg) tea.Cmd {
	if msg.err != nil {
		m.composer.Away = false
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return nil
	}
	visit := m.run(msg.path, 0, func(err error) tea.Msg {
		text, readErr := os.ReadFile(msg.path)
		return editedMsg{string(text), msg.path, errors.Join(err, readErr)}
	})
	if visit == nil { // there is no such editor
		m.composer.Away = false
		return func() tea.Msg {
			os.Remove(msg.path)
			return nil
		}
	}
	return visit
}

// edited takes what the editor has made of what was written. Its file goes when
// that is kept.
func (m *Model) edited(msg editedMsg) tea.Cmd {
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: "editor: " + msg.err.Error()})
	}
	if msg.draft == "" {
		return nil
	}
	m.composer.Away = false
	if msg.err == nil {
		m.composer.Set(strings.TrimRight(safetext.Text(msg.text), "\n"))
	}
	keep := m.saveDraft()
	return func() tea.Msg {
		defer os.Remove(msg.draft)
		return keep()
	}
}
