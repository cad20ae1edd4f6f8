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
	"lifehub/tui/transcript"
)

// typed returns the unsent text.
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

// restoreDraft restores the unsent text of an earlier run. It is not sent
// automatically.
func (m *Model) restoreDraft(d agent.Draft, err error) tea.Cmd {
	switch {
	case err != nil:
		return m.fail(err)
	case d.Empty():
		return nil
	}
	if m.composer.Restore(d, m.editing != nil) && m.turn == nil {
		if q := m.transcript.QuestionOf(d.Changing); q != nil {
			m.editing = &editing{question: q}
		}
	}
	notice := "What you had typed is back; none of it was sent."
	if d.Conversation != m.chat.id && d.Title != "" {
		notice = "What you had typed in “" + draw.Summary(d.Title, 60) + "” is back; none of it was sent."
	}
	m.transcript.Add(&transcript.Notice{Text: notice})
	return m.saveDraft() // together with the text typed meanwhile
}

// openSource shows the source of a citation, with the cited lines marked.
func (m *Model) openSource(c transcript.Cited) tea.Cmd {
	shown, cmd, problem := panel.OpenSource(m.base, &m.Options, c)
	if problem != "" {
		return m.flash(problem)
	}
	return m.open(shown, cmd)
}

// run opens a file in the user's editor, which has the terminal until it exits.
func (m *Model) run(path string, line int, done tea.ExecCallback) tea.Cmd {
	command, err := EditorCommand(m.Options.Editor, path, line)
	if err != nil {
		return func() tea.Msg { return done(err) }
	}
	command.Env = m.Options.Environ
	return tea.ExecProcess(command, done)
}

// compose opens the input in the editor.
func (m *Model) compose() tea.Cmd {
	if m.Options.Editor == "" {
		return m.flash(errNoEditor.Error())
	}
	m.composer.InEditor = true
	write := m.draftFile()
	return func() tea.Msg {
		path, err := write()
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

// edited replaces the input by the edited text. The file draft is deleted once that is saved.
func (m *Model) edited(draft, text string, err error) tea.Cmd {
	if err != nil {
		m.transcript.Show(&transcript.Failure{Text: "editor: " + err.Error()})
	}
	m.composer.InEditor = false
	if err == nil {
		m.composer.Set(strings.TrimRight(safetext.Text(text), "\n"))
	}
	keep := m.saveDraft()
	return func() tea.Msg {
		defer os.Remove(draft)
		return keep()
	}
}
