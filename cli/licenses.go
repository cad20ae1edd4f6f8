package cli

import (
	"github.com/spf13/cobra"

	"lifehub/cli/app"
)

func newLicenses(sh *app.Process) *cobra.Command {
	return &cobra.Command{
		Use: "licenses", Short: "Print the licences of everything that LifeHub is built on",
		RunE: func(*cobra.Command, []string) error { return app.PrintText(sh, "licences", sh.Licences) },
	}
}
