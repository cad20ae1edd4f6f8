package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"lifehub/store"

	"lifehub/cli/settings"
	"lifehub/internal/files"

	"github.com/charmbracelet/x/term"
)

// Exit codes, documented and stable.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitRefused     = 3 // a tool needed permission and no user could be asked
	ExitUnreachable = 4 // no model server was reachable, and offline mode was refused
	ExitNothing     = 5 // what was looked for by words or by name was not found
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// NothingFound returns the error of a command that has found nothing, whose exit code says so; nil otherwise.
func NothingFound(nothing bool) error {
	if nothing {
		return ExitError{Code: ExitNothing}
	}
	return nil
}

func RestoreChats(ctx context.Context, sh *Process, path string, yes bool) error {
	from := store.NewestBackup(ctx, path)
	if _, err := os.Stat(path); err != nil && from == nil {
		return fmt.Errorf("restore the conversations: %w", err)
	}
	question := "No intact backup. Start without conversations?"
	if from != nil {
		question = fmt.Sprintf("Restore the backup of %s? Anything newer is then only in the file set aside.",
			from.Time.Local().Format("2006-01-02 15:04"))
	}
	if err := Confirm(ctx, sh, question, "restore", yes); err != nil {
		return err
	}
	aside, err := store.Restore(path, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.Err, "the previous file is saved as %s\n", aside)
	return nil
}

// Confirm asks on the terminal before an irreversible action, unless --yes was given.
func Confirm(ctx context.Context, sh *Process, question, what string, yes bool) error {
	switch {
	case yes:
		return nil
	case !term.IsTerminal(sh.In.Fd()):
		return settings.UsageError{Err: fmt.Errorf("cannot ask whether to %s: pass --yes", what)}
	case !Agrees(ctx, sh, question):
		return ExitError{Err: errors.New("nothing was changed"), Code: ExitFailed}
	}
	return nil
}

// Agrees asks a question on the terminal and reports whether the answer was y or yes.
func Agrees(ctx context.Context, sh *Process, question string) bool {
	fmt.Fprintf(sh.Err, "%s [y/N] ", question)
	line, err := files.Await(ctx, func() (string, error) { return bufio.NewReader(sh.In).ReadString('\n') })
	if err != nil { // EOF means no, and leaves the cursor behind the question
		fmt.Fprintln(sh.Err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// ExitError ends LifeHub with an exit code and, if it wraps an error, prints that error.
type ExitError struct {
	Err  error
	Code int
}

func (e ExitError) Unwrap() error { return e.Err }

// Error returns "" if e wraps no error.
func (e ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}
