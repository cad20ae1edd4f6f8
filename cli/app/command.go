package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// PrintJSON prints a value as JSON, with known secrets redacted. Errors call the value what.
func PrintJSON(sh *Process, what string, value any) error {
	var text bytes.Buffer
	err := json.NewEncoder(safetext.JSONWriter{To: &text}).Encode(value)
	if err == nil {
		_, err = io.WriteString(sh.Out, SecretsOf(sh).Known(text.String()))
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// PrintText prints text with known secrets redacted. Untrusted parts must have passed through
// safetext.
func PrintText(sh *Process, what, text string) error {
	if _, err := io.WriteString(sh.Out, SecretsOf(sh).Known(text)); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// PrintList prints a list as a JSON array or one line per item. If a plain list is empty, it prints
// none on stderr.
func PrintList[T any](sh *Process, asJSON bool, what, none string, list []T, line func(T) string) error {
	if asJSON {
		return PrintJSON(sh, what, append([]T{}, list...))
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.Err, none)
	}
	var text strings.Builder
	for _, item := range list {
		text.WriteString(line(item) + "\n")
	}
	return PrintText(sh, what, text.String())
}

// AddNumber adds the flag -n with a default and a minimum.
func AddNumber(cmd *cobra.Command, n *int, usual, least int, of, usage string) {
	cmd.Flags().IntVarP(n, "number", "n", usual, usage)
	CheckFirst(cmd, func() error {
		if *n < least {
			return settings.UsageError{Err: fmt.Errorf("-n: %d is not a valid number of %s", *n, of)}
		}
		return nil
	})
}

// CheckFirst runs check on the command's flags before the command opens anything.
func CheckFirst(cmd *cobra.Command, check func() error) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if err := check(); err != nil {
			return err
		}
		return run(cmd, given)
	}
}

// AddJSON adds the flag --json.
func AddJSON(cmd *cobra.Command, asJSON *bool, usage string) {
	cmd.Flags().BoolVar(asJSON, "json", false, usage)
}

// ShownTime is the time format of lists.
const ShownTime = "2006-01-02 15:04"

// WithStore runs a command with the conversations open and closes them afterwards.
func WithStore(sh *Process, do func(context.Context, *store.Store,
	[]string) error,
) func(*cobra.Command, []string) error {
	return with(sh, store.Open, do)
}

// ReadingStore is like WithStore for a command that only reads; it works on a read-only file
// system.
func ReadingStore(sh *Process, do func(context.Context, *store.Store,
	[]string) error,
) func(*cobra.Command, []string) error {
	return with(sh, store.OpenToRead, do)
}

func with(
	sh *Process, open func(path string) (*store.Store, error),
	do func(context.Context, *store.Store, []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		p, err := settings.FindPaths(sh.Getenv)
		if err != nil {
			return err
		}
		s, err := open(p.Database())
		if err != nil {
			return err
		}
		defer s.Close()
		sh.Notice(s.Warning(), UnreadServers(p))
		return do(cmd.Context(), s, given)
	}
}
