package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/redact"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

func newMemory(sh *app.Process) *cobra.Command {
	var listJSON, searchJSON bool
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "List what is remembered about you, with the file that holds it",
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withFacts(cmd.Context(), sh, func(a *app.App) error { return listFacts(cmd.Context(), sh, a, "", listJSON) })
		},
	}
	list.Flags().BoolVar(&listJSON, "json", false, "print a JSON array")
	search := &cobra.Command{
		Use: "search QUERY…", Short: "Find facts, and what was said in earlier conversations",
		Args: app.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withMemory(cmd.Context(), sh, app.RunFlags{}, func(a *app.App) error {
				return printMemory(cmd.Context(), sh, a, strings.Join(given, " "), limit, searchJSON)
			})
		},
	}
	search.Flags().BoolVar(&searchJSON, "json", false, "print one JSON object")
	search.Flags().IntVarP(&limit, "number", "n", 5, "how many exchanges")
	return app.Group("memory", "What LifeHub remembers about you and of earlier conversations", list, search,
		&cobra.Command{
			Use: "add TEXT", Short: "Remember a fact about you",
			Example: "  lifehub memory add \"my cat is called Whiskers\"",
			Args:    app.Args(cobra.MinimumNArgs(1)),
			RunE: func(cmd *cobra.Command, given []string) error {
				return withFacts(cmd.Context(), sh, func(a *app.App) error {
					diff, err := a.Facts().Remember(strings.Join(given, " "), time.Now())
					return showDiff(sh, diff, err)
				})
			},
		},
		&cobra.Command{
			Use: "forget TEXT", Short: "Forget a fact, named by words that only it holds",
			Args: app.Args(cobra.MinimumNArgs(1)),
			RunE: func(cmd *cobra.Command, given []string) error {
				return withFacts(cmd.Context(), sh, func(a *app.App) error {
					diff, err := a.Facts().Forget(strings.Join(given, " "))
					return showDiff(sh, diff, err)
				})
			},
		},
		&cobra.Command{
			Use: "edit", Short: "Open the file of facts in your editor",
			Args: app.Args(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return withFacts(cmd.Context(), sh, func(a *app.App) error { return editFacts(cmd.Context(), sh, a) })
			},
		},
	)
}

// withFacts opens LifeHub for a command that works on facts alone: they are
// lines of a file, and no conversation has to be open for them.
func withFacts(ctx context.Context, sh *app.Process, do func(*app.App) error) error {
	return withMemory(ctx, sh, app.RunFlags{NoSave: true}, do)
}

// withMemory opens LifeHub for a command that only looks into its memory.
func withMemory(ctx context.Context, sh *app.Process, flags app.RunFlags, do func(*app.App) error) error {
	a, err := app.Open(ctx, sh, flags)
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

func listFacts(ctx context.Context, sh *app.Process, a *app.App, query string, asJSON bool) error {
	facts, err := a.FindFacts(ctx, query)
	if err != nil {
		return err
	}
	if asJSON {
		if facts == nil {
			facts = []agent.Fact{}
		}
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(facts)
	}
	printFacts(sh, facts)
	if len(facts) == 0 {
		fmt.Fprintln(sh.Err, "nothing is remembered about you; `lifehub memory add TEXT` or /remember in the chat adds to it")
	}
	return nil
}

func printFacts(sh *app.Process, facts []agent.Fact) {
	for _, f := range facts {
		fmt.Fprintf(sh.Out, "%s:%d  %s", safetext.Line(f.Path), f.Line, safetext.Line(f.Text))
		if from := f.Provenance(); from != "" {
			fmt.Fprintf(sh.Out, "  (%s)", safetext.Line(from))
		}
		fmt.Fprintln(sh.Out)
	}
}

func printMemory(ctx context.Context, sh *app.Process, a *app.App, query string, limit int, asJSON bool) error {
	if limit < 1 {
		return settings.UsageError{Err: fmt.Errorf("-n: %d is not a number of exchanges", limit)}
	}
	found, err := a.SearchMemory(ctx, query, limit)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(found)
	}
	printFacts(sh, found.Facts)
	for _, r := range found.Exchanges {
		fmt.Fprintf(sh.Out, "%s  %s  %s\n", shortID(r.Conversation), r.Asked.Local().Format("2006-01-02 15:04"), safetext.Line(r.Title))
		fmt.Fprintf(sh.Out, "%s\n%s\n\n", indent(safetext.Text(app.Excerpt(r.Question)), "  > "), indent(safetext.Text(app.Excerpt(r.Answer)), "    "))
	}
	if len(found.Facts)+len(found.Exchanges) == 0 {
		fmt.Fprintln(sh.Err, "nothing like that is remembered")
	}
	return nil
}

// showDiff prints what was changed.
func showDiff(sh *app.Process, diff string, err error) error {
	if err != nil {
		return settings.UsageError{Err: err}
	}
	_, err = fmt.Fprint(sh.Out, safetext.Text(diff))
	return err
}

func editFacts(ctx context.Context, sh *app.Process, a *app.App) error {
	argv := strings.Fields(a.Settings.Editor)
	if len(argv) == 0 {
		return settings.UsageError{Err: errors.New("there is no editor: set EDITOR, or `editor` in the settings")}
	}
	facts := a.Facts()
	if err := facts.Begin(); err != nil {
		return err
	}
	folder, err := facts.Folder()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], filepath.Join(folder.Dir(), filepath.FromSlash(facts.Path)))...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = sh.In, sh.Out, sh.Err, redact.WithoutOwnSecrets(sh.Environ())
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("edit what is remembered: %w", err)
	}
	return nil
}
