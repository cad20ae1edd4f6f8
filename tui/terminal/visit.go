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

// Visit is a command that runs with the terminal to itself.
type Visit struct {
	Command *exec.Cmd
	screen  *Screen // nil if the program does not have the terminal
}

func (v *Visit) SetStdin(r io.Reader) {
	if t, ok := r.(*Reader); ok {
		t.Resume()
		r = t.File // a command needs the plain file
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
	go v.screen.Resized() // the size may have changed meanwhile
	return errors.Join(err, v.screen.Enter())
}

// ErrNoEditor reports that no editor is configured.
var ErrNoEditor = errors.New("no editor is set: VISUAL or EDITOR names one")

// EditorCommand returns the command that opens a file in the user's editor, at a line unless line
// is 0. It does not use a shell.
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

// splitCommand splits a command line at spaces outside quotes. Nothing is expanded.
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
