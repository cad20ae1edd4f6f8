package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
)

func newVersion(sh *app.Process) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show which build this is",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(sh.Out, "lifehub", settings.Version())
			return err
		},
	}
}
