package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/tui/safetext"
)

func newContradictions(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "contradictions [WORDS…]",
		Short: "Find notes that state different values for the same thing",
		Long: "Find passages about the same thing that state different numbers, dates, or yes and no: properties, " +
			"\"key: value\"\n" +
			"and cells of tables, below the same title and headings. Only those with all of the words are compared. " +
			"Each is\n" +
			"quoted, the newest first. No model is asked, and nothing is changed.",
		Example: "  lifehub contradictions boiler\n" +
			"  lifehub contradictions --json | jq -r '.[] | \"\\(.subject): \\(.key)\"'",
		RunE: onFolders(sh, &flags, "comparing", func(ctx context.Context, a *app.App, words []string) error {
			about := strings.Join(words, " ")
			found, compared, err := tools.Contradictions(gate.Hiding(ctx, a.Rules.List(), nil), a.Folders,
				about)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(sh, "contradictions", found)
			}
			return app.PrintText(sh, "contradictions", safetext.Text(tools.ContradictionsText(about, found, compared))+
				"\n")
		}),
	}
	app.RegisterNotes(&flags, cmd)
	app.AddJSON(cmd, &asJSON, "print a JSON array")
	return cmd
}
