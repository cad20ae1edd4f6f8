package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/chatcmd"
	"lifehub/tui/safetext"
)

func newDoctor(sh *app.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup, and say how to fix problems",
		Long: "Check settings, conversations, model server, models, notes, index, MCP servers, terminal and file " +
			"permissions.\n" +
			"The exit code is 1 when something needs fixing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var findings []chatcmd.Finding
			for f := range chatcmd.Examine(cmd.Context(), sh) {
				findings = append(findings, f)
				if asJSON {
					continue
				}
				if err := app.PrintText(sh, "findings", findingLine(f)+"\n"); err != nil {
					return err
				}
			}
			if asJSON {
				if err := app.PrintJSON(sh, "findings", findings); err != nil {
					return err
				}
			}
			if slices.ContainsFunc(findings, func(f chatcmd.Finding) bool { return !f.OK }) {
				return app.ExitError{Code: app.ExitFailed}
			}
			return nil
		},
	}
	app.AddJSON(cmd, &asJSON, "print a JSON array")
	return cmd
}

func findingLine(f chatcmd.Finding) string {
	mark := "✓"
	switch {
	case !f.OK:
		mark = "✗"
	case f.Pending:
		mark = "…"
	case f.Fix != "": // it works partly
		mark = "!"
	}
	line := fmt.Sprintf("%s %-14s %s", mark, f.What, safetext.Line(f.Detail))
	if f.Fix != "" {
		line += fmt.Sprintf("\n  %-14s → %s", "", safetext.Line(f.Fix))
	}
	if f.Cause != "" {
		line += fmt.Sprintf("\n  %-14s   (%s)", "", safetext.Line(f.Cause))
	}
	return line
}
