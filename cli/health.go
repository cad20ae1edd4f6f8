package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/internal/when"
	"lifehub/tui/safetext"
)

func newHealth(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "List what in your notes may need repair",
		Long: "List dead links with the nearest note, notes of the same title, copies of sync programs, tasks " +
			"overdue for more\n" +
			"than a month, notes without links, and files that cannot be read. Nothing is changed, and no model is asked.",
		Example: "  lifehub health\n" +
			"  lifehub health --json | jq -r '.[] | select(.kind == \"dead_link\") | \"\\(.path):\\(.line)\"'",
		Args: cobra.NoArgs,
		RunE: onFolders(sh, &flags, "listing", func(ctx context.Context, a *app.App, _ []string) error {
			found, err := tools.Health(gate.Hiding(ctx, a.Rules.List(), nil),
				a.Folders, when.DayOf(time.Now()))
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(sh, "findings", found)
			}
			return app.PrintText(sh, "findings", safetext.Text(app.FindingsText(found, "%s\n", "  %s  %s\n",
				strings.TrimSpace, strings.TrimSpace)))
		}),
	}
	app.RegisterNotes(&flags, cmd)
	app.AddJSON(cmd, &asJSON, "print a JSON array")
	return cmd
}
