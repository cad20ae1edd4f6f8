package cli

import (
	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
)

func newChatsRestore(sh *app.Process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "restore", Short: "Put the newest backup in the place of a damaged file",
		Long: "Put the newest backup that is whole in the place of the conversations, or an empty file where there is none.\n" +
			"The file of now is kept beside it and never touched again. Backups are made once a day when the chat starts.",
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := settings.FindPaths(sh.Getenv)
			if err != nil {
				return err
			}
			return app.RestoreChats(cmd.Context(), sh, p.Database(), yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return cmd
}
