package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

func newConfigTrust(sh *app.Process) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Review the instructions and skills in a notes folder, and trust them",
		Long: "A notes folder may contain instructions for the model, in .lifehub/instructions.md, and skills, in\n" +
			".agents/skills, which tell it how to do something. Both have no effect until you trust them here, and can\n" +
			"allow nothing. Instructions that you trusted stay in force until you review them again; skills are used as\n" +
			"long as they are as you trusted them. Settings and rules are never read from a folder.\n\n" +
			"Without DIR, list the folders you trust.",
		Example: "  lifehub config trust ~/notes\n  lifehub config trust --revoke ~/notes",
		RunE: func(cmd *cobra.Command, given []string) error {
			p, err := settings.FindPaths(sh.Getenv)
			if err != nil {
				return err
			}
			known, err := p.ReadTrusted()
			switch {
			case err != nil:
				return err
			case len(given) == 0 && revoke:
				return settings.UsageError{Err: fmt.Errorf("no folder given: lifehub config trust --revoke DIR")}
			case len(given) == 0:
				dirs := slices.Sorted(maps.Keys(known))
				return app.PrintList(sh, false, "folders", "no folder is trusted", dirs, func(dir string) string {
					return safetext.Line(dir) + ": " + strings.Join(slices.Sorted(maps.Keys(known[dir])), ", ")
				})
			case revoke:
				err = revokeFolder(sh, known, given[0])
			default:
				err = trustFolder(cmd.Context(), sh, known, given[0], yes)
			}
			if err != nil {
				return err
			}
			return p.WriteTrusted(known)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "trust without asking")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "no longer trust the folder")
	return cmd
}

// trustFolder shows the instructions and skills of a folder and, if the user agrees, adds them to
// known.
func trustFolder(ctx context.Context, sh *app.Process, known settings.Trusted, name string, yes bool) error {
	dir, err := settings.VaultDir(name)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	files, texts, err := settings.Review(dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return settings.UsageError{Err: fmt.Errorf("%s has neither %s nor %s", dir,
			settings.InstructionsName, settings.SkillsFolder)}
	}
	showReviewed(sh, dir, texts)
	if err := agree(ctx, sh, "Trust these instructions and skills?", yes); err != nil {
		return err
	}
	known[dir] = files
	fmt.Fprintf(sh.Out, "trusted %s\n", safetext.Line(dir))
	return nil
}

func revokeFolder(sh *app.Process, known settings.Trusted, name string) error {
	dir, err := settings.VaultDir(name)
	if err != nil { // the folder may be gone; its name is enough
		if dir, err = filepath.Abs(name); err != nil {
			return settings.UsageError{Err: err}
		}
	}
	if _, ok := known[dir]; !ok {
		return settings.UsageError{Err: fmt.Errorf("%s is not trusted", dir)}
	}
	delete(known, dir)
	fmt.Fprintf(sh.Out, "%s is no longer trusted\n", safetext.Line(dir))
	return nil
}

// showReviewed prints everything that a folder's instructions and skills would add to a prompt.
func showReviewed(sh *app.Process, dir string, texts map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := strings.TrimRight(string(texts[name]), "\n")
		if !utf8.ValidString(text) {
			text = fmt.Sprintf("(%d bytes, not text)", len(text))
		}
		fmt.Fprintf(sh.Out, "%s:\n%s\n\n", safetext.Line(filepath.Join(dir, name)), safetext.Reveal(text))
	}
}
