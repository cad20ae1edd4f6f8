package tui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
	"lifehub/tui/transcript"
)

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
