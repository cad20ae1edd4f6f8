package cli

import (
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/tui"
)

// runEditor opens a file in the user's editor, given as a command line, and waits until the editor
// exits.
func runEditor(sh *app.Process, editor, path string) error {
	cmd, err := tui.EditorCommand(editor, path, 0)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = sh.In, sh.Out, sh.Err, settings.WithoutOwnSecrets(sh.Environ())
	return cmd.Run()
}
