package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

// memoryCommand is `lifehub memory` and its flags.
type memoryCommand struct {
	Process *app.Process
	limit   int
	asJSON  bool
}

func newMemory(sh *app.Process) *cobra.Command {
	c := &memoryCommand{Process: sh}
	list := &cobra.Command{
		Use: "list", Short: "List facts about you, and the file they are in",
		RunE: c.onFacts(c.list),
	}
	app.AddJSON(list, &c.asJSON, "print a JSON array")
	search := &cobra.Command{
		Use: "search QUERY…", Short: "Search facts and earlier conversations",
		RunE: withApp(sh, app.RunFlags{}, c.search),
	}
	app.AddJSON(search, &c.asJSON, "print one JSON object")
	app.AddNumber(search, &c.limit, 5, 1, "exchanges", "how many exchanges")
	return app.Group("memory", "Manage what LifeHub remembers", list, search,
		&cobra.Command{
			Use: "add TEXT…", Short: "Remember a fact about you",
			Example: "  lifehub memory add \"my cat is called Whiskers\"",
			RunE: c.onFacts(func(_ context.Context, a *app.App, given []string) error {
				diff, err := a.Facts().Remember(strings.Join(given, " "), time.Now())
				return c.showDiff(diff, err)
			}),
		},
		&cobra.Command{
			Use: "forget TEXT…", Short: "Forget a fact, by words that match only it",
			RunE: c.onFacts(func(_ context.Context, a *app.App, given []string) error {
				diff, err := a.Facts().Forget(strings.Join(given, " "))
				return c.showDiff(diff, err)
			}),
		},
		&cobra.Command{Use: "edit", Short: "Edit the facts in your editor", RunE: c.onFacts(c.edit)},
	)
}

// onFacts opens only the notes, for commands on facts, which are lines of a note.
func (c *memoryCommand) onFacts(do func(context.Context, *app.App,
	[]string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		a, err := app.OpenNotes(c.Process, app.RunFlags{NoIndex: true})
		if err != nil {
			return err
		}
		defer a.Close()
		c.Process.Notice(a.Unread()...)
		return do(cmd.Context(), a, given)
	}
}

// withApp opens an app for a command and closes it afterwards.
func withApp(sh *app.Process, flags app.RunFlags, do func(context.Context, *app.App,
	[]string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		a, err := app.Open(cmd.Context(), sh, flags)
		if err != nil {
			return err
		}
		defer a.Close()
		return do(cmd.Context(), a, given)
	}
}

// onFolders opens the folders of notes for a command, as [app.OpenFolders] does, and closes them afterwards.
func onFolders(sh *app.Process, flags *app.RunFlags, doing string, do func(context.Context, *app.App,
	[]string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		a, err := app.OpenFolders(sh, *flags, doing)
		if err != nil {
			return err
		}
		defer a.Close()
		return do(cmd.Context(), a, given)
	}
}

func (c *memoryCommand) list(ctx context.Context, a *app.App, _ []string) error {
	facts, err := a.FindFacts(ctx, "")
	if err != nil {
		return err
	}
	return app.PrintList(c.Process, c.asJSON, "facts", "no facts about you yet; `lifehub memory add TEXT`, or "+
		"/remember in the chat, adds one", facts, factLine)
}

func factLine(f agent.Fact) string {
	line := fmt.Sprintf("%s:%d  %s", safetext.Line(f.Path), f.Line, safetext.Line(f.Text))
	if from := f.Provenance(); from != "" {
		line += "  (" + safetext.Line(from) + ")"
	}
	return line
}

func (c *memoryCommand) search(ctx context.Context, a *app.App, query []string) error {
	found, err := a.SearchMemory(ctx, strings.Join(query, " "), c.limit)
	if err != nil {
		return err
	}
	none := app.NothingFound(len(found.Facts)+len(found.Exchanges) == 0)
	if c.asJSON {
		lists := struct {
			Facts     []agent.Fact         `json:"facts"`
			Exchanges []agent.Recollection `json:"exchanges"`
		}{append([]agent.Fact{}, found.Facts...), append([]agent.Recollection{}, found.Exchanges...)}
		return cmp.Or(app.PrintJSON(c.Process, "memory", lists), none)
	}
	var text strings.Builder
	for _, f := range found.Facts {
		text.WriteString(factLine(f) + "\n")
	}
	for _, r := range found.Exchanges {
		fmt.Fprintf(&text, "%s  %s  %s\n", shortID(r.Conversation),
			r.Asked.Local().Format(app.ShownTime), safetext.Line(r.Title))
		fmt.Fprintf(&text, "%s\n%s\n\n", indent(safetext.Text(app.Excerpt(r.Question)), "  > "),
			indent(safetext.Text(app.Excerpt(r.Answer)), "    "))
	}
	if text.Len() == 0 {
		fmt.Fprintln(c.Process.Err, "nothing found in memory")
	}
	return cmp.Or(app.PrintText(c.Process, "memory", text.String()), none)
}

// showDiff prints a change of the facts.
func (c *memoryCommand) showDiff(diff string, err error) error {
	if err != nil {
		return settings.UsageError{Err: err}
	}
	return app.PrintText(c.Process, "change", safetext.Text(diff))
}

func (c *memoryCommand) edit(_ context.Context, a *app.App, _ []string) error {
	facts := a.Facts()
	if err := facts.Begin(); err != nil {
		return err
	}
	folder, err := a.FactsFolder()
	if err != nil {
		return err
	}
	if err := runEditor(c.Process, a.Settings.Editor, filepath.Join(folder.Dir(),
		filepath.FromSlash(facts.Path))); err != nil {
		return fmt.Errorf("edit the facts: %w", err)
	}
	return nil
}
