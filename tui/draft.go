package tui

import (
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
	"lifehub/tui/transcript"
)

// typed is all that is typed and not sent.
func (m *Model) typed() agent.Draft {
	var aside *composer.Stashed
	if m.editing != nil {
		aside = &m.editing.draft
	}
	d := m.composer.Unsent(aside)
	d.Conversation, d.Sending = m.chat.id, m.draft.sending
	if m.editing != nil {
		d.Changing = m.editing.question.Turn
	}
	return d
}

// typedState tells one state of what is typed from another.
func (m *Model) typedState() draftState {
	return draftState{edits: m.composer.Edits, conversation: m.chat.id, sending: m.draft.sending}
}

// restoreDraft puts what was typed before LifeHub ended where it was. Nothing of
// it is sent automatically.
func (m *Model) restoreDraft(msg draftLoadedMsg) tea.Cmd {
	d := msg.draft
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case d.Empty():
		return nil
	}
	if m.composer.Restore(d, m.editing != nil) && m.turn == nil {
		if q := m.transcript.QuestionOf(d.Changing); q != nil {
			m.editing = &editing{question: q}
		}
	}
	says := "What you had typed is back; none of it was sent."
	if d.Conversation != m.chat.id && d.Title != "" {
		says = "What you had typed in “" + draw.Summary(d.Title, 60) + "” is back; none of it was sent."
	}
	m.transcript.Add(&transcript.Notice{Text: says})
	return m.draft.save(m.base, m.typedState()) // together with what was typed meanwhile
}

// openSource shows the source of a citation, with the cited lines marked.
func (m *Model) openSource(c transcript.Cited) tea.Cmd {
	shown, cmd, problem := panel.OpenSource(m.base, &m.Options, c)
	if problem != "" {
		return m.flash(problem)
	}
	return m.open(shown, cmd)
}

// run starts the user's editor on a file. It takes the terminal until the
// editor is left.
func (m *Model) run(path string, line int, done tea.ExecCallback) tea.Cmd {
	command, err := terminal.EditorCommand(m.Options.Editor, path, line)
	if err != nil {
		return func() tea.Msg { return done(err) }
	}
	command.Env = m.Options.Environ
	return tea.Exec(&terminal.Visit{Command: command}, done)
}

// compose hands what is written to the editor.
func (m *Model) compose() tea.Cmd {
	if m.Options.Editor == "" {
		return m.flash(terminal.ErrNoEditor.Error())
	}
	m.composer.InEditor = true
	write := m.draft.forEditor(m.typedState(), m.composer.Text())
	return func() tea.Msg {
		path, err := write(m.base)
		done := func(err error) tea.Msg {
			var text []byte
			if err == nil {
				text, err = os.ReadFile(path)
			}
			return then(func() tea.Cmd { return m.edited(path, string(text), err) })
		}
		if err != nil {
			return done(err)
		}
		return then(func() tea.Cmd { return m.run(path, 0, done) })
	}
}

// edited takes what the editor has made of what was written. Its file, draft, goes
// when that is saved.
func (m *Model) edited(draft, text string, err error) tea.Cmd {
	if err != nil {
		m.transcript.Add(&transcript.Failure{Text: "editor: " + err.Error()})
	}
	m.composer.InEditor = false
	if err == nil {
		m.composer.Set(strings.TrimRight(safetext.Text(text), "\n"))
	}
	keep := m.draft.save(m.base, m.typedState())
	return func() tea.Msg {
		defer os.Remove(draft)
		return keep()
	}
}
