package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/doctor"
	"lifehub/tui/safetext"
)

func newDoctor(sh *app.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what works, and say how to mend what does not",
		Long:  "Check settings, conversations, model server, models, notes, index, MCP servers, terminal and file permissions.\nThe exit code is 1 when something needs mending.",
		Args:  app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := doctor.Examine(cmd.Context(), sh)
			if asJSON {
				if err := json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(findings); err != nil {
					return err
				}
			} else {
				printFindings(sh, findings)
			}
			for _, f := range findings {
				if !f.OK {
					return app.ExitError{Code: app.ExitFailed}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func printFindings(sh *app.Process, findings []doctor.Finding) {
	for _, f := range findings {
		mark := "✓"
		switch {
		case !f.OK:
			mark = "✗"
		case f.Pending:
			mark = "…"
		}
		fmt.Fprintf(sh.Out, "%s %-14s %s\n", mark, f.What, safetext.Line(f.Says))
		if f.Mend != "" {
			fmt.Fprintf(sh.Out, "  %-14s → %s\n", "", safetext.Line(f.Mend))
		}
	}
}
