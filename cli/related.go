package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

func newRelated(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "related NOTE",
		Short: "Find notes related to a note, and why",
		Long: "Find notes related to a note, which is named by path, file name or title: links in both directions, " +
			"shared\n" +
			"tags, mentions without a link, and the notes nearest in meaning.",
		Example: "  lifehub related running/plan.md\n  lifehub related \"Sourdough\" -n 3 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			a, err := openIndexed(cmd.Context(), sh, flags, "")
			if err != nil {
				return err
			}
			defer a.Close()
			r, err := a.Related(cmd.Context(), given[0], limit)
			if errors.Is(err, fs.ErrNotExist) {
				return app.ExitError{Err: err, Code: app.ExitNothing}
			}
			if err != nil {
				return err
			}
			none := app.NothingFound(len(r.Notes) == 0)
			if asJSON {
				return cmp.Or(app.PrintJSON(sh, "notes", r), none)
			}
			width, wraps := app.Columns(sh.Out)
			var out strings.Builder
			add := func(head, text string) {
				lines := []string{head + text} // one line, for other programs
				if wraps {
					lines = draw.Hang(head, text, width)
				}
				out.WriteString(strings.Join(lines, "\n") + "\n")
			}
			for _, n := range r.Notes {
				add(fmt.Sprintf("%.2f  ", n.Score), safetext.Line(n.Path)+"  "+safetext.Line(n.Title))
				add("      ", safetext.Line(n.Reasons()))
			}
			head := safetext.Line(app.RelatedHead(r) + " " + r.Path)
			if width, wraps := app.Columns(sh.Err); wraps {
				head = strings.Join(draw.Wrap(head, width), "\n")
			}
			fmt.Fprintln(sh.Err, head)
			return cmp.Or(app.PrintText(sh, "notes", out.String()), none)
		},
	}
	app.RegisterNotes(&flags, cmd)
	app.AddNumber(cmd, &limit, 10, 1, "notes", "how many notes")
	app.AddJSON(cmd, &asJSON, "print one JSON object")
	return cmd
}
