package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

// printJSON prints a value for another program; what names it in an error.
func printJSON(sh *app.Process, what string, value any) error {
	if err := json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(value); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// printText prints a text whose untrusted parts went through safetext.
func printText(sh *app.Process, what, text string) error {
	if _, err := io.WriteString(sh.Out, text); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// printList prints a list as a JSON array, or with a line for each. Where it is
// empty, none says on stderr how to go on.
func printList[T any](sh *app.Process, asJSON bool, what, none string, list []T, line func(T) string) error {
	if asJSON {
		return printJSON(sh, what, append([]T{}, list...))
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.Err, none)
	}
	var text strings.Builder
	for _, item := range list {
		text.WriteString(line(item) + "\n")
	}
	return printText(sh, what, text.String())
}

// addNumber gives a command the flag -n, with its usual and its least value.
func addNumber(cmd *cobra.Command, n *int, usual, least int, of, usage string) {
	cmd.Flags().IntVarP(n, "number", "n", usual, usage)
	checkFirst(cmd, func() error {
		if *n < least {
			return settings.UsageError{Err: fmt.Errorf("-n: %d is not a valid number of %s", *n, of)}
		}
		return nil
	})
}

// checkFirst checks the flags of a command before it opens anything.
func checkFirst(cmd *cobra.Command, check func() error) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if err := check(); err != nil {
			return err
		}
		return run(cmd, given)
	}
}

// addJSON gives a command the flag --json.
func addJSON(cmd *cobra.Command, asJSON *bool, usage string) {
	cmd.Flags().BoolVar(asJSON, "json", false, usage)
}

// shownTime is the form of a moment in lists.
const shownTime = "2006-01-02 15:04"
