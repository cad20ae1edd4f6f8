package tui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// errNoEditor reports that no editor is configured.
var errNoEditor = errors.New("no editor is set: VISUAL or EDITOR names one")

// EditorCommand returns the command that opens a file in the user's editor, on this terminal, at a line unless line
// is 0. It does not use a shell.
func EditorCommand(editor, path string, line int) (*exec.Cmd, error) {
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
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = os.Stdin // not the filter of the chat's own input, which exec would have to copy
	return cmd, nil
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
