package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/mcpserve"
	"lifehub/cli/settings"
)

func newCheck(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check the quotations of a text against the notes it cites",
		Long: "Check the quotations of a Markdown text against the notes that it names, such as [running/plan.md:12].\n" +
			"Quotations of four words or more without a source are searched for in all notes. FILE may be - for " +
			"standard\n" +
			"input. The exit code is 5 if a quotation is not found, or if there is none.",
		Example: "  lifehub check report.md\n" +
			"  lifehub check report.md --json | jq '.verdicts[] | select(.verdict == \"not_found\")'",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			return checkFile(cmd.Context(), sh, flags, given[0], asJSON)
		},
	}
	app.RegisterNotes(&flags, cmd)
	app.AddJSON(cmd, &asJSON, "print one JSON object")
	return cmd
}

func checkFile(ctx context.Context, sh *app.Process, flags app.RunFlags, name string, asJSON bool) error {
	var text string
	var err error
	if name == "-" {
		text, err = sh.ReadInput(ctx, false, sh.Err)
	} else {
		text, err = app.ReadAttached(ctx, name)
	}
	if err != nil {
		return err
	}
	flags.NoSave = true
	a, err := app.Open(ctx, sh, flags)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.Begin(sh, "checking"); err != nil {
		return err
	}
	if err := a.Ready(ctx, "", app.NewBar(sh)); err != nil {
		return err
	}
	checked, err := mcpserve.Check(ctx, a, text)
	nothing := errors.Is(err, mcpserve.ErrNothing)
	if nothing {
		checked.Verdicts, err = []mcpserve.Verdict{}, nil
		fmt.Fprintln(sh.Err, mcpserve.ErrNothing)
	}
	if err != nil {
		return settings.UsageError{Err: err}
	}
	missing := app.NothingFound(nothing || slices.ContainsFunc(checked.Verdicts,
		func(v mcpserve.Verdict) bool { return v.Verdict == agent.NotFound }))
	if asJSON {
		return cmp.Or(app.PrintJSON(sh, "verdicts", checked), missing)
	}
	var out strings.Builder
	for _, v := range checked.Verdicts {
		c := agent.Citation{
			Verdict: v.Verdict, Words: v.Text, Path: v.Path, Line: v.Line, EndLine: v.EndLine,
			Context: v.Context, Detail: v.Detail,
		}
		line := app.CitationLine(c)
		if v.Detail != "" && !strings.Contains(line, v.Detail) {
			line += "; " + v.Detail
		}
		out.WriteString(line + "\n")
	}
	return cmp.Or(app.PrintText(sh, "verdicts", out.String()), missing)
}
