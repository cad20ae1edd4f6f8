package terminal

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Visit is a command that has the terminal to itself.
type Visit struct {
	Command *exec.Cmd
	screen  *Screen // nil: the terminal is not ours
}

func (v *Visit) SetStdin(r io.Reader) {
	if t, ok := r.(*Reader); ok {
		t.Resume()
		r = t.File // a command takes a terminal only as it is
	}
	v.Command.Stdin = r
}

func (v *Visit) SetStdout(w io.Writer) {
	if s, ok := w.(*Screen); ok {
		v.screen, w = s, s.out
	}
	v.Command.Stdout = w
}

func (v *Visit) SetStderr(w io.Writer) { v.Command.Stderr = w }

// Run runs the command to its end.
func (v *Visit) Run() error {
	if v.screen == nil {
		return v.Command.Run()
	}
	v.screen.Leave()
	err := v.Command.Run()
	go v.screen.Resized() // it may have another size by now
	return errors.Join(err, v.screen.Enter())
}

// ErrNoEditor says that the user has named none.
var ErrNoEditor = errors.New("no editor is set: VISUAL or EDITOR names one")

// EditorCommand is the user's editor on a file, at a line if line is not 0. No
// shell reads it.
func EditorCommand(editor, path string, line int) (*exec.Cmd, error) {
	argv, err := splitCommand(editor)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, ErrNoEditor
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
