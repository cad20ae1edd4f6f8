package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"lifehub/store/file"

	"lifehub/cli/settings"

	"github.com/charmbracelet/x/term"
)

// The exit codes, fixed by the product.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3 // a tool needed permission and nobody could be asked
	exitUnreachable = 4 // no model server, and offline mode was refused
	exitInterrupted = 130
	exitTerminated  = 143
)

func restoreChats(ctx context.Context, sh *process, path string, yes bool) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("restore the conversations: %w", err)
	}
	from := file.NewestBackup(ctx, path)
	question := "There is no backup that is whole. Begin with no conversations?"
	if from != nil {
		question = fmt.Sprintf("Take the backup of %s? What was said since is then only in the file set aside.", from.Time.Local().Format("2006-01-02 15:04"))
	}
	if !yes {
		if !term.IsTerminal(sh.in.Fd()) {
			return settings.UsageError{Err: errors.New("nobody can be asked whether to restore: say --yes")}
		}
		if !agrees(sh, question) {
			return exitError{Err: errors.New("nothing was changed"), code: exitFailed}
		}
	}
	aside, err := file.Restore(path, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.err, "the file of before is kept as %s\n", aside)
	return nil
}

// agrees asks a question on the terminal; only y and yes agree.
func agrees(sh *process, question string) bool {
	fmt.Fprintf(sh.err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(sh.in).ReadString('\n') // an end of input is no yes
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// exitError ends LifeHub with a code and, when it wraps an error, its text.
type exitError struct {
	Err  error
	code int
}

func (e exitError) Unwrap() error { return e.Err }

// Error is empty for an exit without words.
func (e exitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}
