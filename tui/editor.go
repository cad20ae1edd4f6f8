package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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
	command, err := editorCommand(m.Editor, path, line)
	if err != nil {
		m.flash(err.Error())
		return nil
	}
	command.Env = m.Environ
	return tea.Exec(&visit{command}, done)
}

// visit is a command that has the terminal to itself.
type visit struct{ command *exec.Cmd }

// shortestVisit is how long the terminal is given away at least. Bubble Tea
// 2.0.10 stops the ticker of its renderer in a goroutine that nobody waits for;
// when a command ends before that goroutine ran, the ticker that was started
// again is stopped and the screen stays as it is for ever.
const shortestVisit = 150 * time.Millisecond

func (v *visit) SetStdin(r io.Reader) {
	if t, ok := r.(*terminal.Reader); ok {
		t.Resume()
		r = t.File // a command takes a terminal only as it is
	}
	v.command.Stdin = r
}
func (v *visit) SetStdout(w io.Writer) { v.command.Stdout = w }
func (v *visit) SetStderr(w io.Writer) { v.command.Stderr = w }

// Run runs the command to its end.
func (v *visit) Run() error {
	enough := time.After(shortestVisit)
	err := v.command.Run()
	<-enough
	return err
}

// compose hands what is written to the editor.
func (m *Model) compose() tea.Cmd {
	if m.Editor == "" {
		m.flash(errNoEditor.Error())
		return nil
	}
	text := m.composer.Text()
	m.composer.Away = true
	keep := m.keeper()
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
	if m.Unsent != nil {
		return m.Unsent.DraftFile()
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
	keep := m.keepTyped()
	return func() tea.Msg {
		defer os.Remove(msg.draft)
		return keep()
	}
}

var errNoEditor = errors.New("no editor is set: VISUAL or EDITOR names one")

// editorCommand is the user's editor on a file, at a line if line is not 0. No
// shell reads it.
func editorCommand(editor, path string, line int) (*exec.Cmd, error) {
	argv, err := splitCommand(editor)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, errNoEditor
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(argv[0])), ".exe")
	switch {
	case line <= 0:
		argv = append(argv, path)
	default:
		at := path + ":" + strconv.Itoa(line)
		switch name {
		case "code", "codium", "cursor", "code-insiders":
			argv = append(argv, "--goto", at)
		case "hx", "helix", "zed", "subl":
			argv = append(argv, at)
		case "notepad", "open", "xdg-open":
			argv = append(argv, path)
		default:
			argv = append(argv, "+"+strconv.Itoa(line), path)
		}
	}
	return exec.Command(argv[0], argv[1:]...), nil
}

// splitCommand splits a command line at blanks outside quotes. Nothing is
// expanded: what a shell would run in it is only text.
func splitCommand(line string) ([]string, error) {
	var argv []string
	var word strings.Builder
	var quote rune
	inWord := false
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && filepath.Separator != '\\':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				argv = append(argv, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("editor %q has an open quote", line)
	}
	if inWord {
		argv = append(argv, word.String())
	}
	return argv, nil
}
