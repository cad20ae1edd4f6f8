package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/rag"
	"lifehub/tui/safetext"
)

func newTasks(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var status string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tasks [WORDS…]",
		Short: "List the tasks in your notes",
		Long:  "List the tasks in your notes, those with all of the words. No model is asked.",
		Example: "  lifehub tasks\n  lifehub tasks garden --status due\n" +
			"  lifehub tasks --status overdue --json | jq -r '.[].text'",
		RunE: onFolders(sh, &flags, "listing", func(ctx context.Context, a *app.App, given []string) error {
			if !slices.Contains(tools.Statuses, status) {
				return settings.UsageError{Err: fmt.Errorf("--status: %q is none of %s", status,
					strings.Join(tools.Statuses, ", "))}
			}
			query, err := rag.ParseQuery(strings.Join(given, " "))
			if err != nil {
				return settings.UsageError{Err: err}
			}
			inWords, found, unread, err := tools.Tasks(gate.Hiding(ctx, a.Rules.List(), nil),
				a.Folders, status, query)
			if err != nil {
				return err
			}
			if unread != "" {
				fmt.Fprintln(sh.Err, safetext.Line(unread))
			}
			none := app.NothingFound(len(found) == 0)
			if asJSON {
				return cmp.Or(app.PrintJSON(sh, "tasks", found), none)
			}
			return cmp.Or(app.PrintText(sh, "tasks", safetext.Text(inWords)+"\n"), none)
		}),
	}
	app.RegisterNotes(&flags, cmd)
	cmd.Flags().StringVar(&status, "status", "open", "open, due (within a week, or overdue), overdue, done or all")
	app.AddJSON(cmd, &asJSON, "print a JSON array")
	return cmd
}
