package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/store/file"
)

func newChatsRestore(sh *process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "restore", Short: "Put the newest backup in the place of a damaged file",
		Long: "Put the newest backup that is whole in the place of the conversations, or an empty file where there is none.\n" +
			"The file of now is kept beside it and never touched again. Backups are made once a day when the chat starts.",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := settings.FindPaths(sh.getenv)
			if err != nil {
				return err
			}
			return restoreChats(cmd.Context(), sh, p.Database(), yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return cmd
}

func restoreChats(ctx context.Context, sh *process, path string, yes bool) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("restore the conversations: %w", err)
	}
	from := file.NewestBackup(ctx, path)
	question := "There is no backup that is whole. Begin with no conversations?"
	if from != nil {
		question = fmt.Sprintf("Take the backup of %s? What was said since is then only in the file set aside.", from.Time.Local().Format("2006-01-02 15:04"))
	}
	if !yes {
		if !term.IsTerminal(sh.in.Fd()) {
			return settings.UsageError{Err: errors.New("nobody can be asked whether to restore: say --yes")}
		}
		if !agrees(sh, question) {
			return exitError{errors.New("nothing was changed"), exitFailed}
		}
	}
	aside, err := file.Restore(path, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.err, "the file of before is kept as %s\n", aside)
	return nil
}

// openStore opens the conversations. Damaged ones are offered to be restored,
// where somebody can be asked.
func openStore(ctx context.Context, sh *process, path string) (*store.Store, error) {
	s, err := store.Open(path)
	var damaged *file.DamagedError
	if !errors.As(err, &damaged) || !term.IsTerminal(sh.in.Fd()) || !term.IsTerminal(sh.err.Fd()) {
		return s, err
	}
	fmt.Fprintln(sh.err, "lifehub:", err)
	if err := restoreChats(ctx, sh, path, false); err != nil {
		return nil, err
	}
	return store.Open(path)
}
